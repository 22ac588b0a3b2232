"""`eval --confirm RUN`: add repeats to a run, so that it can decide what it leaves open.

A comparison is continued as a whole: every case in both arms, and all trials, old and new, are counted together. Cases
that were chosen because they looked bad would look better the second time whatever the skill does. A run of such cases
is therefore shown by itself, without an interval, a finding or a gate.

Each continuation is one more look at the same question; `SuiteHead.looks` holds how many repeats there were at each. A
run that stops when it is decided is simply gone on with: its evidence may be looked at after every round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import cast

from skillgauge_documents.frozen import digest
from skillgauge_documents.phrases import counted, listed

from ..contract.stores import RunLog, RunQuery, Store
from ..errors import Problem, UsageError
from ..plan.options import EvalOptions, How, What, Who
from ..report.answer import compared
from ..stats import Evidence, Finding, repeats_for
from ..types.arms import DIRECT
from ..types.comparison import PairSummary
from ..types.plan import Plan, Round, Selection
from ..types.result import RunView, TrialResult
from ..types.suite import Case
from ..types.trial import CaseHead, PlanHead, RunOrigin, SuiteHead, Trial
from .confirmable import Comparable, Place, other_suites, run_name, unfit
from .evaluation import Evaluation

RUNS = 5
"""Repeats of cases that the user names, if the command gives no number."""
_NAMED = 6
_BATCH = 200


@dataclass(frozen=True)
class Continuation:
    """The cases of a run that get further repeats, and how many."""

    view: RunView
    cases: Mapping[Place, CaseHead]
    runs: int
    """Further repeats of each."""
    chosen: bool = False
    """Whether the user chose some cases only."""

    @cached_property
    def results(self) -> tuple[TrialResult, ...]:
        """All results of the run, in the order of its plan."""
        return tuple(self.view.results())

    @cached_property
    def suites(self) -> dict[str, SuiteHead]:
        """The suites that are continued, by id, as they are in the run."""
        ids = {suite for suite, _ in self.cases}
        return {suite.id: suite for suite in self.view.head.suites if suite.id in ids}

    @cached_property
    def present(self) -> dict[str, int]:
        """Repeats of each suite that the run has; fewer than its plan allows if it stopped when it was decided."""
        present = Counter[str]()
        for result in self.results:
            present[result.suite_id] = max(present[result.suite_id], result.repeat)
        return present

    def options(self, options: EvalOptions, *, here: bool) -> EvalOptions:
        """Say what to evaluate: the same as in the run, unless the user says otherwise.

        Args:
            options: what the user says.
            here: whether the command names nothing to evaluate.
        """
        return replace(
            options, what=self._what(options.what, here=here), who=self._who(options.who), how=self._how(options.how)
        )

    def _what(self, subject: What, *, here: bool) -> What:
        selection = subject.selection.model_copy(update={"targets": ()})  # they chose suites, which are continued whole
        subject = replace(subject, selection=selection)
        if not here:
            return subject
        return replace(subject, paths=tuple(dict.fromkeys(Path(suite.root) for suite in self.suites.values())))

    def _who(self, who: Who) -> Who:
        if not (who.engines or who.replay):
            who = self._with_engines(who)
        if not (who.judges or who.judge_models):
            who = self._with_judges(who)
        return who

    def _with_engines(self, who: Who) -> Who:
        """Take the engines of the run, and their models if all are known."""
        groups = [group for group in self.view.summary.groups if group.suite_id in self.suites]
        pairs = list(dict.fromkeys((group.runner, group.model) for group in groups if group.arm != DIRECT.name))
        if not pairs:
            return who
        who = replace(who, engines=tuple(engine for engine, _ in pairs))
        models = tuple(model for _, model in pairs if model)
        if who.models or len(models) < len(pairs):
            return who
        return replace(who, models=models)

    def _with_judges(self, who: Who) -> Who:
        """Take the judges of the run, and their models if all are known."""
        judges = self.view.head.judges
        if not judges:
            return who
        who = replace(who, judges=tuple(judge.name for judge in judges))
        models = [judge.model or judge.settings.get("model") for judge in judges]
        if not all(models):
            return who
        return replace(who, judge_models=tuple(map(str, models)))

    def _how(self, how: How) -> How:
        baseline = None
        if any(suite.comparisons for suite in self.suites.values()):
            baseline = any(suite.compared for suite in self.suites.values())
        most = max(self.present[suite] for suite in self.suites)
        return replace(how, runs=most + self.runs, detect=None, until_decided=self.until_decided, baseline=baseline)

    @property
    def until_decided(self) -> bool:
        """True if the further repeats end as soon as the comparisons are decided, as those of the run do."""
        return not self.chosen and any(suite.until_decided for suite in self.suites.values())

    @property
    def change(self) -> str:
        """The change to the run, as a sentence without its full stop."""
        times = "once" if self.runs == 1 else f"{self.runs} times"
        names = [case for _, case in self.cases]
        if self.chosen:
            noun = "case" if len(names) == 1 else "cases"
            return (
                f"only {noun} {listed(names)}, run again {times}; cases that were chosen for their results "
                "carry no interval, finding or gate"
            )
        shown = listed(names) if len(names) <= _NAMED else counted(len(names), "case")
        if self.runs == 1:
            more = "once more"
        else:
            more = f"{self.runs} more times"
        if self.until_decided:
            more = f"up to {more}, until decided"
        return f"{shown} run {more}; old and new results count together"


def continuation_of(view: RunView, selection: Selection, runs: int | None) -> Continuation:
    """Choose what to run again: the comparisons that a run leaves undecided, or the cases that the user selects.

    Args:
        view: the run.
        selection: what the user selects. Targets select the suites that have them, which are continued whole.
        runs: further repeats that the user asks for.

    Raises:
        UsageError: the run cannot be continued, or leaves nothing open.
    """
    UsageError.raise_for(list(unfit(view)))
    cases = {(case.suite_id, case.id): case for case in view.cases()}
    if selection.model_copy(update={"targets": ()}).is_given:
        return Continuation(view, _chosen(view, cases, selection), runs or RUNS, chosen=True)
    suites = _suites_with(view, selection.targets)
    pairs = [pair for pair in compared(view) if pair.candidate.suite_id in suites]
    open_pairs = [pair for pair in pairs if _is_open(pair)]
    if open_pairs:
        suites = {pair.candidate.suite_id for pair in open_pairs}
    further = runs or _rounds_of(view, suites, open_pairs) or _enough(view, pairs, open_pairs)
    return Continuation(view, {place: case for place, case in cases.items() if place[0] in suites}, further)


def _rounds_of(view: RunView, suites: set[str], open_pairs: Sequence[PairSummary]) -> int | None:
    """The most rounds that a run which stops when it is decided goes on for: as many again as it was allowed."""
    if not open_pairs:
        return None
    return max((suite.runs for suite in view.head.suites if suite.id in suites and suite.until_decided), default=None)


def _is_open(pair: PairSummary) -> bool:
    return pair.evidence is not None and pair.evidence.finding is Finding.UNDECIDED


def _chosen(view: RunView, cases: Mapping[Place, CaseHead], selection: Selection) -> dict[Place, CaseHead]:
    """Return the cases that the user selects.

    Raises:
        UsageError: there is none.
    """
    chosen = {place: case for place, case in cases.items() if selection.admits(cast("Case", case))}
    if not chosen:
        hint = f"Its cases are: {listed(case.id for case in cases.values())}."
        message = f"{run_name(view)} has no case that is selected"
        raise UsageError(Problem("confirm.no-case", message, hint=hint))
    return chosen


def _suites_with(view: RunView, targets: tuple[str, ...]) -> set[str]:
    """The suites that have one of these targets; all, if none is named."""
    if not targets:
        return {suite.id for suite in view.head.suites}
    suites = {suite.id for suite in view.head.suites if any(target.id in targets for target in suite.targets)}
    if not suites:
        target_names = listed(dict.fromkeys(target.id for suite in view.head.suites for target in suite.targets))
        message = f"{run_name(view)} has no target {listed(targets)}"
        raise UsageError(Problem("confirm.no-target", message, hint=f"Its targets are: {target_names}."))
    return suites


def _enough(view: RunView, pairs: list[PairSummary], open_pairs: list[PairSummary]) -> int:
    """Further repeats that decide every open comparison, if it goes on as it began."""
    name = run_name(view)
    if not pairs:
        message = f"{name} compares no arms, so by itself it leaves nothing open"
        hint = "Give --runs N to add repeats; `report diff BEFORE RUN` prints how many a comparison with a run takes."
        raise UsageError(Problem("confirm.no-pairs", message, hint=hint))
    if not open_pairs:
        hint = "Give --runs N to add repeats anyway."
        raise UsageError(Problem("confirm.decided", f"{name} leaves nothing open", hint=hint))
    runs = {suite.id: suite.fewest_runs or suite.runs for suite in view.head.suites}
    numbers = [_further_repeats(pair.evidence, runs[pair.candidate.suite_id]) for pair in open_pairs if pair.evidence]
    known_numbers = [number for number in numbers if number]
    if not known_numbers:
        message = f"{name} shows too little for repeats to decide: more cases would"
        raise UsageError(Problem("confirm.too-little", message, hint="Give --runs N to add repeats anyway."))
    return max(known_numbers)


def _further_repeats(evidence: Evidence, present: int) -> int | None:
    if not evidence.estimate:
        return None
    if evidence.next_level is None:
        level = evidence.level
    else:
        level = evidence.next_level
    return repeats_for(evidence.n, abs(evidence.estimate), present=present, level=level)


def continued(evaluation: Evaluation, continuation: Continuation) -> Evaluation:
    """Make the evaluation that runs the further repeats and counts them together with the results of the run.

    Args:
        evaluation: what was prepared by `Continuation.options`.
        continuation: what is run again.

    Raises:
        UsageError: what would run is not what the run did; with everything that differs. Nothing has run.
    """
    prepared, view = evaluation.prepared, continuation.view
    further = _Further.of(prepared.plan, continuation)
    held = Comparable(view, continuation.cases, continuation.results)
    problems = [
        *other_suites(view, prepared.plan.head, continuation.suites),
        *held.differences(further.all_trials(), [suite.id for suite in prepared.plan.head.suites]),
    ]
    UsageError.raise_for(dict.fromkeys(problems))
    new = Counter(trial.suite_id for trial in further.trials())
    kept: tuple[TrialResult, ...] = ()
    if not continuation.chosen:
        kept = tuple(
            result.model_copy(update={"ordinal": prepared.plan.head.trial_count + place})
            for place, result in enumerate(continuation.results)
        )
    # The kernel keeps a case with its first repeat, which is not run again.
    if continuation.chosen:
        cases = tuple(continuation.cases.values())
    else:
        cases = tuple(view.cases())
    trials = new + Counter(result.suite_id for result in kept)
    head = _head(prepared.plan.head, continuation, trials)
    job = replace(prepared.job, store=_Continuing(prepared.job.store, kept, cases))
    return evaluation.instead(replace(further, head=head), job, kept=len(kept))


def require_no_gate(demanded: Sequence[str]) -> None:
    """Refuse gates of cases that the user chose.

    Args:
        demanded: the options that ask for a gate.

    Raises:
        UsageError: there is one.
    """
    if demanded:
        message = f"{listed(demanded)}: cases that are chosen for their results answer no gate"
        hint = "Leave out --case, --tag and -k: then every case of the comparison is run again, and counts."
        raise UsageError(Problem("confirm.no-gate", message, hint=hint))


def notice(continuation: Continuation) -> str:
    """Say what is about to happen."""
    return f"{run_name(continuation.view)}: {continuation.change}"


def _head(planned: PlanHead, continuation: Continuation, trials: Mapping[str, int]) -> PlanHead:
    """The head of the continued run: that of the run before, with what is run again."""
    was = continuation.view.head
    now = planned.suites_by_id
    kept = [suite for suite in was.suites if suite.id in continuation.suites or not continuation.chosen]
    suites = tuple(_suite(suite, now, continuation, trials) for suite in kept)
    run_id = continuation.view.run.run_id
    return was.model_copy(
        update={
            "plan_id": digest("confirm", run_id, planned.plan_id, sorted(continuation.cases), continuation.chosen),
            "suites": suites,
            "trial_count": sum(trials.values()),
            "runs": max(suite.runs for suite in suites),
            "provenance": planned.provenance,
            "origin": RunOrigin(run_id=run_id, change=continuation.change, chosen=continuation.chosen),
        }
    )


def _suite(
    was: SuiteHead, planned: Mapping[str, SuiteHead], continuation: Continuation, trials: Mapping[str, int]
) -> SuiteHead:
    changes: dict[str, object] = {"trial_count": trials[was.id]}
    if was.id in continuation.suites:
        now = planned[was.id]
        changes["quarantined"] = now.quarantined
        changes["content_digest"] = digest(was.content_digest, now.content_digest)
        if continuation.chosen:
            cases = sum(suite == was.id for suite, _ in continuation.cases)
            changes |= {"runs": continuation.runs, "fewest_runs": None, "looks": (), "gates": (), "case_count": cases}
        else:
            present = continuation.present[was.id]
            looks = was.looks if was.until_decided else (*was.looks, present)
            fewest = was.fewest_runs and was.fewest_runs + continuation.runs
            changes |= {"runs": present + continuation.runs, "fewest_runs": fewest, "looks": looks}
    return was.model_copy(update=changes)


@dataclass(frozen=True)
class _Further(Plan):
    """The further repeats of a plan, each case at its place in the run."""

    planned: Plan = field(kw_only=True)
    """All repeats, those with a result included."""
    continuation: Continuation = field(kw_only=True)

    @classmethod
    def of(cls, plan: Plan, continuation: Continuation) -> _Further:
        """Take a plan that has the earlier and the further repeats."""
        return cls(plan.head, plan.suites, plan.limits, plan.paid_scorers, planned=plan, continuation=continuation)

    def all_trials(self) -> Iterator[Trial]:
        """Trials of the cases that are run again, with the repeats that have a result."""
        for trial in self.planned.trials():
            if (trial.suite_id, trial.case.id) in self.continuation.cases:
                yield trial

    def trials(self) -> Iterator[Trial]:
        return self._further(self.all_trials())

    def rounds(self) -> Iterator[Round]:
        for repeat, of_suites in self.planned.rounds():
            if any(present < repeat for present in self.continuation.present.values()):
                yield repeat, [(tuple(self._further(case)) for case in cases) for cases in of_suites]

    def _further(self, trials: Iterable[Trial]) -> Iterator[Trial]:
        """Those trials that have no result yet, each with the place that its case has in the run."""
        for trial in trials:
            case = self.continuation.cases.get((trial.suite_id, trial.case.id))
            present = self.continuation.present[trial.suite_id]
            if case and present < trial.repeat <= present + self.continuation.runs:
                yield trial.model_copy(update={"case_index": case.index})


@dataclass(frozen=True)
class _Continuing:
    """A store whose next run begins with results that are there already."""

    store: Store
    kept: tuple[TrialResult, ...]
    cases: tuple[CaseHead, ...]

    @property
    def durable(self) -> bool:
        return self.store.durable

    async def begin(self, head: PlanHead, *, fresh: bool) -> RunLog:
        """Begin or resume the run; results that are there are replaced by themselves, those a crash lost are added."""
        log = await self.store.begin(head, fresh=fresh)
        await log.claim((), self.cases)
        for start in range(0, len(self.kept), _BATCH):
            await log.commit(self.kept[start : start + _BATCH], paid=False)
        return log

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        return self.store.scan(query)

    async def close(self) -> None:
        await self.store.close()
