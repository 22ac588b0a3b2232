"""Skills with an eval.yaml in temporary folders."""

from __future__ import annotations

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

Write = Callable[[str, str], Path]


class Load(Protocol):
    """Loads paths with options."""

    def __call__(self, *paths: Path, searched: tuple[Path, ...] = (), **options: Any) -> Loaded:
        """What the format makes of them."""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file below the temporary folder."""

    def put(name: str, content: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    return put


@pytest.fixture
def skill(write: Write) -> Callable[..., Path]:
    """Makes a skill `tables` with this eval.yaml, and with further files."""

    def make(text: str, **files: str) -> Path:
        write("tables/eval.yaml", text)
        for name, content in files.items():
            write(f"tables/{name.replace('__', '/').replace('_dot_', '.')}", content)
        return write("tables/SKILL.md", SKILL).parent

    return make


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads as the kernel does, in the temporary folder."""

    def call(*paths: Path, searched: tuple[Path, ...] = (), **options: Any) -> Loaded:
        request = LoadRequest(paths=tuple(map(str, paths)), searched=tuple(map(str, searched)), cwd=str(tmp_path))
        return Maker(FORMATS, "skillgauge_format_skillevaluation.plugin")(options).load(request)

    return call


@pytest.fixture
def faults(load: Load) -> Callable[..., list[tuple[int | None, int | None, str]]]:
    """Line, column and message of everything that is wrong with paths."""

    def call(*paths: Path, **options: Any) -> list[tuple[int | None, int | None, str]]:
        with pytest.raises(SuiteError) as raised:
            load(*paths, **options)
        return told(raised.value.problems)

    return call


def told(problems: tuple[Problem, ...]) -> list[tuple[int | None, int | None, str]]:
    """Line, column and message of each problem."""
    placed = located_all(problems)
    return [(one.span.line if one.span else None, one.span.column if one.span else None, one.message) for one in placed]
