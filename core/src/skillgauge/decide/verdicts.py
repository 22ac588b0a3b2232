"""The meaning of a run in one word, for machines; never another one than the exit code's."""

from __future__ import annotations

from ..errors import ExitCode
from ..types.results.runs import RunVerdict, RunView
from .decision import GateOptions, decide

_VERDICTS = {
    ExitCode.OK: RunVerdict.PASSED,
    ExitCode.GATE_MISSED: RunVerdict.FAILED,
    ExitCode.BUDGET: RunVerdict.INCOMPLETE,
    ExitCode.INTERRUPTED: RunVerdict.INCOMPLETE,
}


def verdict_of(view: RunView, exit_code: ExitCode) -> RunVerdict:
    """Return the word for a decision on a run.

    Args:
        view: the run.
        exit_code: the decision.
    """
    if exit_code is ExitCode.OK and all(group.counts.are_skipped for group in view.summary.groups):
        return RunVerdict.EMPTY
    return _VERDICTS.get(exit_code, RunVerdict.ERROR)


def verdict_for(view: RunView) -> RunVerdict:
    """Return the verdict that a run has; of one that was read without any, the verdict by its suites' own gates."""
    return view.verdict or verdict_of(view, decide(view, GateOptions()).exit_code)
