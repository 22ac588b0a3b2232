"""Lines about sessions that prove nothing about their arm, which no list of fails may hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skillgauge.api import (
    Execution,
    Failure,
    FailureClass,
    FiredSkill,
    Kept,
    ResultOrder,
    Trajectory,
    TrialResult,
    Verdict,
)
from skillgauge.api.report import GroupKey, RunView, SuiteSummary
from skillgauge.decide.broken_arms import broken_arms, unproven_arms
from skillgauge.decide.failing import LISTED, failing_lines
from skillgauge.report.summary import summarize
from skillgauge_testkit import contract_views

ARMS = dict(contract_views())["a comparison of two arms"]
DENIED = "arm 'with_skill': skill 'pdf' could not be loaded: denied. " + "Allow the tool in the settings. " * 8


def run_of(results: Sequence[TrialResult]) -> RunView:
    """Return a comparison of two arms with these results."""
    source = Kept(lambda: results, ())

    def no_figures(_: SuiteSummary) -> dict[GroupKey, tuple[()]]:
        return {}

    summary = summarize(ARMS.head, source.results(ResultOrder.CASE), figures=no_figures)
    return replace(ARMS, source=source, summary=summary)


def ended(case: int, failure: Failure | None, *, arm: str = "with_skill", integrity: str = "verified") -> TrialResult:
    """Return the result of a case: a fail of its checks, or an error with its failure."""
    return next(ARMS.results()).model_copy(
        update={
            "case_id": f"case-{case}",
            "case_index": case,
            "arm": arm,
            "verdict": Verdict.ERROR if failure else Verdict.FAIL,
            "scores": (),
            "execution": Execution(failure=failure, arm_integrity=integrity),
        }
    )


def refused(case: int, reason: str = DENIED, arm: str = "with_skill") -> TrialResult:
    """Return the result of a session that could not load a skill of its arm."""
    return ended(case, Failure.of_agent(FailureClass.SETUP, reason), arm=arm, integrity=reason)


def test_a_denied_skill_is_named_among_many_fails() -> None:
    """The list of cases names fails alone; the line has the whole reason, and what to do at its end."""
    view = run_of([*(ended(case, None) for case in range(LISTED + 1)), refused(50), refused(51)])
    assert not any("could not be loaded" in line for line in failing_lines(view, ()))
    (line,) = broken_arms(view)
    assert line == f"an error in 2 sessions, in no rate: {DENIED.strip()}"


def test_the_arm_without_the_skill_counts_too() -> None:
    """No gate is about the baseline, and its sessions are in the comparison."""
    (line,) = broken_arms(run_of([ended(0, None), refused(0, "no distractor", arm="without_skill")]))
    assert "no distractor" in line


def test_other_errors_are_not_said_here() -> None:
    """A service that is down, and a set-up command that failed, say nothing about the arm."""
    down = Failure.of_agent(FailureClass.SERVER, "HTTP 500")
    command = Failure.of_agent(FailureClass.SETUP, "setup command 'false': exit code 1")
    assert not list(broken_arms(run_of([ended(0, down), ended(1, command), ended(2, None)])))


def test_many_reasons_are_counted() -> None:
    """The most frequent are named."""
    results = [refused(case, f"reason {reason}") for reason in range(5) for case in range(reason * 9, reason * 10 + 1)]
    lines = list(broken_arms(run_of(results)))
    assert len(lines) == 4
    assert lines[0].endswith("reason 4")
    assert "2 further reasons" in lines[-1]


def silent(case: int, arm: str = "with_skill", *, fired: tuple[str, ...] | None = None) -> TrialResult:
    """Return the result of a session that does not tell which skills it was offered."""
    result = ended(case, None, arm=arm, integrity="unknown: the engine does not report it")
    told = None if fired is None else tuple(FiredSkill(name=name, how="invoked") for name in fired)
    execution = result.execution.model_copy(update={"trajectory": Trajectory(skills_fired=told)})
    return result.model_copy(update={"execution": execution})


def test_arms_that_nothing_shows_to_differ_are_said() -> None:
    """Neither an offer nor a use was told, by any session of the arm with the skill."""
    down = ended(2, Failure.of_agent(FailureClass.SERVER, "HTTP 500"), integrity="unknown: no answer")
    for fired in (None, ()):
        others = [silent(case, "without_skill", fired=fired) for case in range(3)]
        (line,) = unproven_arms(run_of([silent(0, fired=fired), silent(1, fired=fired), down, *others]))
        assert line.startswith("arm integrity unknown: no session of ")
        assert "'with_skill'" in line


def test_one_session_that_shows_the_skill_is_enough() -> None:
    """It was offered, or it fired; a run without a session that ended is told elsewhere."""
    others = [silent(case, "without_skill") for case in range(2)]
    assert not list(unproven_arms(run_of([silent(0), ended(1, None), *others])))
    assert not list(unproven_arms(run_of([silent(0), silent(1, fired=("pdf",)), *others])))
    down = Failure.of_agent(FailureClass.SERVER, "HTTP 500")
    assert not list(unproven_arms(run_of([ended(0, down, integrity="unknown: no answer"), *others])))
