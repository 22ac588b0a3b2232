"""Checks from the configuration and the command line on cases of any suite."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import Case, Check, Origin, Severity, Suite, UsageError
from skillgauge.evaluation.added_checks import Overlay, read_overlay

OWN = Check(id="own", scorer="exact")


def suite(*cases: Case, made_by: str = "f") -> Suite:
    """A suite of these cases."""
    return Suite(id="s", format=made_by, root="/s", cases=cases)


def case(name: str, *tags: str) -> Case:
    """A case with a check of its own."""
    return Case(id=name, name=f"file-{name}", tags=tags, checks=(OWN,))


def added(overlay: Overlay, one: Suite) -> dict[str, list[str]]:
    """Scorers that each case of the suite got, beside its own."""
    return {case.id: [check.scorer for check in case.checks[1:]] for case in overlay.over(one).cases}


def test_a_check_is_added_where_it_fits() -> None:
    """Format, case and tag each narrow it; a case is matched by id or by name."""
    rules = [
        {"scorer": "all"},
        {"scorer": "other", "format": "g"},
        {"scorer": "by-id", "case": "a*"},
        {"scorer": "by-name", "case": "file-b"},
        {"scorer": "by-tag", "tag": "math"},
        {"scorer": "both", "case": "a*", "tag": "math"},
    ]
    overlay = read_overlay(rules, "config.yaml", [])
    got = added(overlay, suite(case("a1", "math"), case("a2"), case("b", "math")))
    assert got == {"a1": ["all", "by-id", "by-tag", "both"], "a2": ["all", "by-id"], "b": ["all", "by-name", "by-tag"]}


def test_what_is_executed_stays_the_same() -> None:
    """A further check changes how a case is graded and not what runs, so nothing has to run again for it."""
    plain = suite(case("a"))
    (before,), (after,) = plain.cases, read_overlay([], "", ['new={"n": 1}']).over(plain).cases
    assert before.checks_digest != after.checks_digest
    assert before.execution_digest == after.execution_digest
    assert after.checks == (OWN, Check(id="--check new", scorer="new", options={"n": 1}, origin=Origin("--check new")))


def test_a_further_check_may_stand_beside_the_verdict() -> None:
    """D-1: where only one of two arms can meet it, whoever adds it says so."""
    overlay = read_overlay([{"scorer": "fired", "beside": True}, {"scorer": "plain"}], "c.yaml", [])
    (found,) = overlay.over(suite(case("a"))).cases
    assert [check.beside for check in found.checks] == [False, True, False]


def test_a_suite_that_nothing_fits_is_untouched() -> None:
    """Not even a wrapper around its cases."""
    one = suite(case("a"))
    assert read_overlay([{"scorer": "x", "format": "g"}], "c.yaml", []).over(one) is one


def test_a_check_that_fits_nothing_is_pointed_out() -> None:
    """A misspelt tag must not look like a passed check; what one of several suites uses is used."""
    rules = [{"scorer": "x", "tag": "maths"}, {"scorer": "y", "case": "b"}, {"scorer": "z", "format": "g"}]
    overlay = read_overlay(rules, "c.yaml", [])
    problems = overlay.unused([suite(case("a", "math")), suite(case("b"))])
    assert [(problem.severity, problem.origin) for problem in problems] == [
        (Severity.WARNING, Origin("c.yaml", ("checks", 0))),
        (Severity.WARNING, Origin("c.yaml", ("checks", 2))),
    ]


def test_all_problems_are_listed_with_their_places() -> None:
    """An unknown key, a missing scorer and a bad option text, at once."""
    with pytest.raises(UsageError) as caught:
        read_overlay([{"scorer": "x", "cases": "a"}, {"tag": "t"}], "c.yaml", ["y=[1]", "z={"])
    problems = caught.value.problems
    assert [problem.code for problem in problems] == [
        "suite.unknown-key",
        "suite.missing-key",
        "usage.check",
        "usage.check",
    ]
    assert [problem.origin.pointer[:2] for problem in problems if problem.origin] == [("checks", 0), ("checks", 1)]


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ({"scorer": "x", "cases": "a"}, "unknown key 'cases' (did you mean case?)"),
        ({"scorer": "x", "zzz": "a"}, "unknown key 'zzz'"),
        ({"tag": "t"}, "'scorer' is missing"),
        ({"scorer": "x", "case": 5}, "'case' must be text, not 5"),
        ({"scorer": "x", "tag": ["t"]}, "'tag' must be text, not [\"t\"]"),
        ({"scorer": "x", "options": [1]}, "'options' must be an object, not [1]"),
    ],
)
def test_a_wrong_check_is_explained(check: dict[str, object], message: str) -> None:
    """In words of the configuration, not of the library that found it."""
    with pytest.raises(UsageError) as caught:
        read_overlay([check], "c.yaml", [])
    assert [problem.message for problem in caught.value.problems] == [message]


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=6), st.lists(st.sampled_from(["a", "b", "*"]), max_size=4))
def test_every_case_gets_each_fitting_check_once(names: list[str], globs: list[str]) -> None:
    """However often the cases are iterated, and in the order of the rules, with names of their own."""
    overlay = read_overlay([{"scorer": glob, "case": glob} for glob in globs], "c.yaml", [])
    one = suite(*(case(f"{name}{index}"[:1] + str(index), *name) for index, name in enumerate(names)))
    changed = overlay.over(one)
    for _ in range(2):
        for before, after in zip(one.cases, changed.cases, strict=True):
            ids = [check.id for check in after.checks]
            assert len(set(ids)) == len(ids)
            assert [check.scorer for check in after.checks[1:]] == [glob for glob in globs if glob == "*"]
            assert before.id == after.id
