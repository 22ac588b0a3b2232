"""Gates on figures that people would have found, where a judge decided."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from skillgauge.decide.decision import Decision, GateOptions, decide
from skillgauge.decide.pair_gates import LiftGate, PairDemands, PairVerdict
from skillgauge.errors import ExitCode
from skillgauge.report.wording import figure_text
from skillgauge.types.judged_gates import CORRECTED_RATE, JUDGED, JudgedGates, corrected_lift
from skillgauge.types.results.runs import RunView
from skillgauge.types.results.summaries import Figure, RateInterval

from .test_pair_gates import OURS, THEIRS, view

LIFT = corrected_lift(THEIRS.arm)


def judged(run: RunView, *figures: Figure, note: str = "") -> RunView:
    """The run with a judge in both arms, and further figures of the candidate arm."""
    groups = []
    for group in run.summary.groups:
        added = (Figure(name=JUDGED, label="Judged", value=0.5, note=note), *(figures if group.key == OURS else ()))
        groups.append(group.model_copy(update={"figures": added}))
    return replace(run, summary=run.summary.model_copy(update={"groups": tuple(groups)}))


def lift(value: float | None, *bounds: float, note: str = "") -> Figure:
    """A corrected lift."""
    interval = RateInterval(value, 10, *bounds) if bounds else None
    return Figure(name=LIFT, label="Corrected lift", value=value, unit="lift", interval=interval, note=note)


def decided(run: RunView, **demands: Any) -> Decision:
    """The decision with `judgedGates: corrected`."""
    options = {"exit_on_fail": demands.pop("exit_on_fail", False), "min_completion": demands.pop("least", 0.7)}
    return decide(run, GateOptions(judged=JudgedGates.CORRECTED, pairs=PairDemands(**demands), **options))


@pytest.mark.parametrize(
    ("bounds", "gate", "code", "word"),
    [
        ((0.1, 0.6), LiftGate.BETTER, ExitCode.OK, "done"),
        ((-0.1, 0.6), LiftGate.BETTER, ExitCode.INVALID_RUN, "may or may not be above +0.0 points"),
        ((-0.6, -0.1), LiftGate.BETTER, ExitCode.GATE_MISSED, "is not above +0.0 points"),
        ((-0.05, 0.3), LiftGate.NOT_WORSE, ExitCode.OK, "done"),
    ],
)
def test_a_gate_asks_the_corrected_interval(
    bounds: tuple[float, float], gate: LiftGate, code: ExitCode, word: str
) -> None:
    """A judged lift of +100 points decides nothing: the interval that people would have found does."""
    margin = 10.0 if gate is LiftGate.NOT_WORSE else 0.0
    decision = decided(
        judged(view(ours=10, theirs=0), lift(sum(bounds) / 2, *bounds)), gates=(gate,), margin_pts=margin
    )
    assert decision.exit_code is code
    assert word in decision.verdict or decision.verdict.startswith("gate met")


@pytest.mark.parametrize(("least", "code"), [(16.0, ExitCode.OK), (17.0, ExitCode.GATE_MISSED)])
def test_a_least_lift_is_asked_of_the_corrected_one(least: float, code: ExitCode) -> None:
    """+16.7 points, where the judge says +60."""
    decision = decided(judged(view(ours=8, theirs=2), lift(1 / 6)), min_delta_pts=least)
    assert decision.exit_code is code
    (gate,) = decision.gates
    assert "lift corrected for the judge's errors, +16.7 points, is" in gate.reason


def test_errors_move_the_corrected_bounds_too() -> None:
    """An error could have gone either way, whoever grades."""
    run = judged(view(ours=8, theirs=3, errors=1), lift(0.2, 0.02, 0.4))
    assert decided(run, gates=(LiftGate.BETTER,)).exit_code is ExitCode.INVALID_RUN


def test_a_rate_is_asked_of_the_corrected_one() -> None:
    """80 % as judged, 46.7 % as people would have found."""
    corrected = Figure(name=CORRECTED_RATE, label="Corrected", value=14 / 30, unit="ratio")
    run = judged(view(ours=8, theirs=3), corrected)
    assert decided(run, exit_on_fail=True, least=0.5).exit_code is ExitCode.GATE_MISSED
    assert decided(run, exit_on_fail=True, least=0.4).exit_code is ExitCode.OK


@pytest.mark.parametrize(
    ("run", "demands", "reason"),
    [
        (
            judged(view(ours=8, theirs=3), note="a judge without labels"),
            {"min_delta_pts": 10.0},
            "a judge without labels",
        ),
        (judged(view(ours=8, theirs=3)), {"min_delta_pts": 10.0}, "nothing says how the judge errs"),
        (judged(view(ours=8, theirs=3), lift(None, note="no label of x")), {"min_delta_pts": 10.0}, "no label of x"),
        (judged(view(ours=8, theirs=3), lift(None, note="no label of x")), {"exit_on_fail": True}, "no label of x"),
        (judged(view(ours=8, theirs=3), lift(0.3)), {"gates": (LiftGate.BETTER,)}, "too few cases for an interval"),
        (
            judged(view(ours=8, theirs=3), lift(0.3)),
            {"fail_on_verdict": (PairVerdict.FAIL,)},
            "only pass rates and lifts can be corrected",
        ),
    ],
)
def test_without_a_corrected_figure_a_gate_is_open(run: RunView, demands: dict[str, Any], reason: str) -> None:
    """The reason is told, and the judged figure takes no part."""
    decision = decided(run, **demands)
    assert decision.exit_code is ExitCode.INVALID_RUN
    assert f"rests on a judge (judgedGates: corrected): {reason}" in decision.verdict


def test_gates_that_rest_on_no_judge_stay_as_they_are() -> None:
    """Exact checks need no correction."""
    assert decided(view(ours=8, theirs=2), min_delta_pts=10.0).exit_code is ExitCode.OK


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (lift(None), "\N{EN DASH}"),
        (lift(1 / 6), "+16.7 points"),
        (lift(1 / 6, -0.05, 0.4), "+16.7 points (n = 10 cases, -5.0 to +40.0)"),
        (lift(1 / 6).model_copy(update={"interval": RateInterval(1 / 6, 4)}), "+16.7 points (n = 4 cases)"),
    ],
)
def test_a_lift_is_shown_in_points(figure: Figure, text: str) -> None:
    """With its sign, cases and interval."""
    assert figure_text(figure) == text
