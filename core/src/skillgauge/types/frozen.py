"""Deeply immutable, JSON-safe values: the base of every value in the pipeline.

A value is validated and copied once, at the border. After that it can be shared between tasks, threads and
processes, used as a cache key through its digest, and written as JSON without further checks.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import CoreSchema

if TYPE_CHECKING:
    JsonValue: TypeAlias = "bool | int | float | str | tuple[JsonValue, ...] | Mapping[str, JsonValue] | None"
else:
    # pydantic would try to build a recursive schema for it, although `freeze` alone validates such fields.
    JsonValue = Any

_MAX_INT_BITS = 14_000
"""About 4,200 digits: Python itself refuses to write longer ones."""

MAX_DEPTH = 100
"""Deeper nesting is refused: no format here needs it, and recursion must stay bounded."""


class FrozenDict(dict[str, Any]):
    """A dict that refuses changes.

    A subclass, because `json`, `==` and `isinstance` checks of scorers then treat it like any other dict.
    """

    __slots__ = ()

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("values in the pipeline are immutable; make a changed copy with dict(value)")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)

    def __hash__(self) -> int:  # type: ignore[override]  # dict is unhashable because it is mutable; this one is not
        # Of the keys: 1 and 1.0 are equal, so values must hash alike, and may be unhashable.
        return hash(frozenset(self))

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(JsonObject)


class _Frozen(FrozenDict):
    """A dict that `freeze` made: all that it holds is frozen, too, so nobody need look at it again."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return freeze, (dict(self),)


EMPTY: Mapping[str, JsonValue] = _Frozen()


def freeze(value: object, depth: int = 0) -> JsonValue:
    """Copy a JSON-like value into an immutable one; what is frozen already is not copied again.

    Raises:
        ValueError: a key is no string, a string is not valid Unicode, a number is NaN or infinite, a type is not
            JSON, or nesting exceeds `MAX_DEPTH`.
    """
    if (type(value) is str and value.isascii()) or value is None or value is True or value is False:
        return value  # most values, so they come first
    if isinstance(value, str):
        return _frozen_text(value)
    if isinstance(value, (int, float)):
        return _frozen_number(value)
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, (dict, Mapping)):  # a dict is known at once, any other mapping by asking `abc`
        if type(value) is _Frozen and depth == 0:
            return value
        return _Frozen({_frozen_key(key): freeze(item, depth + 1) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return tuple([freeze(item, depth + 1) for item in value])
    raise ValueError(f"{type(value).__name__} is not a JSON value")


def _frozen_text(value: str) -> str:
    if not value.isascii():
        _require_utf8(value)
    return value if type(value) is str else str.__str__(value)


def _frozen_number(value: float) -> float:
    if isinstance(value, int):
        if value.bit_length() > _MAX_INT_BITS:
            raise ValueError(f"an integer of {value.bit_length()} bits cannot be written as JSON")
        return int(value)
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON number")
    return float(value)


def _frozen_key(key: object) -> str:
    if isinstance(key, str):
        return key if type(key) is str and key.isascii() else _frozen_text(key)
    raise ValueError(f"key {key!r} is not a string")


def _require_utf8(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"half a surrogate pair at character {error.start} cannot be written as UTF-8") from None


def thaw(value: JsonValue) -> Any:
    """Copy an immutable value into ordinary dicts and lists, for a library that insists on them."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value


def _freeze_object(value: object) -> JsonValue:
    if not isinstance(value, (dict, Mapping)):
        raise ValueError("must be an object")
    return freeze(value)


def _as_it_is(value: object) -> Any:
    return value


Json = Annotated[JsonValue, PlainValidator(freeze), PlainSerializer(_as_it_is), WithJsonSchema({})]
"""Field type for any JSON value, deeply immutable once validated."""

JsonObject = Annotated[
    Mapping[str, JsonValue],
    PlainValidator(_freeze_object),
    PlainSerializer(_as_it_is),
    WithJsonSchema({"type": "object"}),
]
"""Field type for a JSON object, deeply immutable once validated."""


class Frozen(BaseModel):
    """Base of every value in the pipeline: immutable, strict about unknown fields, comparable by content."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        # Any bound makes pydantic look into the text, and so refuse half a surrogate pair, which JSON cannot hold.
        str_min_length=0,
        defer_build=True,  # a command uses a third of the models; each is built when it is first used
    )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some fields changed, not validated again; what the old fields gave is forgotten."""
        copy = super().model_copy(update=update, deep=deep)
        fields = type(self).model_fields
        if len(copy.__dict__) > len(fields):
            for name in copy.__dict__.keys() - fields.keys():
                del copy.__dict__[name]
        return copy

    def told(self, facts: type[Frozen]) -> dict[str, Any]:
        """The fields that this value has in common with others of a base class, to make one of those."""
        return {name: getattr(self, name) for name in facts.model_fields}


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_json(value: object) -> str:
    """The one JSON text of a value: sorted keys, no blanks, ASCII only.

    Two values are the same input exactly if their canonical texts are equal. `1` and `1.0` differ.
    """
    return _ENCODER.encode(value)


def digest(*parts: object) -> str:
    """SHA-256 (hex, first 32 digits: 128 bits) of the canonical JSON of the parts, in order."""
    return hashlib.sha256(canonical_json(parts).encode("ascii")).hexdigest()[:32]


def digest_text(text: str) -> str:
    """SHA-256 (hex, first 32 digits) of a text, for joining digests that are already canonical."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
