"""The evaluation that runs further repeats, and counts them together with the results of the run before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from skillgauge_documents.frozen import digest

from ...contract.stores import RunLog, RunQuery, Store
from ...errors import UsageError
from ...types.plan import Plan, Round
from ...types.result import RunView, TrialResult
from ...types.trial import CaseHead, PlanHead, RunOrigin, SuiteHead, Trial
from ..evaluation import Evaluation
from .conditions import Comparable, other_suites
from .continuation import Continuation

_BATCH = 200


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
