"""The diagnosis of a document that is named like a suite and is none: place, fault, and the nearest shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..keys import KEYS, Use, near_miss
from .shapes import CHECK_KEYS, LIST_KEYS, PROMPT_KEYS, RUBRIC_KEYS

_EVALS = "an object with a list 'evals', each with 'prompt' and 'assertions'"
_QUERIES = "a list of objects with 'query' and 'should_trigger'"
_SHOWN = 6
_QUERY_WORDS = ("trigger", "fire", "activate")


@dataclass(frozen=True)
class Unknown:
    """The reason why a document is no suite."""

    message: str
    pointer: tuple[str | int, ...] = ()
    nearest: str = _EVALS

    @property
    def hint(self) -> str:
        """The next step for the author."""
        return f"The nearest shape that is read: {self.nearest}. docs/dialects.md has all of them."


def unknown_of(value: object) -> Unknown:
    """Diagnose why a document is no suite."""
    if isinstance(value, Mapping):
        return _of_object(value)
    if isinstance(value, list | tuple):
        return _of_list(value, ())
    kind = "empty" if value is None else "a text" if isinstance(value, str) else "a number or a truth value"
    return Unknown(f"this is no suite: the document is {kind}")


def _of_object(value: Mapping[Any, Any]) -> Unknown:
    lists = {str(key): one for key, one in value.items() if isinstance(one, list | tuple)}
    for key in LIST_KEYS:
        if isinstance(value.get(key), Mapping):
            return Unknown(f"{key!r} must be a list, and is an object", (key,))
        if key in lists:
            return _of_list(lists[key], (key,))
    misspelt = next((str(key) for key in value if near_miss(str(key), LIST_KEYS)), "")
    if misspelt:
        return Unknown(
            f"this is no suite: unknown key {misspelt!r} is nearly {near_miss(misspelt, LIST_KEYS)!r}", (misspelt,)
        )
    keys = _named(value)
    if any(word in str(key) for key in value for word in _QUERY_WORDS):
        return Unknown(f"this is no suite that is known: an object with {keys}", nearest=_QUERIES)
    return Unknown(f"this is no suite that is known: an object with {keys}")


def _of_list(items: Any, pointer: tuple[str | int, ...]) -> Unknown:
    if not items:
        return Unknown("this is no suite: the list is empty", pointer)
    first = next((index for index, item in enumerate(items) if isinstance(item, Mapping)), None)
    if first is None:
        kind = "a list in a list" if isinstance(items[0], list | tuple) else "a list without an object"
        return Unknown(f"this is no suite: {kind}", (*pointer, 0))
    item, at = items[first], (*pointer, first)
    nearest = _QUERIES if any(word in str(key) for key in item for word in _QUERY_WORDS) else _EVALS
    if not any(key in item for key in PROMPT_KEYS):
        return Unknown(f"an item without a prompt: it has {_named(item)}", at, nearest)
    misspelt = next(((str(key), near) for key in item if (near := near_miss(str(key), _BEARING))), None)
    if misspelt and misspelt[0] not in CHECK_KEYS:
        return Unknown(f"an item without anything to check: {misspelt[0]!r} is nearly {misspelt[1]!r}", at, nearest)
    return Unknown(f"an item without anything to check: it has {_named(item)}", at, nearest)


_BEARING = (*RUBRIC_KEYS, *(key for key, use in KEYS.items() if use is Use.CLAIMS))


def _named(value: Mapping[Any, Any]) -> str:
    keys = [repr(str(key)) for key in value][:_SHOWN]
    more = len(value) - len(keys)
    return f"{', '.join(keys) or 'no key'}{f' and {more} more' if more > 0 else ''}"
