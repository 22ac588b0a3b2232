"""From runs to the figures of skills, and which report counts."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from skillgauge.api import Execution, Kept, PlanHead, SuiteHead, TrialResult, Usage, Verdict
from skillgauge.api.report import Counts, Figure, GroupSummary, RunInfo, RunState, RunView, SuiteValidity, Summary
from skillgauge.stats import Latency, RateInterval
from skillgauge_skill_selection.evidence import SkillReport, newest, reports_of, uneven


def group(target: str | None, *, suite: str = "s", arm: str = "direct", **changes: object) -> GroupSummary:
    """Eight of ten trials passed, one failed, one crashed."""
    values: dict[str, object] = {
        "counts": Counts(total=10, passed=8, failed=2, broken=1),
        "pass_rate": RateInterval(rate=0.8, n=10, lower=0.5, upper=0.9, method="wilson"),
        "latency": Latency(samples=10, p95_s=0.1234999),
    }
    return GroupSummary.model_validate(
        {"suite_id": suite, "target_id": target, "arm": arm, "runner": "r", "model": None} | values | changes
    )


def result(target: str, number: int, usage: Usage | None = None, *, at: float = 100.0) -> TrialResult:
    """A trial of a target."""
    return TrialResult(
        trial_id=f"{target}{number}",
        execution_id="e",
        score_id="s",
        ordinal=number,
        suite_id="s",
        case_id=f"c{number}",
        case_index=number,
        target_id=target,
        arm="direct",
        runner="r",
        model=None,
        repeat=1,
        verdict=Verdict.PASS,
        execution=Execution(usage=usage),
        started_at=at,
    )


def view(
    groups: Iterable[GroupSummary],
    results: Iterable[TrialResult] = (),
    *,
    invalid: str = "",
    baseline: str | None = None,
) -> RunView:
    """A finished run."""
    groups, kept = tuple(groups), list(results)
    suites = tuple(
        SuiteHead(
            id=name,
            format="f",
            root="",
            content_digest="",
            case_count=10,
            targets=(),
            arms=("direct",),
            candidate="with_skill" if baseline else None,
            baseline=baseline,
        )
        for name in dict.fromkeys(one.suite_id for one in groups)
    )
    summary = Summary(
        counts=Counts(),
        groups=groups,
        validity=tuple(
            SuiteValidity(suite_id=suite.id, valid=suite.id != invalid, error_share=0, reason="too many errors")
            for suite in suites
        ),
    )
    head = PlanHead(plan_id="p", suites=suites, trial_count=10, runs=1, seed=0)
    run = RunInfo(run_id="r", state=RunState.FINISHED, started_at=50.0)
    return RunView(run, head, summary, Kept(lambda: kept))


def only(one: RunView) -> SkillReport:
    """The one report of a run."""
    (report,), notices = reports_of(one, "report.json")
    assert not notices
    return report


def test_figures_of_a_format_are_taken_as_published() -> None:
    """Completion, error rate and score are the format's own; latency is rounded as documents have it."""
    figures = tuple(
        Figure(name=name, label=name, value=value)
        for name, value in (("completionRate", 0.75), ("errorRate", 0.125), ("compositeScore", 0.6543))
    )
    report = only(view([group("a", figures=figures)]))
    assert (report.completion_rate, report.error_rate, report.composite_score) == (0.75, 0.125, 0.6543)
    assert (report.latency_p95_ms, report.cases, report.lower, report.upper) == (123, 10, 0.5, 0.9)
    assert (report.file, report.benchmark, report.measured_at) == ("report.json", "s", 50.0)


def test_a_format_without_figures() -> None:
    """Rates follow from the counts: all trials for direct calls, graded ones for agents; a score is unknown."""
    direct = only(view([group("a")]))
    assert (direct.completion_rate, direct.error_rate, direct.composite_score) == (0.8, 0.1, None)
    agent = only(view([group("a", arm="with_skill", pass_rate=RateInterval(rate=0.9, n=9))]))
    assert agent.completion_rate == 0.9


