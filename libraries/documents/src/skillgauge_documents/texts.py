"""Values with other texts in them: only what holds a text that changed is made anew."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from .values import FrozenDict

T = TypeVar("T")
Replace = Callable[[Any], Any]
"""Makes a text of a text, or content of content; the same object if nothing changes."""


def with_texts(value: T, replace_text: Replace, replace_content: Replace) -> T:
    """The value with its texts replaced; the same object if none of them changed.

    Args:
        value: a text, bytes, or anything made of mappings (keys too), lists, tuples, pydantic models and dataclasses.
        replace_text: for each text.
        replace_content: for each `bytes` and `bytearray`.
    """
    return cast("T", _Rebuilder(replace_text, replace_content).rebuilt(value))


class _Rebuilder:
    """Makes anew what holds a text or content that changes, and keeps the rest."""

    __slots__ = ("_replace_content", "_replace_text")

    def __init__(self, replace_text: Replace, replace_content: Replace) -> None:
        self._replace_text = replace_text
        self._replace_content = replace_content

    def rebuilt(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self._replace_text(value)
        if kind in (bytes, bytearray):
            return self._replace_content(value)
        if isinstance(value, Mapping):
            return self._mapping(value)
        if kind in (tuple, list):
            return self._sequence(value)
        if fields := getattr(kind, "model_fields", None):
            changes = self._changes(value, fields)
            return value.model_copy(update=changes) if changes else value
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            changes = self._changes(value, [field.name for field in dataclasses.fields(value)])
            return dataclasses.replace(value, **changes) if changes else value
        return value

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
