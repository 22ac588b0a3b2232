"""Recognise the files of agentv: by how they are called, and by tests that have ids."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim, JsonValue
from skillgauge_skill_folders import bytes_of, object_in

FORMAT = "agentv"
NAMES = ("EVAL.yaml", "EVAL.yml", "eval.yaml", "eval.yml")
"""What such a file is called in a folder, the preferred name first."""
LISTS = ("tests", "evalcases", "eval_cases")
"""Where its tests stand; the last two in older files."""
_NAMED = re.compile(r"(?:.+\.)?eval\.ya?ml", re.IGNORECASE)
_OWN_KEYS = frozenset({"id", "criteria", "input", "input_messages", "assertions", "rubrics", "expected_outcome"})
_GRADED = frozenset({"assert", "assertions", "criteria", "expected_outcome"})
"""Of a test in a file with any other name, those beside its id that say what has to be true."""
_MAX_BYTES = 4 * 1024 * 1024
"""What is larger is not read."""
_MARKS = (b"assert", b"criteria", b"expected_outcome")
"""Of a test, those that nobody else writes."""


def claim(path: Path) -> Claim | None:
    """Claim a path for this format; never raises."""
    if path.suffix.lower() not in (".yaml", ".yml"):
        return None
    if not _NAMED.fullmatch(path.name) and not _may_be_one(path):
        return None
    value = object_in(path, (path.name,))
    if value is None or not _is_suite(value, named=_NAMED.fullmatch(path.name) is not None):
        return None
    return Claim(FORMAT, f"{path.name} has tests with ids")


def _may_be_one(path: Path) -> bool:
    """A first look at a file with another name, which is most of them."""
    data = bytes_of(path, _MAX_BYTES) or b""
    return b"tests" in data and any(mark in data for mark in _MARKS)


def _is_suite(value: Mapping[str, JsonValue], *, named: bool) -> bool:
    tests = next((value[key] for key in LISTS if key in value), None)
    if isinstance(tests, str):
        return named and "providers" not in value and "redteam" not in value
    key_sets = [one.keys() for one in tests if isinstance(one, Mapping)] if isinstance(tests, tuple) else []
    return any(_OWN_KEYS & keys and (named or ("id" in keys and _GRADED & keys)) for keys in key_sets)
