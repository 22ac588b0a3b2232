"""Trends: which runs can be compared with which, and what is different."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import Identity, Kept, PlanHead, SuiteHead, TargetHead
from skillgauge.api.report import Counts, GroupSummary, RunInfo, RunState, RunView, SuiteValidity, Summary
from skillgauge.stats import Latency, RateInterval
from skillgauge_run_views.trends import TrendLift, lift_sparkline, sparkline, trends, trends_of_all


def view(
    started_at: float,
    rate: float | None,
    *,
    suite: str = "demo",
    arm: str = "direct",
    runners: tuple[str, ...] = ("subprocess",),
    model: str | None = None,
    version: str | None = "1.0.0",
    digest: str = "d",
    suite_version: str | None = None,
    suite_digest: str = "",
    cases: int = 20,
) -> RunView:
    """A finished run of the target `skill`."""
    groups = tuple(
        GroupSummary(
            suite_id=suite,
            target_id="skill",
            arm=arm,
            runner=runner,
            model=model,
            counts=Counts(errors=2),
            pass_rate=RateInterval(rate=rate, n=cases),
            latency=Latency(samples=1, p95_s=0.25),
        )
        for runner in runners
    )
    head = SuiteHead(
        id=suite,
        version=suite_version,
        digest=suite_digest,
        format="fake",
        root=".",
        content_digest="0",
        case_count=cases,
        targets=(TargetHead(id="skill", version=version, digest=digest), TargetHead(id="other")),
        arms=(arm,),
    )
    return RunView(
        RunInfo(run_id=f"run {started_at}", state=RunState.FINISHED, started_at=started_at),
        PlanHead(plan_id="p", suites=(head,), trial_count=1, runs=1, seed=0),
        Summary(counts=Counts(), groups=groups),
        Kept(lambda: ()),
    )


def test_a_trend_is_told_from_the_oldest_run_to_the_newest() -> None:
    """In whatever order the store gives them; each with its change since the run before."""
    (series,) = trends([view(3, 0.7), view(1, 0.5), view(2, 0.8)], "skill")
    assert [point.started_at for point in series.points] == [1, 2, 3]
    assert [point.delta for point in series.points] == [None, pytest.approx(0.3), pytest.approx(-0.1)]
    assert [(point.p95_s, point.errors) for point in series.points] == [(0.25, 2)] * 3


def test_an_unknown_rate_has_no_change() -> None:
    """Neither it nor the run after it."""
    (series,) = trends([view(1, 0.5), view(2, None), view(3, 0.5)], "skill")
    assert [point.delta for point in series.points] == [None, None, None]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, ()),
        ({"version": "1.1.0"}, ("version",)),
        ({"version": None}, ()),
        ({"digest": "e"}, ("files",)),
        ({"digest": ""}, ()),
        ({"cases": 21}, ("cases",)),
        ({"suite_version": "2", "suite_digest": "y"}, ("suite",)),
        ({"suite_version": None, "suite_digest": ""}, ()),
        ({"version": "2", "digest": "e", "cases": 1}, ("version", "files", "cases")),
    ],
)
def test_what_else_changed(change: dict[str, object], expected: tuple[str, ...]) -> None:
    """What may explain a difference is named once; what a run does not tell is no change."""
    first = view(1, 0.5, suite_version="1", suite_digest="x")
    second = view(2, 0.5, **{"suite_version": "1", "suite_digest": "x"} | change)
    (series,) = trends([first, second], "skill")
    assert series.points[1].changes == expected
    assert series.points[0].changes == ()


def judged_by(view: RunView, *judges: Identity) -> RunView:
    """The same run, graded by others."""
    return replace(view, head=view.head.model_copy(update={"judges": judges}))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((Identity(name="a", model="m-1"),), (Identity(name="a", model="m-2"),), ("judge",)),
        ((Identity(name="a", settings={"t": 0}),), (Identity(name="a", settings={"t": 1}),), ("judge",)),
        ((Identity(name="a", version="1"),), (Identity(name="a", version="2"),), ()),
        ((Identity(name="a"), Identity(name="b")), (Identity(name="b"), Identity(name="a")), ()),
        ((), (Identity(name="a"),), ()),
    ],
)
def test_another_judge_is_named(
    first: tuple[Identity, ...], second: tuple[Identity, ...], expected: tuple[str, ...]
) -> None:
    """N-A11: what fell may be owed to who graded; what a run does not tell is no change."""
    (series,) = trends([judged_by(view(1, 0.9), *first), judged_by(view(2, 0.5), *second)], "skill")
    assert series.points[1].changes == expected


@pytest.mark.parametrize(
    ("arm", "runners", "expected"),
    [
        ("with_skill", ("claude-code", "codex"), ("engine",)),
        ("direct", ("subprocess", "http"), ("adapter",)),
        ("direct", ("unknown", "http"), ()),
    ],
)
def test_another_runner_is_named(arm: str, runners: tuple[str, str], expected: tuple[str, ...]) -> None:
    """N-A11: the same skill in another agent goes on in the same series, and it is said."""
    views = [view(at, 0.5, arm=arm, runners=(runner,)) for at, runner in enumerate(runners, 1)]
    (series,) = trends(views, "skill")
    assert series.points[1].changes == expected


def test_only_like_is_compared_with_like() -> None:
    """Suites, arms and models have series of their own, in the order of their first runs; a filter leaves one."""
    views = [view(1, 1), view(2, 1, suite="more"), view(3, 1, arm="with_skill"), view(4, 1, model="m"), view(5, 1)]
    found = [(one.suite, one.arm, one.model, len(one.points)) for one in trends(views, "skill")]
    assert found == [
        ("demo", "direct", None, 2),
        ("more", "direct", None, 1),
        ("demo", "with_skill", None, 1),
        ("demo", "direct", "m", 1),
    ]
    assert [one.suite for one in trends(views, "skill", "more")] == ["more"]
    assert trends(views, "other") == ()


def test_the_runner_tells_apart_only_what_ran_together() -> None:
    """A run from elsewhere does not tell its runner and continues the series; two runners in one run do not mix."""
    (one,) = trends([view(1, 0.5, runners=("unknown",)), view(2, 0.6)], "skill")
    assert (one.runner, len(one.points)) == (None, 2)
    both = trends([view(1, 0.5, runners=("a", "b"))], "skill")
    assert [series.runner for series in both] == ["a", "b"]


def test_a_group_without_its_suite_is_passed_over() -> None:
    """A damaged summary does not end the command."""
    one = view(1, 0.5)
    head = one.head.model_copy(update={"suites": ()})
    assert trends([replace(one, head=head)], "skill") == ()


def test_an_invalid_suite_is_no_point() -> None:
    """Its run may be a point of another suite's series (N-A13)."""
    one, other = view(1, 0.5), view(2, 1.0, suite="more")
    validity = (SuiteValidity(suite_id="more", valid=False, error_share=0.75),)
    both = one.summary.model_copy(update={"groups": one.summary.groups + other.summary.groups, "validity": validity})
    head = one.head.model_copy(update={"suites": one.head.suites + other.head.suites})
    found = trends([replace(one, head=head, summary=both)], "skill")
    assert [series.suite for series in found] == ["demo"]


