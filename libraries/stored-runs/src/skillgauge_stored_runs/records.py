"""Values as the JSON that is stored, and back, also when a newer skillgauge wrote it."""

from __future__ import annotations

import json
import re
import zlib
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from skillgauge.api import PlanHead

from .troubles import trouble

ModelT = TypeVar("ModelT", bound=BaseModel)
Extra = Literal["ignore"] | None

LONG = 4096
"""Characters from which on a text is compressed: about a page of a database, below which nothing would be gained."""
_LEVEL = 3
"""Half the time of the usual 6, for a tenth more bytes."""
LARGEST = 128 * 1024 * 1024
"""Bytes of a text that is stored or read: a small row could stand for any number. The output streams of a trial, each
at its default limit and every character of it escaped, are shorter."""
MOST_GROUPS = 4 * 1024 * 1024
"""Lists and objects in it: each takes up to fifty times its length in memory. Twice as many as fit into the answer of a
skill at its default limit."""
_TEXTS = rb'"[^"\\]*(?:\\.[^"\\]*)*"'

KNOWN_VERSION: str = PlanHead.model_fields["schema_version"].default


def encode(value: BaseModel, *, sparse: bool = False) -> str:
    """The JSON text of a value; `sparse` leaves out what has its default."""
    # As `model_dump_json` and `model_validate_json` do it, whose many arguments take a sixth of the time.
    return value.__pydantic_serializer__.to_json(value, exclude_defaults=sparse).decode()


def packed(text: str) -> str | bytes:
    """A text as it is stored: compressed if it is long, as those are that hold what an agent did."""
    if len(text) < LONG:
        return text
    long = text.encode()
    if why := _too_large(long):
        raise trouble("store.too-large", f"a result cannot be stored, because {why}", "Let its case answer with less.")
    return zlib.compress(long, _LEVEL)


def decode(model: type[ModelT], stored: str | bytes, *, extra: Extra, subject: str, place: object = "") -> ModelT:
    """The value of a JSON text that `encode` made, be it packed or not.

    Args:
        model: what it is.
        stored: the text.
        extra: what becomes of fields that this program does not know.
        subject: names it in an error, with `{}` for its place.
        place: tells it from others.

    Raises:
        StoreError: the text is not such a value.
    """
    try:
        text = _unpacked(stored)
        value: ModelT = model.__pydantic_validator__.validate_json(text, extra=extra)
        return value
    except (ValidationError, ValueError, zlib.error) as error:
        hint = "Restore the store from a backup, or name another with --store."
        name = subject.replace("{}", str(place))
        raise trouble("store.damaged", f"{name} cannot be read: {error}", hint) from error


def signer_of(head: str | bytes) -> str:
    """The signer in the JSON of a plan's head, packed or not; empty if there is none, or if it is no such JSON."""
    try:
        stored = json.loads(_unpacked(head))
    except (ValueError, RecursionError, zlib.error):
        return ""
    signer = stored.get("signer") if isinstance(stored, dict) else None
    return signer if isinstance(signer, str) else ""


def _unpacked(stored: str | bytes) -> str | bytes:
    """The JSON text of what is stored; bytes may be the text itself.

    Raises:
        ValueError: it is cut off, or larger than anything that is stored here.
        zlib.error: it is not what zlib makes.
    """
    if isinstance(stored, str) and len(stored) < LONG:
        return stored
    if isinstance(stored, str):
        text = stored.encode()
    elif stored.startswith(b"{"):  # all that is stored are objects, and zlib begins with another byte
        text = stored
    else:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(stored, LARGEST + 1)
        if len(text) <= LARGEST and not unpacker.eof:
            raise ValueError("its compressed text is cut off")
    if why := _too_large(text):
        raise ValueError(why)
    return text


def _too_large(text: bytes) -> str:
    """Return the reason why a text is too large to be stored or read; empty if it is not."""
    if len(text) > LARGEST:
        return f"it is larger than {LARGEST // 2**20} MiB"
    if len(text) > MOST_GROUPS and _groups(text) > MOST_GROUPS and _groups(re.sub(_TEXTS, b"", text)) > MOST_GROUPS:
        return f"it has more than {MOST_GROUPS:,} lists and objects"
    return ""


def _groups(text: bytes) -> int:
    return text.count(b"[") + text.count(b"{")


def is_resumable(schema_version: str) -> bool:
    """Tell whether results of this program can be added to a run that was begun with this schema version."""
    stored, supported = _numbers(schema_version), _numbers(KNOWN_VERSION)
    return stored[:1] == supported[:1] and stored <= supported


def reading(schema_version: str, run_id: str) -> Extra:
    """Return the reader of a run's records: fields that a newer minor version added are skipped.

    Raises:
        StoreError: the run was written in a newer major version.
    """
    stored, supported = _numbers(schema_version), _numbers(KNOWN_VERSION)
    if stored[:1] > supported[:1]:
        message = f"run {run_id} has schema version {schema_version}; this program reads {supported[0]}.x"
        raise trouble("store.newer-run", message, "Upgrade skillgauge to read it.")
    return "ignore" if stored > supported else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
