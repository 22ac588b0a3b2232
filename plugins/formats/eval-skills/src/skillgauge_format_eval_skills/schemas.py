"""The structure of a JSON Schema: checked alone, so that a slip is found before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_ONE = ("additionalItems", "additionalProperties", "contains", "else", "if", "not", "propertyNames", "then")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
_COUNTS = ("maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties")
_NUMBERS = ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf")
_TEXTS = ("$id", "$ref", "$schema", "description", "format", "pattern", "title")

Fault = tuple[tuple[str | int, ...], str]
"""Pointer inside the schema, and what is wrong there."""


def schema_faults(schema: object, *, nested: bool = False) -> Iterator[Fault]:
    """Return the faults that keep a value from being a JSON Schema.

    Args:
        schema: the value.
        nested: whether it stands inside a schema, where `true` and `false` are schemas too.
    """
    if not isinstance(schema, Mapping):
        if not (nested and isinstance(schema, bool)):
            yield (), "a JSON Schema must be an object"
        return
    yield from _type_faults(schema)
    for keyword, fits, expected in _SIMPLE:
        if keyword in schema and not fits(schema[keyword]):
            yield (keyword,), f"{keyword!r} must be {expected}"
    for pointer, inner in _inside(schema):
        yield from _below(pointer, inner)


def _inside(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """The schemas inside of a schema, each with its pointer."""
    for keyword in _MAPS:
        if isinstance(schema.get(keyword), Mapping):
            yield from (((keyword, name), inner) for name, inner in schema[keyword].items())
    for keyword in (*_LISTS, "items"):
        if isinstance(schema.get(keyword), tuple):
            yield from (((keyword, index), inner) for index, inner in enumerate(schema[keyword]))
    for keyword in (*_ONE, "items"):
        if keyword in schema and not isinstance(schema[keyword], tuple):
            yield (keyword,), schema[keyword]


def _below(pointer: tuple[str | int, ...], schema: object) -> Iterator[Fault]:
    for inner, message in schema_faults(schema, nested=True):
        yield (*pointer, *inner), message


def _type_faults(schema: Mapping[str, Any]) -> Iterator[Fault]:
    type_names = schema.get("type", ())
    for name in type_names if isinstance(type_names, tuple) else (type_names,):
        if name not in _TYPES:
            yield ("type",), f"'type' must be one of {', '.join(_TYPES)}"
            return


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)  # type: ignore[operator,call-overload]  # a number


def _is_map(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_list(value: object) -> bool:
    return isinstance(value, tuple)


def _is_names(value: object) -> bool:
    # Draft 3 and 4 wrote `required: true` inside a property; validators ignore it.
    return isinstance(value, bool) or (isinstance(value, tuple) and all(isinstance(name, str) for name in value))


_SIMPLE: tuple[tuple[str, Callable[[object], bool], str], ...] = (
    *((keyword, _is_map, "an object of schemas") for keyword in _MAPS),
    *((keyword, _is_list, "a list of schemas") for keyword in _LISTS),
    *((keyword, _is_count, "a whole number that is not negative") for keyword in _COUNTS),
    *((keyword, _is_number, "a number") for keyword in _NUMBERS),
    *((keyword, _is_text, "text") for keyword in _TEXTS),
    ("enum", _is_list, "a list"),
    ("required", _is_names, "a list of property names"),
)
"""Keyword, test and expectation, where no schema stands inside or only its container is judged."""