@given(st.lists(st.one_of(st.none(), st.floats(0, 1))))
def test_sparkline(rates: list[float | None]) -> None:
    """One character per run: higher rates never have lower bars, unknown ones are blank."""
    bars = sparkline(rates)
    assert len(bars) == len(rates)
    assert [bar == " " for bar in bars] == [rate is None for rate in rates]
    known = sorted((rate, bar) for rate, bar in zip(rates, bars, strict=True) if rate is not None)
    assert [bar for _, bar in known] == sorted(bar for _, bar in known)
    assert sparkline([0, 1]) == "▁█"


@given(
    runs=st.lists(
        st.tuples(
            st.integers(0, 5), st.one_of(st.none(), st.floats(0, 1)), st.sampled_from("ab"), st.sampled_from("xy")
        ),
        max_size=8,
    )
)
def test_all_targets_at_once_are_each_alone(runs: list[tuple[int, float | None, str, str]]) -> None:
    """One pass over the runs gives for each target what asking for it alone gives."""
    views = [view(began, rate, suite=suite, arm=arm) for began, rate, suite, arm in runs]
    of_all = trends_of_all(views)
    assert of_all.get("skill", ()) == trends(views, "skill")
    assert set(of_all) <= {"skill"}
    assert trends_of_all(views, "a").get("skill", ()) == trends(views, "skill", "a")


def test_a_lift_of_nothing_is_a_bar_of_half_height() -> None:
    """From -100 points at the lowest to +100 at the highest; unknown ones are blank."""
    (series,) = trends([view(1, 0.5)], "skill")
    lifts = [TrendLift(baseline="b", lift=lift, n=4, finding=None) for lift in (-1.0, 0.0, 1.0)]
    points = [series.points[0].model_copy(update={"lifts": (lift,)}) for lift in lifts]
    assert lift_sparkline([*points, *series.points]) == "▁▅█ "
