"""The conditions under which a run can be continued: it must be finished, and the same would run now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from skillgauge_documents.characters import plain
from skillgauge_documents.phrases import listed

from ...contract.stores import RunQuery, Store
from ...errors import Problem
from ...types.arms import GroupKey
from ...types.results.runs import RunState, RunView
from ...types.results.trials import TrialResult
from ...types.trial import CaseHead, Identity, PlanHead, SuiteHead, Trial
from ..remarks import said_if

Place = tuple[str, str]
"""Suite and case, by their ids."""
_PUT_BACK = "Put it back as it was, or evaluate everything again."


def unfit(view: RunView) -> Iterator[Problem]:
    """Return the reason why nothing can be added to a run."""
    name = run_name(view)
    if view.run.state is not RunState.FINISHED:
        yield Problem("confirm.unfinished", f"{name} is {view.run.state}", hint="The command that began it resumes it.")
    if view.head.origin and view.head.origin.chosen:
        message = f"{name} is of cases that were chosen for their results, so it cannot be continued"
        hint = f"Continue the whole run: eval --confirm {plain(view.head.origin.run_id)}"
        yield Problem("confirm.chosen", message, hint=hint)
    for validity in view.summary.validity:
        if not validity.valid:
            message = f"{name} is invalid: {plain(validity.suite_id)}: {plain(validity.reason)}"
            yield Problem("confirm.invalid", message, hint="Evaluate again.")
    if not view.head.runners or not all(case.digest for case in view.cases()):
        hint = "Name a run of the store, or its record."
        yield Problem("confirm.untold", f"{name} does not say exactly what was executed", hint=hint)


def continued_by(store: Store, view: RunView) -> Iterator[Problem]:
    """Finished runs of the store that continue this one: continuing it once more would hide their look at it."""
    for later in store.scan(RunQuery()):
        if later.run.run_id == view.run.run_id:
            return
        origin = later.head.origin
        is_look = origin is not None and origin.run_id == view.run.run_id and bool(_looks(later.head))
        if is_look and later.run.state is RunState.FINISHED:
            message = f"{run_name(view)} was continued already, by {run_name(later)}"
            hint = f"Continue that run, so that each look counts: eval --confirm {plain(later.run.run_id)}"
            yield Problem("confirm.continued", message, hint=hint)
            return


def _looks(head: PlanHead) -> list[SuiteHead]:
    return [suite for suite in head.suites if suite.looks or suite.until_decided]


def other_suites(view: RunView, planned: PlanHead, suites: Iterable[str]) -> Iterator[Problem]:
    """Suites, arms and judges that are not as they were in the run.

    Args:
        view: the run.
        planned: what would run now.
        suites: ids of the suites to run again.
    """
    name, targets = run_name(view), set(suites)
    now = planned.suites_by_id
    for suite in view.head.suites:
        if suite.id not in targets:
            continue
        if suite.id not in now:
            hint = "Name what that run evaluated, as it was named then."
            message = f"{name} is of suite {plain(suite.id)!r}, and what is named here is {listed(now) or 'none'}"
            yield Problem("confirm.other-suite", message, hint=hint)
            continue
        for arm in suite.arms:
            if arm not in now[suite.id].arms:
                has = listed(now[suite.id].arms)
                message = f"{name} has an arm {plain(arm)!r}, which {plain(suite.id)} no longer has (it has: {has})"
                yield Problem("confirm.unknown-arm", message, hint="Evaluate again.")
    if {judge.digest for judge in view.head.judges} != {judge.digest for judge in planned.judges}:
        message = f"{name} was graded by {_named(view.head.judges)}, and this one would be by {_named(planned.judges)}"
        yield Problem("confirm.other-judge", message, hint="Name that judge: --judge NAME --judge-model ID.")


class Comparable:
    """The trials that would run, held against those of the run that is continued.

    Args:
        view: the run.
        cases: the cases to run again.
        results: all results of the run.
    """

    def __init__(self, view: RunView, cases: Mapping[Place, CaseHead], results: Sequence[TrialResult]) -> None:
        self._name = run_name(view)
        self._cases = cases
        self._executed = {(result.group, result.case_id, result.repeat): result.execution_id for result in results}
        again = {suite for suite, _ in cases}
        self._groups = {group for group, *_ in self._executed if group.suite_id in again}

    def differences(self, trials: Iterable[Trial], suites: Iterable[str]) -> Iterator[Problem]:
        """Every case, session and group that would not be as it was.

        Args:
            trials: all trials of the cases to run again, those with a result included.
            suites: ids of the suites that are planned; what is missing of the others is another problem.
        """
        cases, groups = set[Place](), set[GroupKey]()
        for trial in trials:
            cases.add((trial.suite_id, trial.case.id))
            groups.add(trial.group)
            yield from self._of_trial(trial)
        planned = set(suites)
        for suite, case in self._cases.keys() - cases:
            if suite in planned:
                message = f"case {plain(case)!r} of {self._name} is not in {plain(suite)} any more"
                yield Problem("confirm.changed-case", message, hint=_PUT_BACK)
        if groups <= self._groups:  # else the problem is what would run, and not what would be left out
            yield from self._left_out(groups, planned)

    def _of_trial(self, trial: Trial) -> Iterator[Problem]:
        group = trial.group
        executed = self._executed.get((group, trial.case.id, trial.repeat))
        if CaseHead.of(trial).digest != self._cases[trial.suite_id, trial.case.id].digest:
            message = f"case {plain(trial.case.id)!r} asks or checks something else now than in {self._name}"
            yield Problem("confirm.changed-case", message, origin=trial.case.origin, hint=_PUT_BACK)
        elif group not in self._groups:
            ran = listed(dict.fromkeys(f"{known.runner} {known.model or ''}".strip() for known in self._groups))
            message = f"{self._name} has no trial of {_group_name(group)}"
            yield Problem("confirm.other-runner", message, hint=f"Name what ran it: {ran}.")
        elif executed not in (None, trial.execution_id):
            subject = f"{plain(group.subject)}, arm {plain(group.arm)}"
            message = f"{subject}: the skill, its limits or settings, or a version are not as in {self._name}"
            yield Problem("confirm.changed", message, hint=_PUT_BACK)

    def _left_out(self, groups: set[GroupKey], planned: set[str]) -> Iterator[Problem]:
        for group in sorted(self._groups - groups, key=_group_name):
            if group.suite_id in planned:
                message = f"{self._name} has trials of {_group_name(group)}, which this command leaves out"
                hint = "All that is compared is run again: leave out --engine, --model and --no-baseline."
                yield Problem("confirm.left-out", message, hint=hint)


def run_name(view: RunView) -> str:
    """The run in a sentence."""
    return f"run {plain(view.run.run_id)}"


def _group_name(group: GroupKey) -> str:
    model = said_if(group.model, f" with model {plain(group.model)}")
    return f"{plain(group.subject)} by {plain(group.runner)}{model}, arm {plain(group.arm)}"


def _named(judges: Iterable[Identity]) -> str:
    names = (f"{judge.name}{said_if(judge.model, f' ({judge.model})')}" for judge in judges)
    return listed(names) or "no judge"
