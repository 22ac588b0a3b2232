"""Skills with suites of BenchFlow in temporary folders."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Loaded, LoadRequest, SuiteError, located_all
from skillgauge_testkit import FORMATS, Maker

SKILL = """---
name: tables
description: Convert tables. Use when there is a table.
---

Run scripts/convert.py on the table.
"""
ANSWER = {"id": "sum", "question": "What is 2 and 3?", "ground_truth": "5"}
RUBRIC = {
    "question": "Convert the table in tables.csv.",
    "ground_truth": "A Markdown table.",
    "expected_behavior": ["The answer is a table.", "It has three rows.", "Numbers are right-aligned."],
    "expected_script": "scripts/convert.py",
}


@pytest.fixture
def skill(tmp_path: Path) -> Callable[..., Path]:
    """Makes a skill `tables` whose evals.json is this text, or an object with these cases and keys."""

    def make(*cases: object, text: str | None = None, **keys: Any) -> Path:
        root = tmp_path / "tables"
        (root / "evals").mkdir(parents=True, exist_ok=True)
        (root / "SKILL.md").write_text(SKILL)
        content = json.dumps({"skill_name": "tables", "cases": cases, **keys}, indent=1)
        (root / "evals/evals.json").write_text(content if text is None else text)
        return root

    return make


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Loaded]:
    """Loads as the kernel does."""

    def call(*paths: Path, searched: tuple[Path, ...] = (), **options: Any) -> Loaded:
        request = LoadRequest(
            paths=tuple(map(str, paths)), searched=tuple(map(str, searched)), cwd=str(tmp_path), options=options
        )
        return Maker(FORMATS, "skillgauge_format_benchflow.plugin")().load(request)

    return call


@pytest.fixture
def faults(load: Callable[..., Loaded]) -> Callable[..., list[tuple[int | None, str]]]:
    """Line and message of everything that is wrong with paths."""

    def call(*paths: Path, **options: Any) -> list[tuple[int | None, str]]:
        with pytest.raises(SuiteError) as raised:
            load(*paths, **options)
        return [(one.span.line if one.span else None, one.message) for one in located_all(raised.value.problems)]

    return call
