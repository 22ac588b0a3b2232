"""Decide what a run means for the caller: gates, validity, exit code, and the one sentence that says so."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ExitCode
from ..types.frozen import Frozen
from ..types.result import GroupSummary, RunState, RunView
from ..types.suite import DIRECT

ADVISED_RUNS = 3
"""Repeats below which a gate cannot tell an unsteady case from a broken one."""


class GateOptions(Frozen):
    """What the user demands of the run."""

    exit_on_fail: bool = False
    """Whether a completion rate below the threshold is exit code 1; without it the threshold only warns."""
    min_completion: float = 0.7
    """Least share of passed trials of every target."""
    threshold_given: bool = False
    """Whether the threshold was set for this run."""


@dataclass(frozen=True)
class Decision:
    """What to tell the caller."""

    exit_code: ExitCode
    verdict: str
    """The last line on stderr."""
    notices: tuple[str, ...] = ()


def decide(view: RunView, options: GateOptions, *, has_bad_files: bool = False) -> Decision:
    """The exit code of a run.

    The order says which news is worst: an interrupted run decides nothing, an invalid one proves nothing, then come
    missed gates, then files that were passed over.
    """
    counts = view.summary.counts
    score = f"{counts.passed} of {counts.total} passed"
    if counts.errors:
        score += f", {counts.errors} errors"
    if view.run.state is RunState.INTERRUPTED:
        planned = view.head.trial_count
        verdict = (
            f"interrupted: {counts.total} of {planned} trials are done ({score}); the same command resumes the run"
        )
        return Decision(ExitCode.INTERRUPTED, verdict)
    if view.run.state is RunState.STOPPED:
        planned = view.head.trial_count
        verdict = f"stopped by a budget: {counts.total} of {planned} trials are done ({score})"
        return Decision(ExitCode.BUDGET, verdict)
    invalid = [validity for validity in view.summary.validity if not validity.valid]
    if invalid:
        reasons = "; ".join(f"{validity.suite_id}: {validity.reason}" for validity in invalid)
        return Decision(ExitCode.INVALID_RUN, f"invalid run: {reasons} ({score})")
    notices: tuple[str, ...] = ()
    if options.exit_on_fail and view.head.runs < ADVISED_RUNS:
        runs = "1 run" if view.head.runs == 1 else f"{view.head.runs} runs"
        notices = (f"this gate rests on {runs} of each case; --runs {ADVISED_RUNS} also shows what is unsteady",)
    judged = [group for group in view.summary.groups if not _is_baseline(view, group)]
    below = [group for group in judged if completion_rate(group) < options.min_completion]
    names = ", ".join(f"{group.target_id or group.arm} {completion_rate(group):.1%}" for group in below)
    if options.exit_on_fail and below:
        verdict = f"gate missed: below {options.min_completion:.1%}: {names} ({score})"
        return Decision(ExitCode.GATE_MISSED, verdict, notices)
    failing = [
        suite.id
        for suite in view.head.suites
        if suite.fails_run and any(group.counts.failed for group in judged if group.suite_id == suite.id)
    ]
    if failing:
        return Decision(ExitCode.GATE_MISSED, f"failed: {', '.join(failing)} ({score})")
    if options.threshold_given and not options.exit_on_fail and below:
        notices = (f"below {options.min_completion:.1%}: {names}; add --exit-on-fail to make this fail the command",)
    if has_bad_files:
        return Decision(ExitCode.USAGE, f"some files could not be read; the others: {score}", notices)
    return Decision(ExitCode.OK, f"{'gate met' if options.exit_on_fail else 'done'}: {score}", notices)


def completion_rate(group: GroupSummary) -> float:
    """Share of passed trials.

    Direct calls count errors against the target, as eval-skills documents; with agents errors are left out, as
    everywhere else.
    """
    if group.arm != DIRECT.name:
        return group.pass_rate.rate or 0.0
    counted = group.counts.total - group.counts.skipped
    return group.counts.passed / counted if counted else 0.0


def _is_baseline(view: RunView, group: GroupSummary) -> bool:
    """Whether a group is what another one is compared with; no gate judges it."""
    return any(suite.baseline == group.arm for suite in view.head.suites if suite.id == group.suite_id)
