"""Gates as values: which figure they ask for, of whom, and what the answer is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from skillgauge.decide.gates import answers, figure_of, gated
from skillgauge.stats import RateInterval, Repeats, weigh
from skillgauge.types.arms import Comparison, GroupKey
from skillgauge.types.comparison import Counts, PairSummary
from skillgauge.types.decided import GateAnswer
from skillgauge.types.gate import Gate, GateFigure, GateScope
from skillgauge.types.results.runs import Kept, RunInfo, RunState, RunView
from skillgauge.types.results.summaries import Figure, GroupSummary, Summary
from skillgauge.types.trial import PlanHead, SuiteHead

WITH = GroupKey("s", "pdf", "with", "agent", None)
WITHOUT = WITH.in_arm("without")


def group(arm: str = "with", **counts: int) -> GroupSummary:
    """A group of one case."""
    known = Counts(total=sum(counts.values()), **counts)
    return GroupSummary(
        suite_id="s",
        target_id="pdf",
        arm=arm,
        runner="agent",
        model=None,
        counts=known,
        pass_rate=RateInterval(rate=known.pass_share, n=1),
        pass_bounds=known.pass_bounds if known.errors else None,
    )


def view(*groups: GroupSummary, pairs: tuple[PairSummary, ...] = ()) -> RunView:
    """A run of one suite that compares two arms."""
    suite = SuiteHead(
        id="s",
        format="f",
        root="/",
        content_digest="",
        case_count=1,
        targets=(),
        arms=("with", "without"),
        comparisons=(Comparison(candidate="with", baseline="without"),),
    )
    head = PlanHead(plan_id="p", suites=(suite,), trial_count=1, runs=1, seed=0)
    summary = Summary(counts=Counts(), groups=groups, pairs=pairs)
    return RunView(RunInfo(run_id="r", state=RunState.FINISHED, started_at=0), head, summary, Kept(tuple))


@pytest.mark.parametrize(
    ("figure", "threshold", "counts", "answer"),
    [
        (GateFigure.PASS_RATE, 0.75, {"passed": 3, "failed": 1}, GateAnswer.MET),
        (GateFigure.PASS_RATE, 0.76, {"passed": 3, "failed": 1}, GateAnswer.MISSED),
        (GateFigure.PASS_RATE, 0.75, {"passed": 3, "errors": 1}, GateAnswer.MET),
        (GateFigure.PASS_RATE, 0.76, {"passed": 3, "errors": 1}, GateAnswer.INCONCLUSIVE),
        (GateFigure.PASS_RATE, 0.8, {"passed": 2, "failed": 1, "errors": 1}, GateAnswer.MISSED),
        (GateFigure.PASS_RATE, 0.5, {"errors": 4}, GateAnswer.INCONCLUSIVE),
        (GateFigure.FAILED, 0, {"passed": 3}, GateAnswer.MET),
        (GateFigure.FAILED, 0, {"passed": 3, "failed": 1, "errors": 1}, GateAnswer.MISSED),
        (GateFigure.FAILED, 0, {"passed": 3, "errors": 1}, GateAnswer.INCONCLUSIVE),
        (GateFigure.FAILED, 1, {"passed": 3, "errors": 1}, GateAnswer.MET),
        ("nobody's", 0, {"passed": 3}, GateAnswer.INCONCLUSIVE),
    ],
)
def test_a_gate_of_a_group(figure: str, threshold: float, counts: dict[str, int], answer: GateAnswer) -> None:
    """Met or missed only if it would be so whatever the errors had given."""
    (result,) = answers(view(group(**counts)), {"s": [Gate(figure=figure, threshold=threshold)]})
    assert result.answer is answer


def test_what_was_skipped_as_a_whole_gates_nothing() -> None:
    """Its figures are of nothing; beside it the others are asked."""
    gates = [Gate(figure=GateFigure.PASS_RATE, threshold=1), Gate(figure=GateFigure.FAILED, threshold=0)]
    assert list(answers(view(group(skipped=4)), {"s": gates})) == []


def test_baseline_arms_have_no_gates() -> None:
    """What fails without the skill is what the skill is for."""
    run = view(group("with", passed=1), group("without", failed=1))
    results = answers(run, {"s": [Gate(figure=GateFigure.PASS_RATE, threshold=1)]})
    assert [(result.group, result.answer) for result in results] == [(WITH, GateAnswer.MET)]


@pytest.mark.parametrize(
    ("lift", "bounds", "answer"),
    [
        (0.3, None, GateAnswer.MET),
        (0.1, None, GateAnswer.MISSED),
        (0.3, (0.25, 0.4), GateAnswer.MET),
        (0.3, (0.1, 0.4), GateAnswer.INCONCLUSIVE),
        (0.0, (-0.1, 0.1), GateAnswer.MISSED),
        (None, None, GateAnswer.INCONCLUSIVE),
    ],
)
def test_a_gate_of_a_comparison(lift: float | None, bounds: tuple[float, float] | None, answer: GateAnswer) -> None:
    """The lift of a pair is gated as a rate is."""
    half = round(10 * (lift or 0))
    evidence = weigh({} if lift is None else {(Repeats(10 + half, 20), Repeats(10 - half, 20)): 4})
    pair = PairSummary(candidate=WITH, baseline=WITHOUT, evidence=evidence, lift_bounds=bounds)
    gate = Gate(figure=GateFigure.LIFT, threshold=0.2, scope=GateScope.PAIR)
    (result,) = answers(view(pairs=(pair,)), {"s": [gate]})
    assert (result.group, result.answer) == (WITH, answer)


def test_a_suite_is_asked_for_itself() -> None:
    """Gates of one suite say nothing of another."""
    other = PairSummary(candidate=replace(WITH, suite_id="t"), baseline=replace(WITHOUT, suite_id="t"), evidence=None)
    lift = Gate(figure=GateFigure.LIFT, threshold=0, scope=GateScope.PAIR)
    assert list(answers(view(pairs=(other,)), {"s": [lift]})) == []
    assert list(answers(view(group(failed=1)), {"other": [Gate(figure=GateFigure.FAILED, threshold=0)]})) == []


def test_a_group_of_which_the_plan_knows_nothing_is_gated() -> None:
    """It is no baseline of anything."""
    stranger = group("without", failed=1).model_copy(update={"suite_id": "t"})
    assert gated(view(group("without", failed=1), stranger)) == (stranger,)


@pytest.mark.parametrize(
    ("name", "bounds"), [(GateFigure.PASS_RATE, (0.5, 0.75)), (GateFigure.FAILED, (2, 1))], ids=["rate", "failed"]
)
def test_the_worse_bound_comes_first(name: str, bounds: tuple[float, float]) -> None:
    """Whether more of a figure is better or less."""
    assert figure_of(group(passed=2, failed=1, errors=1), name).bounds == bounds


def test_a_figure_of_the_format_is_found_by_name() -> None:
    """With the bounds that the format gives it."""
    figures: dict[str, Any] = {"figures": (Figure(name="rate", label="Rate", value=0.5, bounds=(0.4, 0.9)),)}
    assert figure_of(group(passed=1).model_copy(update=figures), "rate").bounds == (0.4, 0.9)
