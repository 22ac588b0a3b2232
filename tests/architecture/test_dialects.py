"""docs/dialects.md is what the code and the counts say."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import dialect_census  # noqa: E402 - a script, no package


def test_the_tables_of_dialects_are_those_of_the_code() -> None:
    """A type, a key or a count that changes changes the page: run benchmarks/dialect_census.py."""
    rows = json.loads(dialect_census.COUNTS.read_text(encoding="utf-8"))
    text = dialect_census.PAGE.read_text(encoding="utf-8")
    assert dialect_census.page(text, rows) == text


def test_the_census_is_large_enough_and_says_why() -> None:
    """At least 300 files; each loaded, or refused for a reason with a place; no text of anybody."""
    rows = json.loads(dialect_census.COUNTS.read_text(encoding="utf-8"))
    assert sum(row["files"] for row in rows) >= 300
    for row in rows:
        assert row["files"] == row["loaded"] + sum(row["refused"].values())
        assert not any("no line" in reason for reason in row["refused"])
