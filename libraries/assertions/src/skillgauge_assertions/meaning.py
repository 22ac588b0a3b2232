"""The options of checks as they take effect, so that two spellings of the same are equal."""

from __future__ import annotations

from collections.abc import Mapping

from skillgauge.api import JsonObject

DEFAULTS: Mapping[str, JsonObject] = {
    "contains": {"case_sensitive": False, "stream": "answer", "absent": False},
    "regex": {
        "syntax": "python",
        "flags": "",
        "case_sensitive": True,
        "timeout_s": 1.0,
        "absent": False,
        "source": "answer",
    },
    "exact": {"case_sensitive": True},
    "json-schema": {"timeout_s": 5.0, "anywhere": False, "absent": False},
    "files": {
        "state": "present",
        "contains": (),
        "lacks": (),
        "leave_out": (),
        "syntax": "python",
        "patterns": (),
        "case_sensitive": True,
        "max_bytes": 1_000_000,
        "timeout_s": 1.0,
    },
    "command": {
        "expect_exit_code": 0,
        "fail_codes": (0, 1),
        "reads": "exit-code",
        "threshold": 1.0,
        "needs": (),
        "label": "",
        "timeout_s": 30.0,
    },
    "tool-call": {"syntax": "python", "words": (), "arguments": {}, "called": True},
    "sequence": {"tools": (), "skills": (), "order": "in-order"},
    "trigger": {
        "should_trigger": True,
        "acceptable": (),
        "counts_without": False,
        "owner": "",
        "threshold": 0.5,
    },
    "rubric": {"trajectory": True, "files": True, "max_chars": 60_000},
    "usage": {},
}
"""By scorer the options that hold where a check says nothing else; options that are not set are null."""


def effective(scorer: str, options: JsonObject) -> JsonObject:
    """Return options without those that hold anyway."""
    plain = DEFAULTS.get(scorer, {})
    return {key: value for key, value in options.items() if value is not None and plain.get(key) != value}
