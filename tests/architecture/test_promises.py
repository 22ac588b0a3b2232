"""No promise without a caller: hooks are called, kinds are used, and fields of public values are read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from skillgauge.contract.hooks import ExtensionHooks
from skillgauge.plugins.kinds import EVENTS, KINDS

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core/src/skillgauge"
FOLDERS = ("core/src", "libraries/*/src", "plugins/*/*/src")
VALUES = ("contract", "types")
"""Rooms of the values that plugins and users meet."""

FOR_READERS_OF_DOCUMENTS = {
    "Counts.timeouts": "a part of what failed, for people who look for slow targets",
    "DroppedCounts.baseline_error": "why cases are in no lift, for reporters of plugins and programs",
    "DroppedCounts.both_error": "as `baseline_error`",
    "DroppedCounts.candidate_error": "as `baseline_error`",
    "DroppedCounts.not_run": "as `baseline_error`",
    "SuiteHead.case_weights": "for programs that compute a mean from a document",
}
"""Fields that stand in stored documents and that no code of ours reads. An entry is a decision; there should be few."""


@cache
def sources() -> dict[Path, str]:
    """Text of every module that ships, and of every template."""
    found = {}
    for folder in FOLDERS:
        for place in ROOT.glob(folder):
            for path in sorted(place.rglob("*")):
                if path.suffix in {".py", ".j2", ".html"} and "__pycache__" not in path.parts:
                    found[path] = path.read_text()
    return found


@cache
def attributes_read() -> frozenset[str]:
    """Every name that stands behind a dot where a value is read, and every text that `getattr` could be given."""
    found: set[str] = set()
    for path, text in sources().items():
        if path.suffix != ".py":
            found.update(re.findall(r"\.(\w+)", text))
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                found.add(node.attr)
            elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.iter, ast.Tuple):
                found.update(str(one.value) for one in node.iter.elts if isinstance(one, ast.Constant))
    return frozenset(found)


def fields() -> Iterator[tuple[str, str]]:
    """Class and name of every field of a public value."""
    for room in VALUES:
        for path in sorted((CORE / room).glob("*.py")):
            for node in ast.parse(path.read_text()).body:
                if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                    continue
                for statement in node.body:
                    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                        yield node.name, statement.target.id


@pytest.mark.slow
def test_every_field_is_read() -> None:
    """A field that nobody reads promises what does not happen."""
    unread = {f"{owner}.{name}" for owner, name in fields() if name not in attributes_read()}
    assert unread == set(FOR_READERS_OF_DOCUMENTS)


@pytest.mark.parametrize("hook", sorted(EVENTS))
def test_every_event_is_told(hook: str) -> None:
    """The method that calls a hook is itself called, by something other than a test."""
    events = CORE / "plugins/events.py"
    tellers = {
        node.name
        for node in ast.walk(ast.parse(events.read_text()))
        if isinstance(node, ast.FunctionDef) and f'"{hook}"' in (ast.get_source_segment(events.read_text(), node) or "")
    }
    assert tellers, f"{hook} is in no method of Events"
    tellers = {"resolve_secret" if one == "_ask_for_secret" else one for one in tellers}
    calls = [
        path
        for path, text in sources().items()
        if path != events and any(re.search(rf"\.{one}\b\(?", text) for one in tellers)
    ]
    assert calls, f"nothing calls {' or '.join(tellers)}"
    assert hook in vars(ExtensionHooks)


def test_every_kind_can_be_used() -> None:
    """Plugins of a kind are found and made by some command."""
    elsewhere = "\n".join(
        text
        for path, text in sources().items()
        if CORE in path.parents and path.parent.name not in {"contract", "plugins"}
    )
    events = (CORE / "plugins/registry.py").read_text()
    assert not {kind for kind in KINDS if f"{kind.upper()}" not in elsewhere + events}
