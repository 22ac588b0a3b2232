"""Deeply immutable, JSON-safe values: the base of every value in the pipeline.

A value is validated and copied once, at the border. After that it can be shared between tasks, threads and
processes, used as a cache key through its digest, and written as JSON without further checks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, PlainSerializer, PlainValidator, WithJsonSchema

from skillgauge_documents import EMPTY as EMPTY
from skillgauge_documents import FrozenDict as FrozenDict
from skillgauge_documents import JsonValue, freeze


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
        # A command uses a third of the models, so each is built when it is first used, but not by a constant, which
        # `model_construct` makes.
        defer_build=True,
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
        return {name: self.__dict__[name] for name in facts.__pydantic_fields__}


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False)


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
