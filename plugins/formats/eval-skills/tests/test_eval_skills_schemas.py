"""The structural check of JSON Schemas."""

from __future__ import annotations

import pytest

from skillgauge.api import freeze
from skillgauge_format_eval_skills.schemas import schema_faults


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object", "properties": {"a": True, "b": {"type": ["string", "null"]}}, "required": ["a"]},
        {"items": [{"type": "integer"}, False], "additionalItems": False, "minItems": 1.0},
        {"items": {"enum": [1]}, "not": {}, "if": {}, "then": {}, "else": {}},
        {"$defs": {"x": {"$ref": "#/$defs/y"}}, "allOf": [{"const": {"type": 5}}]},
        {"properties": {"a": {"type": "string", "required": True}}, "x-anything": 5, "maximum": 2.5},
    ],
)
def test_schemas_are_accepted(schema: object) -> None:
    """Whatever drafts allow passes, also in places where any value may stand."""
    assert list(schema_faults(freeze(schema))) == []


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ([], ()),
        (True, ()),
        ({"type": 5}, ("type",)),
        ({"type": "text"}, ("type",)),
        ({"type": ["string", "nul"]}, ("type",)),
        ({"properties": []}, ("properties",)),
        ({"properties": {"a": {"type": {}}}}, ("properties", "a", "type")),
        ({"properties": {"a": "string"}}, ("properties", "a")),
        ({"required": "a"}, ("required",)),
        ({"required": [1]}, ("required",)),
        ({"items": "string"}, ("items",)),
        ({"items": [{"type": 1}]}, ("items", 0, "type")),
        ({"allOf": {}}, ("allOf",)),
        ({"anyOf": [1]}, ("anyOf", 0)),
        ({"enum": "a"}, ("enum",)),
        ({"minLength": -1}, ("minLength",)),
        ({"minLength": "1"}, ("minLength",)),
        ({"maxItems": 1.5}, ("maxItems",)),
        ({"maximum": True}, ("maximum",)),
        ({"pattern": 1}, ("pattern",)),
        ({"additionalProperties": {"type": "x"}}, ("additionalProperties", "type")),
    ],
)
def test_slips_are_found(schema: object, pointer: tuple[str | int, ...]) -> None:
    """A value that no validator could use is pointed to."""
    assert [where for where, _ in schema_faults(freeze(schema))] == [pointer]
