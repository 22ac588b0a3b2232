"""Assertions in words that leave nothing to judge: `contains 'x'`, `is valid JSON`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from skillgauge.api import JsonObject

_QUOTED = r"(?:'(?P<single>[^']+)'|\"(?P<double>[^\"]+)\")"
_KINDS: Mapping[str, str] = {
    "contains": "icontains",
    "does not contain": "not-icontains",
    "starts with": "starts-with",
    "ends with": "ends-with",
}
_OF_TEXT = re.compile(rf"(?P<kind>{'|'.join(_KINDS)}) {_QUOTED}")
_PATTERN = re.compile(r"matches (?:regex|pattern) /(?P<pattern>.+)/")
_EITHER = re.compile(rf"contains {_QUOTED}(?: or contains (?:'[^']+'|\"[^\"]+\"))+")
_TEXT = re.compile(r"'([^']+)'|\"([^\"]+)\"")
JSON_PHRASE = "is valid JSON"
EXAMPLES = ("contains 'x'", "contains 'x' or contains 'y'", "does not contain 'x'", "starts with 'x'", "ends with 'x'")


def typed_of(text: str) -> JsonObject | None:
    """The typed assertion that a text stands for, if the whole of it is such a phrase; case does not matter then."""
    if text.lower() == JSON_PHRASE.lower():
        return {"type": "is-json"}
    if match := _PATTERN.fullmatch(text):
        return {"type": "regex", "value": match["pattern"], "case_sensitive": False}
    if _EITHER.fullmatch(text):
        return {"type": "icontains-any", "value": tuple(one or two for one, two in _TEXT.findall(text))}
    if match := _OF_TEXT.fullmatch(text):
        kind = _KINDS[match["kind"]]
        return {"type": kind, "value": match["single"] or match["double"], "case_sensitive": False}
    return None