def test_nothing_that_was_not_measured_becomes_zero() -> None:
    """A group without a trial has no figure at all, even if a document says 0."""
    zeros = tuple(
        Figure(name=name, label=name, value=0.0) for name in ("completionRate", "errorRate", "compositeScore")
    )
    empty = group("a", counts=Counts(), pass_rate=RateInterval(rate=None, n=0), latency=Latency(), figures=zeros)
    report = only(view([empty]))
    assert report.completion_rate is None
    assert report.error_rate is None
    assert report.composite_score is None
    assert report.latency_p95_ms is None
    assert report.usd_per_call is None


@pytest.mark.parametrize(
    ("usages", "tokens", "usd"),
    [
        ([None, None], None, None),
        ([Usage(total_tokens=10), Usage(total_tokens=20)], 15, None),
        ([Usage(total_tokens=10), None], 10, None),
        ([Usage(input_tokens=3, output_tokens=4, cache_read_tokens=5, cache_write_tokens=1)], 13, None),
        ([Usage(input_tokens=3)], None, None),
        ([Usage(cost_usd=0.5), Usage(cost_usd=0.25, total_tokens=8)], 8, 0.375),
        ([Usage(cost_usd=0.0, total_tokens=0)], 0, 0.0),
    ],
)
def test_cost_of_a_call(usages: list[Usage | None], tokens: float | None, usd: float | None) -> None:
    """Means over the calls that tell; half a count is no count; a known 0 is not unknown."""
    results = [result("a", number, usage) for number, usage in enumerate(usages)]
    report = only(view([group("a")], [*results, result("b", 9, Usage(total_tokens=1000, cost_usd=9))]))
    assert (report.tokens_per_call, report.usd_per_call) == (tokens, usd)


def test_time_of_a_report_is_that_of_its_results() -> None:
    """A document may hold reports of different days, each with its own time."""
    shown = view(
        [group("a"), group("b")], [result("a", 1, at=200.0), result("b", 2, at=100.0), result("a", 3, at=150.0)]
    )
    reports, _ = reports_of(shown)
    assert {one.skill_id: one.measured_at for one in reports} == {"a": 200.0, "b": 100.0}


def test_baselines_and_invalid_suites_say_nothing_about_a_skill() -> None:
    """A baseline arm, a group without a target and a suite that proves nothing are no reports; the last is told."""
    arms = view([group("a", arm="with_skill"), group("a", arm="without"), group(None)], baseline="without")
    reports, _ = reports_of(arms)
    assert [one.skill_id for one in reports] == ["a"]
    mixed = view([group("a", suite="good"), group("b", suite="bad")], invalid="bad")
    reports, notices = reports_of(mixed, "x.json")
    assert [one.skill_id for one in reports] == ["a"]
    assert notices == ("x.json: bad proves nothing (too many errors)",)


def told(name: str, at: float, *, file: str = "", benchmark: str = "b", rate: float = 1.0) -> SkillReport:
    """A report from a document."""
    return SkillReport(skill_id=name, benchmark=benchmark, measured_at=at, file=file, completion_rate=rate)


@pytest.mark.requirement("ES-SELECT-003")
def test_the_newest_report_of_each_skill_counts() -> None:
    """By its time, wherever it stands; a copy of a document changes nothing."""
    old, new, copy = (
        told("a", 1, file="z.json", rate=0.1),
        told("a", 2, file="a.json", rate=0.2),
        told("a", 2, file="copy.json", rate=0.2),
    )
    other = told("b", 1, file="z.json")
    for order in ([old, new, copy, other], [new, copy, other, old], [other, old, new, copy]):
        evidence = newest(order)
        assert evidence.by_skill == {"a": new, "b": other}
        assert evidence.notices == ()


def test_several_reports_of_a_skill_in_one_document_are_told() -> None:
    """Of equally old ones the last counts, as in the original program, and the user is told which."""
    first, last = told("a", 1, file="r.json", benchmark="one"), told("a", 1, file="r.json", benchmark="two")
    evidence = newest([first, last])
    assert evidence.by_skill == {"a": last}
    assert evidence.notices == ("a has 2 reports in r.json; the newest, on two, counts",)


def test_different_benchmarks_are_told() -> None:
    """Rates on different benchmarks do not compare; on one they do."""
    assert uneven([told("a", 1), told("b", 1)]) is None
    text = uneven([told("a", 1, benchmark="easy"), told("b", 1, benchmark="hard"), told("c", 1, benchmark="easy")])
    assert text == "the skills were measured on different benchmarks (easy: a, c; hard: b)"
