"""Texts of a value that a pydantic model marks where it declares them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.errors import PydanticInvalidForJsonSchema

Schema = Mapping[str, Any]
SECRET: Mapping[str, str] = {"format": "password"}
"""The mark that pydantic gives a `SecretStr`."""
_JOINED = ("anyOf", "oneOf", "allOf")


def marked_texts(
    model: type[BaseModel], value: object, mark: Mapping[str, str], name: str
) -> Iterator[tuple[str, str]]:
    """Yield each marked text with its place, as in `NAME.headers.0.value`; all texts in what is marked are.

    Args:
        model: of the value. One that has no schema marks nothing.
        value: JSON. It need not be valid.
        mark: keywords of the schema, as in `Field(json_schema_extra=...)`.
        name: begins the places.
    """
    for by_alias in (True, False):
        try:
            schema = model.model_json_schema(by_alias=by_alias)
        except PydanticInvalidForJsonSchema:
            return
        yield from _Marks(mark, schema.get("$defs", {})).texts(schema, value, (name,))


def texts_with_places(value: object, place: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield each text of a value with its place, keys of mappings left out."""
    if isinstance(value, str):
        yield ".".join(place), value
    for key, item in _items(value):
        yield from texts_with_places(item, (*place, key))


class _Marks:
    """Goes through a value and its schema side by side."""

    def __init__(self, mark: Mapping[str, str], shared: Mapping[str, Schema]) -> None:
        self._mark = mark.items()
        self._shared = shared

    def texts(self, part: Schema, value: object, place: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        if self._mark <= part.items():
            yield from texts_with_places(value, place)
            return
        if reference := part.get("$ref"):
            yield from self.texts(self._shared.get(reference.rpartition("/")[2], {}), value, place)
        for alternative in (choice for keyword in _JOINED for choice in part.get(keyword, ())):
            yield from self.texts(alternative, value, place)
        for key, item in _items(value):
            below = _below(part, key, is_list=not isinstance(value, Mapping))
            if isinstance(below, Mapping):
                yield from self.texts(below, item, (*place, key))


def _below(part: Schema, key: str, *, is_list: bool) -> object:
    """Return the part of a schema for an item of a list or of a mapping."""
    if not is_list:
        return part.get("properties", {}).get(key, part.get("additionalProperties"))
    first = part.get("prefixItems", ())
    return first[int(key)] if int(key) < len(first) else part.get("items")


def _items(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        yield from ((str(key), item) for key, item in value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        yield from ((str(at), item) for at, item in enumerate(value))
