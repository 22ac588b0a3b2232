"""Texts of values: replaced, where only what holds a text that changed is made anew, and found by their places."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .values import FrozenDict

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T")
Replace = Callable[[Any], Any]
"""Makes a text of a text, or content of content; the same object if nothing changes."""
Schema = Mapping[str, Any]
_BARE = frozenset((int, float, bool, type(None)))
"""Types of values that hold no text, and of which a result has more than of all others."""
SECRET: Mapping[str, str] = {"format": "password"}
"""The mark that pydantic gives a `SecretStr`."""
_JOINED = ("anyOf", "oneOf", "allOf")


def with_texts(value: T, replace_text: Replace, replace_content: Replace) -> T:
    """The value with its texts replaced; the same object if none of them changed.

    Args:
        value: a text, bytes, or anything made of mappings (keys too), lists, tuples, pydantic models and dataclasses.
        replace_text: for each text.
        replace_content: for each `bytes` and `bytearray`.
    """
    return cast("T", _Rebuilder(replace_text, replace_content).rebuilt(value))


def texts_and_content(value: object) -> tuple[list[str], list[bytes | bytearray]]:
    """The texts and the content that `with_texts` would hand to its functions, in no order, in half of its time."""
    texts: list[str] = []
    content: list[bytes | bytearray] = []
    parts = [value]
    for part in parts:  # grows meanwhile
        kind: type = type(part)
        if kind is str:
            texts.append(cast("str", part))
        elif kind in _BARE:
            continue
        elif kind in (bytes, bytearray):
            content.append(cast("bytes | bytearray", part))
        else:
            parts.extend(_parts_of(kind)(part))
    return texts, content


class _Rebuilder:
    """Makes anew what holds a text or content that changes, and keeps the rest."""

    __slots__ = ("_replace_content", "_replace_text")

    def __init__(self, replace_text: Replace, replace_content: Replace) -> None:
        self._replace_text = replace_text
        self._replace_content = replace_content

    def rebuilt(self, value: Any) -> Any:
        kind: type = type(value)
        if kind is str:
            return self._replace_text(value)
        if kind in _BARE:
            return value
        if kind in (tuple, list):
            return self._sequence(value)
        if kind in (bytes, bytearray):
            return self._replace_content(value)
        if names := _fields(kind):
            changes = self._changes(value, names)
            return _changed(value, changes) if changes else value
        return self._mapping(value) if isinstance(value, Mapping) else value

    def _mapping(self, value: Mapping[Any, Any]) -> Mapping[Any, Any]:
        rebuilt = self.rebuilt
        pairs = [(rebuilt(key), rebuilt(item)) for key, item in value.items()]
        if all(key is old and item is value[old] for (key, item), old in zip(pairs, value, strict=True)):
            return value
        return FrozenDict(pairs) if isinstance(value, FrozenDict) else dict(pairs)

    def _sequence(self, value: Any) -> Any:
        items = list(map(self.rebuilt, value))
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return type(value)(items)

    def _changes(self, value: object, names: Iterable[str]) -> dict[str, Any]:
        changes = {}
        for name in names:
            old = getattr(value, name)
            new = self.rebuilt(old)
            if new is not old:
                changes[name] = new
        return changes


@lru_cache(maxsize=1024)
def _fields(kind: type) -> tuple[str, ...]:
    """The names of the fields of a pydantic model or a dataclass; none of anything else, nor of a mapping."""
    if issubclass(kind, Mapping):
        return ()
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    return tuple(getattr(kind, "model_fields", ()))


@lru_cache(maxsize=1024)
def _parts_of(kind: type) -> Callable[[Any], Iterable[object]]:
    """Return what gives the parts of a value of that type in which texts may be."""
    if kind in (tuple, list):
        return iter
    names = _fields(kind)
    if len(names) > 1:
        return attrgetter(*names)
    if issubclass(kind, Mapping):
        return lambda value: chain(value, value.values())
    return lambda value: [getattr(value, name) for name in names]


def _changed(value: Any, changes: Mapping[str, Any]) -> Any:
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(cast("Any", value), **changes)
    return value.model_copy(update=changes)


def marked_texts(
    model: type[BaseModel], value: object, mark: Mapping[str, str], name: str
) -> Iterator[tuple[str, str]]:
    """Yield each text that a model marks where it declares it, with its place: `NAME.headers.0`.

    All texts in a list or a mapping that is marked are.

    Args:
        model: of the value. One that has no schema marks nothing.
        value: JSON. It need not be valid.
        mark: keywords of the schema, as in `Field(json_schema_extra=...)`.
        name: begins the places.
    """
    from pydantic.errors import PydanticInvalidForJsonSchema  # noqa: PLC0415 - texts are replaced where no model is

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
