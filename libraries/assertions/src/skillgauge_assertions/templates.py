"""`{{variable}}` in texts: plain substitution, and nothing else of the template language."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import TypeAlias

from skillgauge.api import FrozenDict, JsonValue, did_you_mean, thaw

Vars: TypeAlias = Mapping[str, JsonValue]
_MARK = re.compile(r"\{\{-?(.*?)-?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_PLAIN = re.compile(r"\s*([A-Za-z_$][\w$]*)((?:\.\w+)*)\s*")
_INNER = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_DEPTH = 5


class TemplateError(ValueError):
    """A text needs more than the substitution of variables."""


def filled(text: str, values: Vars) -> str:
    """A text with its variables put in.

    Raises:
        TemplateError: it uses a filter, a statement, a comment, or a variable that the test has not.
    """
    return _MARK.sub(lambda found: _replacement(found, values), text)


def filled_value(value: JsonValue, values: Vars) -> JsonValue:
    """The same of every text of a value."""
    if isinstance(value, str):
        return filled(value, values)
    if isinstance(value, tuple):
        return tuple(filled_value(one, values) for one in value)
    if isinstance(value, Mapping):
        return FrozenDict({key: filled_value(one, values) for key, one in value.items()})
    return value


def resolved(values: Vars) -> Vars:
    """Variables that name others in their texts, with those put in; braces that name none stay as they are."""
    values_resolved = dict(values)
    for _ in range(_DEPTH):
        before = dict(values_resolved)
        for name, value in values_resolved.items():
            if isinstance(value, str):
                values_resolved[name] = _INNER.sub(partial(_inner, values=before, own=name), value)
        if values_resolved == before:
            break
    return values_resolved


def partly_filled(text: str, values: Vars) -> str:
    """A text with the variables put in that there are; other braces stay as they are, for they are what is asked."""
    return _INNER.sub(partial(_inner, values=values, own=""), text)


def _inner(found: re.Match[str], values: Vars, own: str) -> str:
    return as_text(values[found[1]]) if found[1] in values and found[1] != own else found[0]


def as_text(value: JsonValue) -> str:
    """A value as it stands in a prompt."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(thaw(value), ensure_ascii=False, separators=(",", ":"))


def _replacement(match: re.Match[str], values: Vars) -> str:
    inside = match[1]
    if inside is None:
        raise TemplateError(f"{match[0]!r} is a statement or a comment; only {{{{variables}}}} are put in")
    plain = _PLAIN.fullmatch(inside)
    if plain is None:
        raise TemplateError(f"{match[0]!r} is more than a variable; filters and expressions are not supported")
    name, path = plain[1], plain[2]
    if name not in values:
        raise TemplateError(f"{match[0]!r} names a variable that the test has not{did_you_mean(name, list(values))}")
    value = values[name]
    for step in path.split(".")[1:]:
        if not isinstance(value, Mapping) or step not in value:
            raise TemplateError(f"{match[0]!r}: {name!r} has nothing called {step!r}")
        value = value[step]
    return as_text(value)
