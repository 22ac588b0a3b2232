"""`--last-failed` and `--changed`: choose cases by what the newest stored run with them says of them."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import dataclass, field, replace

from skillgauge_documents.characters import plain
from skillgauge_documents.phrases import counted

from ..contract.stores import RunQuery
from ..errors import SkillgaugeError
from ..plan.options import EvalOptions
from ..plan.suites import load_suites
from ..types.comparison import GroupKey
from ..types.plan import Plan
from ..types.result import RunView, Verdict
from ..types.trial import CaseHead
from .invocation import Invocation
from .selecting import Choice, case_key
from .stored_runs import opened_store, own_runs

Place = tuple[str, str]
"""Suite and case, by their ids."""


RUNS = 50
"""Runs that are looked through, newest first, for what they say of each case."""


@dataclass
class Earlier:
    """What the newest run with a case says of it: a run may have been of some cases only."""

    runs: list[str] = field(default_factory=list)
    """The runs that say anything, newest first."""
    failed: set[Place] = field(default_factory=set)
    """Cases of which a trial failed or ended in an error, in arms that are not mere baselines."""
    done: dict[tuple[GroupKey, str], tuple[str, str]] = field(default_factory=dict)
    """Of each case with a verdict: the execution of its first repeat, and the digest of the case."""

    def read(self, view: RunView, cases: set[Place]) -> set[Place]:
        """Take what a run says of some cases; those of which it says anything."""
        heads = {suite.id: suite for suite in view.head.suites}
        digests = {(case.suite_id, case.id): case.digest for case in view.cases()}
        found = set()
        for result in view.results():
            place = (result.suite_id, result.case_id)
            if place not in cases:
                continue
            found.add(place)
            mere_baseline = heads[result.suite_id].is_baseline(result.arm)
            if result.verdict is Verdict.ERROR or (result.verdict is Verdict.FAIL and not mere_baseline):
                self.failed.add(place)
            if result.repeat == 1 and result.verdict is not Verdict.ERROR:
                self.done[result.group, result.case_id] = (result.execution_id, digests.get(place, ""))
        self.runs += [view.run.run_id] if found else []
        return found


def earlier_runs(call: Invocation, cases: set[Place]) -> Earlier:
    """Read what this user's own stored runs say of some cases; without a store they say nothing."""
    earlier, wanted = Earlier(), set(cases)
    suites = {suite for suite, _ in cases}
    with suppress(SkillgaugeError), opened_store(call) as store:
        found = store.scan(RunQuery(limit=RUNS))
        related = (view for view in found if suites & {suite.id for suite in view.head.suites})
        with closing(own_runs(call, related, "earlier runs")) as own:
            for view in own:
                wanted -= earlier.read(view, wanted)
                if not wanted:
                    break
    return earlier


def only_failed(call: Invocation, options: EvalOptions) -> EvalOptions:
    """The same, of the cases that failed last; of all if none did, or none has run."""
    loaded = load_suites(options.what, options.cwd, call.registry).suites
    earlier = earlier_runs(call, {(suite.id, case.id) for suite in loaded for case in suite.cases})
    keys = frozenset(
        case_key(case) for suite in loaded for case in suite.cases if (suite.id, case.id) in earlier.failed
    )
    if not keys:
        why = "no earlier run of this is stored" if not earlier.runs else f"nothing failed in {_named(earlier)}"
        call.listener.notice(f"--last-failed: {why}, so all cases are run")
        return options
    call.listener.notice(f"--last-failed: {counted(len(keys), 'case')} that did not pass in {_named(earlier)}")
    return _narrowed(options, keys)


def only_changed(call: Invocation, options: EvalOptions, plan: Plan) -> EvalOptions | None:
    """The same, of the cases that would not do what they did last, or have no verdict; `None` if there is none."""
    earlier = earlier_runs(call, {(trial.suite_id, trial.case.id) for trial in plan.trials()})
    keys = set()
    for trial in plan.trials():
        target = trial.target.id if trial.target else None
        group = GroupKey(trial.suite_id, target, trial.arm.name, trial.runner.name, trial.model)
        now = (trial.execution_id, CaseHead.of(trial).digest)
        if trial.repeat == 1 and earlier.done.get((group, trial.case.id)) != now:
            keys.add(case_key(trial.case))
    if not keys:
        call.listener.notice(f"--changed: all is as in {_named(earlier)}")
        return None
    since = f" since {_named(earlier)}" if earlier.runs else ": no earlier run of this is stored"
    call.listener.notice(f"--changed: {counted(len(keys), 'case')}{since}")
    return _narrowed(options, frozenset(keys))


def _named(earlier: Earlier) -> str:
    more = f" and {len(earlier.runs) - 1} before it" if len(earlier.runs) > 1 else ""
    return f"run {plain(earlier.runs[0])}{more}"


def _narrowed(options: EvalOptions, keys: frozenset[str]) -> EvalOptions:
    selection = options.what.selection
    assert isinstance(selection, Choice)
    chosen = selection.model_copy(update={"only": keys})
    return replace(options, what=replace(options.what, selection=chosen))
