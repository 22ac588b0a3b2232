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

    def rebuilt(value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return replace_text(value)
        if kind in (bytes, bytearray):
            return replace_content(value)
        if isinstance(value, Mapping):
            pairs = [(rebuilt(key), rebuilt(item)) for key, item in value.items()]
            if any(key is not old or item is not value[old] for (key, item), old in zip(pairs, value, strict=True)):
                return FrozenDict(pairs) if isinstance(value, FrozenDict) else dict(pairs)
        elif kind in (tuple, list):
            items = [rebuilt(item) for item in value]
            if any(new is not old for new, old in zip(items, value, strict=True)):
                return kind(items)
        elif fields := getattr(kind, "model_fields", None):
            changed = changes(value, fields)
            return value.model_copy(update=changed) if changed else value
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            changed = changes(value, [field.name for field in dataclasses.fields(value)])
            return dataclasses.replace(value, **changed) if changed else value
        return value

    def changes(value: object, names: Iterable[str]) -> dict[str, Any]:
        pairs = ((name, getattr(value, name)) for name in names)
        return {name: new for name, old in pairs if (new := rebuilt(old)) is not old}

    return cast("T", rebuilt(value))
