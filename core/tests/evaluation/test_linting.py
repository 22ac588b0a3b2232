"""Lints of packages: found, weighed, isolated; and the changes that they propose."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from skillgauge.errors import Problem, Severity, UsageError
from skillgauge.evaluation.linting import (
    Lint,
    LintFinding,
    LintSubject,
    installed_lints,
    levelled,
    lint_suites,
    read_levels,
)
from skillgauge.plugins.index import IndexEntry, PluginIndex
from skillgauge.types.suite import Suite

SUITE = Suite(id="s", format="f", root="/r")


def every(_subject: LintSubject) -> Iterator[LintFinding]:
    """Finds one thing in any suite."""
    yield LintFinding("found")


def broken(_subject: LintSubject) -> Iterator[LintFinding]:
    """Fails at any suite."""
    raise ValueError("no")
    yield


ONE = Lint("acme-one", "It is there.", "Take it away.", every)


def index(monkeypatch: pytest.MonkeyPatch, **packages: object) -> PluginIndex:
    """What would be installed."""
    for name, lints in packages.items():
        module = ModuleType(name)
        module.LINTS = lints  # type: ignore[attr-defined]  # made up here
        monkeypatch.setitem(sys.modules, name, module)
    return PluginIndex([IndexEntry("lints", name, f"{name}:LINTS", name, "1") for name in packages])


def test_a_package_brings_lints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by its entry point; a blocked one is not."""
    problems: list[Problem] = []
    assert installed_lints(index(monkeypatch, acme=(ONE,)), problems, lambda _entry: True) == [ONE]
    assert installed_lints(index(monkeypatch, acme=(ONE,)), problems, lambda _entry: False) == []
    assert problems == []


def test_a_bad_package_costs_itself_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No tuple of lints, no module, an id that is taken: told, and the others count."""
    problems: list[Problem] = []
    several = index(monkeypatch, acme=(ONE,), bad=[ONE], twice=(ONE,)).plus(
        [IndexEntry("lints", "gone", "no_such_module_here:LINTS", "gone", "1")]
    )
    assert installed_lints(several, problems, lambda _entry: True) == [ONE]
    assert [one.code for one in problems] == ["plugin.broken"] * 3
    assert {one.severity for one in problems} == {Severity.WARNING}


def test_a_lint_that_fails_costs_itself_only() -> None:
    """It is named with how to do without it; a place that two suites share is told once."""
    bad = Lint("acme-bad", "-", "-", broken)
    found = list(lint_suites([bad, ONE], [LintSubject(SUITE), LintSubject(SUITE)]))
    assert [one.problem.code for one in found] == ["plugin.broken", "lint.acme-one"]
    assert "--lint acme-bad=off" in str(found[0].problem.hint)


def test_levels_weigh_warnings_and_never_errors() -> None:
    """Off, raised, strict; what is missing here is no fault of a suite, so strict leaves it a warning."""
    lint = Problem("lint.acme-one", "-", severity=Severity.WARNING)
    engine = Problem("engine.none", "-", severity=Severity.WARNING)
    error = Problem("suite.bad", "-")
    levels = read_levels(["acme-one=off", "suite.bad=off"], [ONE], "--lint")
    assert levelled([lint, engine, error], levels, strict=True) == [engine, error]
    raised = levelled([lint, engine], {}, strict=True)
    assert [one.severity for one in raised] == [Severity.ERROR, Severity.WARNING]


def test_all_bad_levels_are_told_at_once() -> None:
    """An unknown lint and an unknown level."""
    with pytest.raises(UsageError) as raised:
        read_levels(["acme-two=off", "acme-one=loud"], [ONE], "--lint")
    assert [one.code for one in raised.value.problems] == ["lint.unknown", "lint.level"]
