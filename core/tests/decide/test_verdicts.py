"""The verdict of a run in one word: that of the exit code, and of nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skillgauge.decide.verdicts import verdict_for, verdict_of
from skillgauge.errors import ExitCode
from skillgauge.types.gate import Gate, GateFigure
from skillgauge.types.results.runs import RunState, RunVerdict, RunView
from skillgauge.types.results.summaries import Summary
from skillgauge.types.results.trials import Verdict
from skillgauge_testkit import contract_views, run_view, trial_result

VIEW = run_view([trial_result("c", Verdict.FAIL)])


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (ExitCode.OK, "passed"),
        (ExitCode.GATE_MISSED, "failed"),
        (ExitCode.USAGE, "error"),
        (ExitCode.INVALID_RUN, "error"),
        (ExitCode.NOTHING_SELECTED, "error"),
        (ExitCode.BUDGET, "incomplete"),
        (ExitCode.INTERRUPTED, "incomplete"),
    ],
)
def test_every_exit_code_has_its_word(code: ExitCode, word: str) -> None:
    """A case that failed makes no failed run: gates do."""
    assert verdict_of(VIEW, code) == word


def test_a_run_of_nothing_is_empty() -> None:
    """It ended well, and proves nothing."""
    nothing = replace(VIEW, summary=Summary.empty())
    assert verdict_of(nothing, ExitCode.OK) is RunVerdict.EMPTY
    assert verdict_of(nothing, ExitCode.BUDGET) is RunVerdict.INCOMPLETE


def test_a_run_keeps_the_verdict_that_it_has() -> None:
    """A report that is made later knows no gates of the user."""
    assert verdict_for(replace(VIEW, verdict=RunVerdict.FAILED)) is RunVerdict.FAILED
    assert verdict_for(VIEW) is RunVerdict.PASSED
    stopped = replace(VIEW, run=VIEW.run.model_copy(update={"state": RunState.STOPPED}))
    assert verdict_for(stopped) is RunVerdict.INCOMPLETE


def with_gate(view: RunView) -> RunView:
    """The same run of suites that want no failed trial."""
    gate = Gate(figure=GateFigure.FAILED, threshold=0)
    suites = tuple(suite.model_copy(update={"gates": (gate,)}) for suite in view.head.suites)
    return replace(view, head=view.head.model_copy(update={"suites": suites}))


def test_without_one_the_suites_own_gates_decide() -> None:
    """They are part of the run."""
    view = dict(contract_views())["a comparison of two arms"]
    groups = tuple(
        group.model_copy(update={"counts": group.counts.model_copy(update={"failed": 1})})
        for group in view.summary.groups
    )
    view = replace(view, summary=view.summary.model_copy(update={"groups": groups}))
    assert verdict_for(view) is RunVerdict.PASSED
    assert verdict_for(with_gate(view)) is RunVerdict.FAILED
