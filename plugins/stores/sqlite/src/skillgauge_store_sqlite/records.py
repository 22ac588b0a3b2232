"""Values as the JSON that is stored, and back, also when a newer skillgauge wrote it."""

from __future__ import annotations

import zlib
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from skillgauge.api import PlanHead

from .trouble import trouble

ModelT = TypeVar("ModelT", bound=BaseModel)
Extra = Literal["ignore"] | None

LONG = 4096
"""Characters from which on a text is compressed: a page of the database, below which nothing would be gained."""
_LEVEL = 3
"""Half the time of the usual 6, for a tenth more bytes."""

KNOWN_VERSION: str = PlanHead.model_fields["schema_version"].default


def encode(value: BaseModel, *, sparse: bool = False) -> str:
    """The JSON text of a value; `sparse` leaves out what has its default."""
    # As `model_dump_json` and `model_validate_json` do it, whose many arguments take a sixth of the time.
    return value.__pydantic_serializer__.to_json(value, exclude_defaults=sparse).decode()


def packed(text: str) -> str | bytes:
    """A text as it is stored: compressed if it is long, as those are that hold what an agent did."""
    if len(text) < LONG:
        return text
    return zlib.compress(text.encode(), _LEVEL)


def decode(model: type[ModelT], stored: str | bytes, *, extra: Extra, what: str) -> ModelT:
    """The value of a JSON text that `encode` made, be it packed or not.

    Raises:
        StoreError: the text is not such a value; `what` names it.
    """
    try:
        text = zlib.decompress(stored) if isinstance(stored, bytes) else stored
        value: ModelT = model.__pydantic_validator__.validate_json(text, extra=extra)
        return value
    except (ValidationError, zlib.error) as error:
        raise trouble("store.damaged", f"{what} cannot be read: {error}") from error


def is_resumable(schema_version: str) -> bool:
    """Whether results of this program can be added to a run that was begun with this schema version."""
    stored, known = _numbers(schema_version), _numbers(KNOWN_VERSION)
    return stored[:1] == known[:1] and stored <= known


def reading(schema_version: str, run_id: str) -> Extra:
    """How to read the records of a run: fields that a newer minor version added are passed over.

    Raises:
        StoreError: the run was written in a newer major version.
    """
    stored, known = _numbers(schema_version), _numbers(KNOWN_VERSION)
    if stored[:1] > known[:1]:
        message = f"run {run_id} has schema version {schema_version}; this program reads {known[0]}.x"
        raise trouble("store.newer-run", message, "Upgrade skillgauge to read it.")
    return "ignore" if stored > known else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
