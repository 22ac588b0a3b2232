"""Gates on comparisons, each with its three answers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from skillgauge.api import Comparison, Kept
from skillgauge.decide.decision import GateOptions, decide
from skillgauge.decide.pair_gates import LiftGate, PairDemands, PairVerdict, pair_answers, verdict_of_pair
from skillgauge.errors import ExitCode
from skillgauge.stats import Repeats, weigh
from skillgauge.types.arms import GroupKey
from skillgauge.types.comparison import Counts, OutcomeCounts, PairSummary
from skillgauge.types.decided import GateAnswer
from skillgauge.types.results.runs import RunInfo, RunState, RunView
from skillgauge.types.results.summaries import GroupSummary, RateInterval, Summary
from skillgauge.types.trial import PlanHead, SuiteHead

OURS = GroupKey("s", "skill", "with_skill", "e", None)
THEIRS = OURS.in_arm("without_skill")


def view(*, ours: int, theirs: int, n: int = 10, errors: int = 0, compared: bool = True) -> RunView:
    """A run of so many cases, of which the arms pass the first ones; errors come on top."""
    pairs = Counter((Repeats(int(at < ours), 1), Repeats(int(at < theirs), 1)) for at in range(n))
    evidence = weigh(pairs)
    least = (ours - theirs - errors) / (n + errors) if n + errors else 0.0
    most = (ours - theirs + errors) / (n + errors) if n + errors else 0.0
    both, flips = min(ours, theirs), ours - theirs
    outcomes = OutcomeCounts(
        flip_to_pass=max(flips, 0),
        flip_to_fail=max(-flips, 0),
        pass_kept=both,
        fail_kept=n - max(ours, theirs),
        error=errors,
    )
    pair = PairSummary(
        candidate=OURS,
        baseline=THEIRS,
        evidence=evidence,
        lift_bounds=(least, most) if errors else None,
        outcomes=outcomes,
    )
    groups = tuple(
        GroupSummary(
            suite_id="s",
            target_id="skill",
            arm=key.arm,
            runner="e",
            model=None,
            counts=Counts(total=n + errors, passed=passed, failed=n - passed, errors=errors),
            pass_rate=RateInterval(rate=passed / n if n else None, n=n),
        )
        for key, passed in ((OURS, ours), (THEIRS, theirs))
    )
    head = SuiteHead(
        id="s",
        format="f",
        root="/",
        content_digest="",
        case_count=n,
        targets=(),
        arms=("with_skill", "without_skill") if compared else ("with_skill",),
        comparisons=(Comparison(candidate="with_skill", baseline="without_skill"),) if compared else (),
    )
    plan = PlanHead(plan_id="p", suites=(head,), trial_count=2 * (n + errors), runs=1, seed=0)
    counts = Counts.sum(group.counts for group in groups)
    found = groups if compared else groups[:1]
    summary = Summary(counts=counts, groups=found, pairs=(pair,) if compared else ())
    info = RunInfo(run_id="r", state=RunState.FINISHED, started_at=0.0)
    return RunView(info, plan, summary, Kept(lambda: ()))


def code(run: RunView, **demands: Any) -> ExitCode:
    """The exit code of a run with these demands."""
    return decide(run, GateOptions(pairs=PairDemands(**demands))).exit_code


MET, MISSED, OPEN = ExitCode.OK, ExitCode.GATE_MISSED, ExitCode.INVALID_RUN


@pytest.mark.requirement("SE-RUN-012")
@pytest.mark.parametrize(
    ("run", "points", "wanted"),
    [
        ({"ours": 5, "theirs": 4}, 10, OPEN),
        ({"ours": 9, "theirs": 0}, 90, MET),
        ({"ours": 5, "theirs": 4}, 10.5, MISSED),
        ({"ours": 4, "theirs": 5}, 0, MISSED),
        ({"ours": 4, "theirs": 5}, -10, MET),
        ({"ours": 5, "theirs": 4, "errors": 2}, 10, OPEN),
        ({"ours": 9, "theirs": 0, "errors": 1}, 50, MET),
        ({"ours": 0, "theirs": 0, "n": 0, "errors": 3}, 10, OPEN),
        ({"ours": 5, "theirs": 4, "compared": False}, 10, OPEN),
    ],
)
def test_least_lift(run: dict[str, Any], points: float, wanted: ExitCode) -> None:
    """The lift reaches the points, or not, or errors or chance leave it open; one that nobody measured never passes."""
    assert code(view(**run), min_delta_pts=points) is wanted


@pytest.mark.requirement("SE-RUN-010", "SE-RUN-011")
@pytest.mark.parametrize(
    ("run", "verdicts", "wanted"),
    [
        ({"ours": 0, "theirs": 3}, ["fail"], MISSED),
        ({"ours": 0, "theirs": 3}, ["mixed", "error"], MET),
        ({"ours": 5, "theirs": 5}, ["mixed"], MISSED),
        ({"ours": 5, "theirs": 5}, ["fail"], MET),
        ({"ours": 10, "theirs": 5}, ["fail", "mixed", "error"], MET),
        ({"ours": 10, "theirs": 5, "errors": 1}, ["mixed"], OPEN),
        ({"ours": 5, "theirs": 5, "errors": 2}, ["mixed"], MISSED),
        ({"ours": 0, "theirs": 5, "errors": 2}, ["fail", "mixed"], MISSED),
        ({"ours": 0, "theirs": 0, "n": 0, "errors": 2}, ["error"], MISSED),
        ({"ours": 0, "theirs": 0, "n": 0, "errors": 2}, ["fail"], MET),
    ],
)
def test_verdicts_that_fail(run: dict[str, Any], verdicts: list[str], wanted: ExitCode) -> None:
    """A verdict that was named fails the run; where errors could have made another one, it is open."""
    assert code(view(**run), fail_on_verdict=tuple(map(PairVerdict, verdicts))) is wanted


@pytest.mark.parametrize(
    ("run", "gate", "margin", "wanted"),
    [
        ({"ours": 19, "theirs": 1, "n": 20}, LiftGate.BETTER, 0, MET),
        ({"ours": 19, "theirs": 1, "n": 20}, LiftGate.NOT_WORSE, 0, MET),
        ({"ours": 1, "theirs": 19, "n": 20}, LiftGate.NOT_WORSE, 0, MISSED),
        ({"ours": 1, "theirs": 19, "n": 20}, LiftGate.BETTER, 0, MISSED),
        ({"ours": 10, "theirs": 10, "n": 20}, LiftGate.BETTER, 0, OPEN),
        ({"ours": 10, "theirs": 9, "n": 20}, LiftGate.NOT_WORSE, 0, OPEN),
        ({"ours": 10, "theirs": 9, "n": 20}, LiftGate.NOT_WORSE, 50, MET),
        ({"ours": 12, "theirs": 9, "n": 20}, LiftGate.BETTER, 99, MISSED),
        ({"ours": 4, "theirs": 0, "n": 4}, LiftGate.BETTER, 0, OPEN),
        ({"ours": 14, "theirs": 6, "n": 20, "errors": 30}, LiftGate.NOT_WORSE, 0, OPEN),
    ],
)
def test_better_and_not_worse(run: dict[str, Any], gate: LiftGate, margin: float, wanted: ExitCode) -> None:
    """The whole interval says so, or says the contrary, or the run cannot tell."""
    found = view(**run)
    assert code(found, gates=(gate,), margin_pts=margin) is wanted
    told = decide(found, GateOptions(pairs=PairDemands(gates=(gate,), margin_pts=margin))).verdict
    word = "better" if gate is LiftGate.BETTER else "worse"
    assert (f"{word} " in told) is (wanted is not MET)


def test_nothing_is_demanded_unasked() -> None:
    """Without an option no comparison fails a run."""
    assert list(pair_answers(view(ours=0, theirs=9), PairDemands())) == []
    assert code(view(ours=0, theirs=9)) is MET
    assert verdict_of_pair(OutcomeCounts()) is PairVerdict.ERROR


def test_a_gate_on_a_comparison_that_is_met_is_said() -> None:
    """It needs no `--exit-on-fail`; a run without any gate is merely done."""
    met = decide(view(ours=9, theirs=0), GateOptions(pairs=PairDemands(min_delta_pts=10.0)))
    assert (met.exit_code, met.verdict.partition(":")[0]) == (ExitCode.OK, "gate met")
    assert decide(view(ours=9, theirs=0), GateOptions()).verdict.partition(":")[0] == "done"


@pytest.mark.parametrize("errors", [1, 2, 3])
@pytest.mark.parametrize(("good", "bad"), [(2, 0), (0, 2), (1, 1)])
@pytest.mark.parametrize("failing", list(PairVerdict))
def test_errors_count_in_every_way_they_could_have_gone(good: int, bad: int, errors: int, failing: PairVerdict) -> None:
    """A verdict fails the run only if no way of the errors to end avoids it, and is met only if none leads to it."""
    possible = {
        verdict_of_pair(OutcomeCounts(pass_kept=good + well, fail_kept=bad + errors - well))
        for well in range(errors + 1)
    }
    run = view(ours=good, theirs=good, n=good + bad, errors=errors)
    (result,) = pair_answers(run, PairDemands(fail_on_verdict=(failing,)))
    if failing not in possible:
        wanted = GateAnswer.MET
    elif possible == {failing}:
        wanted = GateAnswer.MISSED
    else:
        wanted = GateAnswer.INCONCLUSIVE
    assert result.answer is wanted
