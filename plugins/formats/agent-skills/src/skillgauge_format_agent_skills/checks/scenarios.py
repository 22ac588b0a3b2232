"""Assertions of documents with `scenarios`, whose own evaluator decides some types by rules of its own.

It compares the answer without regard to case, and files with regard to it. These rules are put into the words that
assertions of every other document have, so that what is written again is decided in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgauge.api import JsonValue

from .typed import GRANTED, kind_of

SCENARIOS = "scenarios"
"""The key of these documents that holds the cases."""
OUTPUT = "output-"
"""Start of the types that are about the answer, in the spelling of the table."""
_NOT_EMPTY = "(?s)."


def plain_assertion(item: JsonValue) -> JsonValue:
    """Return an assertion of a scenario as one that means the same in any document.

    A case rule that the assertion states itself stays as it is.
    """
    if not isinstance(item, Mapping):
        return item
    kind = kind_of(item)
    if kind == GRANTED:
        named: dict[str, Any] = {"text": str(item["type"]), **item}
        return {**named, "type": "regex", "value": _NOT_EMPTY}
    if kind.startswith(OUTPUT) and "case_sensitive" not in item:
        return {**item, "case_sensitive": False}
    return item
