"""Lints of packages: found, weighed, isolated; and the changes that they propose."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge.errors import Origin, PluginError, Problem, Severity, UsageError
from skillgauge.evaluation.linting import (
    Lint,
    LintFinding,
    LintSubject,
    installed_lints,
    levelled,
    lint_suites,
    problem_reporter,
    read_levels,
    render_problems,
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


def reporters(monkeypatch: pytest.MonkeyPatch, **packages: object) -> PluginIndex:
    """Packages that each print problems as `acme`, by their distribution."""
    for name, function in packages.items():
        module = ModuleType(name)
        module.document = function  # type: ignore[attr-defined]  # made up here
        monkeypatch.setitem(sys.modules, name, module)
    return PluginIndex([IndexEntry("problem_reporters", "acme", f"{n}:document", n, "1") for n in packages])


def test_a_package_makes_the_document_of_problems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It gets problems with their places, and the lints that looked."""
    file = tmp_path / "a.yaml"
    file.write_text("a: 1\nb: 2\n")

    def document(problems: list[Problem], lints: list[Lint], cwd: Path) -> dict[str, object]:
        return {"lines": [one.span and one.span.line for one in problems], "lints": list(lints), "cwd": cwd}

    entry = problem_reporter(reporters(monkeypatch, acme=document), "acme", lambda _entry: True)
    problem = Problem("suite.bad", "-", Origin(str(file), ("b",)))
    assert render_problems(entry, [problem], [ONE], tmp_path) == {"lines": [2], "lints": [ONE], "cwd": tmp_path}


@pytest.mark.parametrize(
    ("name", "admits", "code", "words"),
    [
        ("acme", True, "plugin.ambiguous", "first:acme or second:acme"),
        ("acme", False, "plugin.not-installed", "publishes none"),
        ("acm", True, "plugin.not-installed", "did you mean acme"),
        ("sarif", True, "plugin.not-installed", "pip install skillgauge-lints"),
    ],
)
def test_a_name_must_mean_one_reporter_of_problems(
    monkeypatch: pytest.MonkeyPatch, name: str, admits: bool, code: str, words: str
) -> None:
    """A name of two packages, a blocked package, a misspelt name, and one that is not installed."""
    index = reporters(monkeypatch, first=dict, second=dict)
    with pytest.raises(PluginError) as raised:
        problem_reporter(index, name, lambda _entry: admits)
    (problem,) = raised.value.problems
    assert problem.code == code
    assert words in f"{problem.message} {problem.hint}"


def test_a_reporter_that_fails_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its own fault ends in no traceback."""
    entry = problem_reporter(reporters(monkeypatch, acme=lambda *_: 1 / 0), "acme", lambda _entry: True)
    with pytest.raises(PluginError, match="'acme' of acme 1 failed: ZeroDivisionError"):
        render_problems(entry, [], [], tmp_path)
