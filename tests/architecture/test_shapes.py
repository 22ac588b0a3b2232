"""Formats announce what their files are known by, and none knows another by its name."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

FORMATS = Path(__file__).parents[2] / "plugins/formats"
NAMES = sorted(one.name for one in FORMATS.iterdir() if (one / "pyproject.toml").is_file())
PUBLISHED = FORMATS.parents[1] / "core/src/skillgauge/plugins/published.json"
GROUP = "skillgauge.shapes"


def entry_points(name: str) -> dict[str, dict[str, str]]:
    """What a format's distribution announces."""
    project = tomllib.loads((FORMATS / name / "pyproject.toml").read_text())["project"]
    points: dict[str, dict[str, str]] = project["entry-points"]
    return points


def strings(text: str) -> Iterator[str]:
    """Literals of a module that could be names."""
    yield from re.findall(r"[\"']([a-z][a-z-]+)[\"']", text)


@pytest.mark.parametrize("name", NAMES)
def test_shapes_are_announced(name: str) -> None:
    """Each format says what its files are known by, and the table of install hints has it."""
    marks = entry_points(name)[GROUP]
    table = json.loads(PUBLISHED.read_text())["shapes"]
    assert marks
    assert {mark: table.get(mark) for mark in marks} == dict.fromkeys(marks, f"skillgauge-format-{name}")


def test_shapes_are_of_one_format() -> None:
    """No two formats announce the same, or an install hint would be a matter of luck."""
    marks = [mark for name in NAMES for mark in entry_points(name)[GROUP]]
    assert len(marks) == len(set(marks))


@pytest.mark.parametrize("name", NAMES)
def test_no_format_knows_another_by_name(name: str) -> None:
    """What another tool writes is told by its shape; who reads it is known by what is announced."""
    others = {*NAMES} - {name}
    found = {
        f"{path.name}: {literal}"
        for path in sorted((FORMATS / name / "src").rglob("*.py"))
        for literal in strings(path.read_text())
        if literal in others
    }
    assert not found
