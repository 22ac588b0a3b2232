"""Skills with suites in temporary folders."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from skillgauge.api import Loaded, LoadRequest, Problem, SuiteError, located_all
from skillgauge_testkit import FORMATS, Maker

SKILL = """---
name: tables
description: Convert tables. Use when there is a table.
---

Run scripts/convert.py on the table.
"""

Write = Callable[[str, object], Path]


class Load(Protocol):
    """Loads paths with options."""

    def __call__(self, *paths: Path, searched: tuple[Path, ...] = (), **options: Any) -> Loaded:
        """What the format makes of them."""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file below the temporary folder: text as it is, anything else as JSON."""

    def put(name: str, content: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
        return path

    return put


@pytest.fixture
def skill(write: Write) -> Callable[..., Path]:
    """Makes a skill `tables`, with these evals if there are any."""

    def make(*evals: object, folder: str = "tables", **keys: object) -> Path:
        if evals:
            write(f"{folder}/evals/evals.json", {"skill_name": "tables", "evals": evals, **keys})
        return write(f"{folder}/SKILL.md", SKILL).parent

    return make


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads as the kernel does, in the temporary folder."""

    def call(*paths: Path, searched: tuple[Path, ...] = (), **options: Any) -> Loaded:
        request = LoadRequest(
            paths=tuple(map(str, paths)), searched=tuple(map(str, searched)), cwd=str(tmp_path), options=options
        )
        return Maker(FORMATS, "skillgauge_format_agent_skills.plugin")().load(request)

    return call


@pytest.fixture
def faults(load: Load) -> Callable[..., list[tuple[str, int | None, str]]]:
    """Code, line and message of everything that is wrong with paths."""

    def call(*paths: Path, **options: Any) -> list[tuple[str, int | None, str]]:
        with pytest.raises(SuiteError) as raised:
            load(*paths, **options)
        return told(raised.value.problems)

    return call


def told(problems: tuple[Problem, ...]) -> list[tuple[str, int | None, str]]:
    """Code, line and message of each problem."""
    return [(one.code, one.span.line if one.span else None, one.message) for one in located_all(problems)]
