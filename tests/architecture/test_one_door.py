"""One place asks what is installed, so that what the user blocks stays out and what he adds takes part."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOOR = ROOT / "core/src/skillgauge/plugins"
CONTRACT_CHECKS = ROOT / "libraries/testkit/src/skillgauge_testkit/contract/announcing.py"
"""Checks the entry points of a distribution as they were declared; no run uses it."""
READERS = {"entry_points", "distributions", "EntryPoints"}
"""Names of `importlib.metadata`, and of attributes of what it returns, that tell what is installed."""


def sources() -> Iterator[Path]:
    """Every module that is installed with skillgauge, outside of the door."""
    for folder in ("core/src", "plugins", "libraries"):
        for path in (ROOT / folder).rglob("*.py"):
            is_source = "src" in path.relative_to(ROOT).parts and "template" not in path.parts
            if is_source and DOOR not in path.parents and path != CONTRACT_CHECKS:
                yield path


def readings(source: str) -> Iterator[str]:
    """Yield the names by which a module reads entry points."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("importlib"):
            yield from (alias.name for alias in node.names if alias.name in READERS)
        elif isinstance(node, ast.Attribute) and node.attr in READERS:
            yield node.attr


def test_readings() -> None:
    """Each way to read entry points is noticed, and asking for a version is none."""
    assert list(readings("from importlib.metadata import entry_points, version")) == ["entry_points"]
    assert list(readings("import importlib.metadata as m\nm.entry_points(group='skillgauge.engines')")) == [
        "entry_points"
    ]
    assert list(readings("from importlib import metadata\nmetadata.distribution('x').entry_points")) == ["entry_points"]
    assert list(readings("from importlib.metadata import version")) == []


@pytest.mark.slow
def test_only_the_door_reads_entry_points() -> None:
    """Plugins learn from the kernel what is installed: from `Peers`, `LoadRequest.installed` or the registry."""
    paths = list(sources())
    assert len(paths) > 300
    offenders = {str(path.relative_to(ROOT)): list(readings(path.read_text("utf-8"))) for path in paths}
    assert {path: names for path, names in offenders.items() if names} == {}
