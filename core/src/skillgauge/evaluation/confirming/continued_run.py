"""The evaluation that runs further repeats, and counts them together with the results of the run before."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from skillgauge_documents.frozen import digest

from ...contract.stores import RunLog, RunQuery, Store
from ...errors import Problem, SkillgaugeError, UsageError
from ...types.plan import Plan, Round
from ...types.results.runs import RunView
from ...types.results.trials import TrialResult
from ...types.trial import CaseHead, PlanHead, RunOrigin, SuiteHead, Trial
from ..evaluation import Evaluation
from ..invocation import Invocation, opened_store
from ..options import Asked
from .conditions import Comparable, continued_by, other_suites
from .continuation import Continuation, continuation_of, notice, require_no_gate

_BATCH = 200


async def prepare_further(call: Invocation, request: Asked, earlier: RunView, demanded: Sequence[str]) -> Evaluation:
    """Prepare the evaluation that adds repeats to a run.

    Args:
        call: the command line.
        request: what the user asks for.
        earlier: the run.
        demanded: the options that ask for a gate.

    Raises:
        SkillgaugeError: with every problem that was found; nothing has run.
    """
    subject, how = request.options.what, request.options.how
    continuation = continuation_of(earlier, subject.selection, how.runs)
    if continuation.chosen:
        require_no_gate(demanded)
    else:
        await asyncio.to_thread(_require_latest_look, call, earlier)
    here = subject.paths == (call.cwd,) and not subject.format_paths
    options = continuation.options(request.options, here=here)
    again = replace(request, options=options, words=())  # words are cases of that run
    evaluation = continued(await Evaluation.prepare(call, again), continuation)
    call.listener.notice(notice(continuation))
    return evaluation


def _require_latest_look(call: Invocation, earlier: RunView) -> None:
    """Refuse to continue a run past another one of the store that did so already.

    Raises:
        UsageError: the run was continued; with the run to continue instead.
    """
    problems: list[Problem] = []
    with suppress(SkillgaugeError), opened_store(call) as store:
        problems = list(continued_by(store, earlier))
    UsageError.raise_for(problems)


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
    cases = tuple(continuation.cases.values())
    if not continuation.chosen:
        kept = tuple(
            result.model_copy(update={"ordinal": prepared.plan.head.trial_count + place})
            for place, result in enumerate(continuation.results)
        )
        cases = tuple(view.cases())  # the kernel keeps a case with its first repeat, which is not run again
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
