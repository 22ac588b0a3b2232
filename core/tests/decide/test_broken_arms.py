"""Lines about sessions that prove nothing about their arm, which no list of fails may hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skillgauge.api import Execution, Failure, FailureClass, Kept, ResultOrder, TrialResult, Verdict
from skillgauge.api.report import GroupKey, RunView, SuiteSummary
from skillgauge.decide.broken_arms import broken_arms
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
