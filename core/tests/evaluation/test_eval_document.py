"""What `eval` prints for people: rates with what it takes to trust them, and nothing that a terminal obeys."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.evaluation.eval_document import human_lines
from skillgauge.stats import rate_interval
from skillgauge.types.results.runs import RunView
from skillgauge.types.results.summaries import Counts, Figure, GroupSummary, RateInterval, Summary, Table, TagSummary
from skillgauge_testkit import contract_views


def measured(passed: int, of: int, errors: int = 0) -> dict[str, object]:
    """Counts and rate of some cases that ran once."""
    graded = of - errors
    means = [1.0] * passed + [0.0] * (graded - passed)
    found = rate_interval(means, repeats=1, seed=0)
    rate = RateInterval(rate=None, n=0)
    if found:
        rate = RateInterval(rate=passed / graded, n=graded, lower=found.lower, upper=found.upper, method=found.method)
    counts = Counts(total=of, passed=passed, failed=graded - passed, errors=errors)
    return {"counts": counts, "pass_rate": rate}


def tag(name: str, passed: int, of: int, errors: int = 0) -> TagSummary:
    """A tag of some cases."""
    return TagSummary.model_validate({"tag": name, **measured(passed, of, errors)})


def lines(*tags: TagSummary, passed: int = 20, of: int = 20, errors: int = 0, **changes: object) -> list[str]:
    """What is printed of a run with one group."""
    whole: dict[str, object] = {
        "suite_id": "s",
        "target_id": "calculator",
        "arm": "direct",
        "runner": "subprocess",
        "model": None,
        "tags": tags,
        **measured(passed, of, errors),
        **changes,
    }
    view = contract_views()[0][1]
    summary = Summary(counts=Counts(), groups=(GroupSummary.model_validate(whole),))
    return list(human_lines(RunView(view.run, view.head, summary, view.source)))


def test_a_rate_never_stands_alone() -> None:
    """Number of cases, errors and interval stand beside the rate, figures with their trials, within 80 columns."""
    figures = (
        Figure(name="a", label="Completion rate", value=0.95, unit="ratio"),
        Figure(name="b", label="Composite score", value=0.9972, unit="score"),
        Figure(name="c", label="Longest wait", value=421.0, unit="ms"),
        Figure(name="d", label="Points", value=3.0, unit="pt"),
        Figure(name="e", label="Unknown", value=None),
    )
    assert lines(passed=19, figures=figures) == [
        "calculator — pass rate 95.0%",
        "  (n = 20 cases, 0 errors, 95% interval 76.4% to 99.1%)",
        "  over 20 trials: Completion rate: 95.0% | Composite score: 0.997 |",
        "    Longest wait: 421 ms | Points: 3 pt",
    ]
    assert lines(target_id="c")[0] == "c — pass rate 100.0% (n = 20 cases, 0 errors, 95% interval 83.9% to 100.0%)"
    figures = (Figure(name="a", label="Expectations met", value=0.5, unit="ratio", n=1),)
    assert lines(passed=19, figures=figures)[2:] == ["  Expectations met: 50.0% (n = 1)"]
    assert lines(arm="with_skill", model="m-1")[0].startswith("calculator · with_skill · m-1 — pass rate 100.0%")


def test_little_evidence_is_said() -> None:
    """A perfect rate over few cases, and a rate with errors, are followed by what they prove."""
    assert lines(passed=5, of=5)[2:] == ["  5 of 5 cases passed; that proves no more than 56.6%"]
    assert lines(passed=20, of=20)[2:] == []
    assert lines(passed=10, of=22, errors=2, pass_bounds=(10 / 22, 12 / 22))[2:] == [
        "  with 2 errors the rate lies between 45.5% (all failed) and 54.5% (all passed)"
    ]
    assert lines(passed=0, of=3, errors=3) == ["calculator — no result (3 errors)"]


@pytest.mark.requirement("ES-BENCH-009")
def test_the_weakest_tags_are_named() -> None:
    """Worst first, of equal ones the larger; at most three, each with all that a rate needs."""
    tags = (
        tag("a", 3, 4),
        tag("b", 1, 2),
        tag("c", 2, 4),
        tag("d", 0, 1, errors=1),
        tag("e", 5, 6, errors=1),
        tag("f", 9, 10),
    )
    assert lines(*tags, passed=19)[2:] == [
        "  weakest tags: c: pass rate 50.0% (n = 4 cases, 0 errors, 95% interval 15.0% to 85.0%);",
        "    b: pass rate 50.0% (n = 2 cases, 0 errors, 95% interval 9.5% to 90.5%);",
        "    a: pass rate 75.0% (n = 4 cases, 0 errors, 95% interval 30.1% to 95.4%);",
        "    and 2 more",
    ]
    assert lines(tag("a", 1, 1), tag("d", 0, 1, errors=1), passed=19)[2:] == ["  weakest tags: d: no result (1 error)"]


def test_tags_that_tell_nothing_are_left_out() -> None:
    """A single tag, tags that all passed, and those of a group without any result give no line."""
    assert lines(tag("a", 1, 2), passed=19)[2:] == []
    assert lines(tag("a", 2, 2), tag("b", 18, 18))[2:] == []
    assert lines(tag("a", 0, 2, errors=2), tag("b", 0, 1, errors=1), passed=0, of=3, errors=3)[1:] == []


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_names_from_outside_are_one_line_that_a_terminal_obeys_in_nothing(name: str) -> None:
    """Escape sequences, line breaks and changes of direction stay harmless."""
    figures = (Figure(name=name, label=name, value=1.0, unit=name),)
    shown = lines(tag(name, 1, 2), tag(name, 0, 2), passed=19, target_id=name, model=name, arm=name, figures=figures)
    assert len(shown) <= 6
    assert not [one for line in shown for one in line if unicodedata.category(one) in ("Cc", "Zl", "Zp")]


def test_long_names_are_cut() -> None:
    """A name of 10,000 characters leaves the figures in sight."""
    shown = lines(tag("x" * 10_000, 0, 2), tag("y", 0, 1), passed=19, target_id="\x1b[2J" * 10_000)
    assert max(map(len, shown)) < 200
    assert f"{'x' * 79}…: pass rate 0.0%" in shown[2]


def test_tables_of_a_group_stand_in_columns() -> None:
    """Names to the left, counts to the right, and nothing that a terminal obeys."""
    rows: tuple[tuple[str | int, ...], ...] = (("apples", 12, 3), ("p\x1b[1m", 4, 0))
    shown = lines(tables=(Table(name="t", label="Who fired", heads=("Query of", "Sessions", "apples"), rows=rows),))
    at = shown.index("  Who fired")
    assert shown[at + 1 : at + 3] == ["    Query of  Sessions  apples", "    apples          12       3"]
    assert "\x1b" not in shown[at + 3]


def test_figures_of_a_part_have_a_line_of_their_own() -> None:
    """What was measured of train and of held-out queries stands below what was measured of all, each on its line."""
    figures = (
        Figure(name="right", label="Right", value=0.5, unit="ratio", n=8),
        Figure(name="right:test", label="Right (test)", value=0.25, unit="ratio", n=4),
        Figure(name="fires:test", label="Fires (test)", value=1.0, unit="ratio", n=2),
        Figure(name="right:train", label="Right (train)", value=0.75, unit="ratio", n=4),
    )
    assert lines(passed=19, figures=figures)[2:] == [
        "  Right: 50.0% (n = 8)",
        "  test: Right: 25.0% (n = 4) | Fires: 100.0% (n = 2)",
        "  train: Right: 75.0% (n = 4)",
    ]
