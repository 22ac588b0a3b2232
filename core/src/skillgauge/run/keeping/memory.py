"""Runs in this process only, for whoever asks for no store: nothing can be resumed."""

from __future__ import annotations

import os
import socket
import time
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from ...contract.stores import Claimed, RunQuery
from ...report.progress import Progress, UnderWay, abridged, count
from ...types.arms import GroupKey
from ...types.results.runs import Kept, ResultOrder, RunInfo, RunState, RunView
from ...types.results.trials import GivenUp, TrialResult, Unfinished, Verdict
from ...types.trial import CaseHead, PlanHead, Trial

if TYPE_CHECKING:
    from ...types.results.summaries import Summary


class MemoryLog:
    """A run kept in this process only."""

    def __init__(self, head: PlanHead, info: RunInfo) -> None:
        self.head = head
        self.info = info
        self.summary: Summary | None = None
        self._claims: Counter[str] = Counter()
        self._results: dict[str, TrialResult] = {}
        self._spent: dict[tuple[int, int], Unfinished] = {}
        self._cases: dict[tuple[str, int], CaseHead] = {}
        self._kept: Kept | None = None
        self._order: list[str] = []
        """Trials as their results were committed."""
        self._under_way: dict[str, UnderWay] = {}

    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        """See `RunLog.claim`."""
        self._cases.update(((case.suite_id, case.index), case) for case in cases)
        ids = [trial.trial_id for trial in trials]
        done = frozenset(self._results.keys() & ids)
        open_ids = [trial_id for trial_id in ids if trial_id not in done]
        self._claims.update(open_ids)
        self._begin_sessions(trials, done)
        attempts = {trial_id: self._claims[trial_id] for trial_id in open_ids}
        again = {trial_id for trial_id, attempt in attempts.items() if attempt > 1}
        return Claimed(done=done, attempts=attempts, cut_off=self._cut_off(again) if again else {})

    def _begin_sessions(self, trials: Sequence[Trial], done: Set[str]) -> None:
        """Take note of paid trials that begin."""
        if paid := [trial for trial in trials if trial.paid and trial.trial_id not in done]:
            now, where = time.time(), f"{socket.gethostname()}, process {os.getpid()}"
            self._under_way.update((trial.trial_id, UnderWay.of(trial, since=now, where=where)) for trial in paid)

    def _cut_off(self, trial_ids: Set[str]) -> dict[str, tuple[GivenUp, ...]]:
        """Return what earlier claims of these trials have used."""
        cut_off: dict[str, tuple[GivenUp, ...]] = {}
        for unfinished in self.unfinished():
            if unfinished.trial_id in trial_ids:
                earlier = cut_off.get(unfinished.trial_id, ())
                cut_off[unfinished.trial_id] = (*earlier, *unfinished.attempts)
        return cut_off

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        """See `RunLog.commit`."""
        for result in results:
            self._results[result.trial_id] = result
            self._order.append(result.trial_id)
            self._under_way.pop(result.trial_id, None)
        self._kept = None

    async def spend(self, unfinished: Sequence[Unfinished]) -> None:
        """See `RunLog.spend`."""
        self._spent.update(((one.ordinal, one.claim), one) for one in unfinished)

    def unfinished(self) -> Iterator[Unfinished]:
        """See `RunLog.unfinished`."""
        return (one for _, one in sorted(self._spent.items()) if one.trial_id not in self._results)

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """See `RunSource.results`."""
        self._kept = self._kept or Kept(lambda: sorted(self._results.values(), key=lambda result: result.ordinal))
        return self._kept.results(order, group)

    def cases(self) -> Iterator[CaseHead]:
        """See `RunSource.cases`."""
        return (case for _, case in sorted(self._cases.items()))

    def progress(self) -> Progress:
        """See `Followed.progress`."""
        counts: dict[GroupKey, dict[Verdict, int]] = {}
        for result in tuple(self._results.values()):
            count(counts, result.group, result.verdict)
        sessions = sorted(self._under_way.values(), key=lambda one: one.ordinal)
        claims = ((one.ordinal, self._claims[one.trial_id]) for one in sessions)
        return Progress(counts, tuple(map(UnderWay.after, sessions, map(self._spent.get, claims))))

    def results_since(self, after: int) -> Iterator[tuple[int, TrialResult]]:
        """See `Followed.results_since`."""
        since = enumerate(self._order[after:], after + 1)
        return ((cursor, abridged(self._results[trial_id])) for cursor, trial_id in since)

    async def finish(self, state: RunState, summary: Summary | None) -> RunInfo:
        """See `RunLog.finish`."""
        self.summary = summary
        self.info = self.info.model_copy(update={"state": state, "finished_at": time.time()})
        return self.info


class MemoryStore:
    """The store of last resort: nothing outlives the process."""

    durable = False

    def __init__(self) -> None:
        self._logs: list[MemoryLog] = []

    async def begin(self, head: PlanHead, *, fresh: bool) -> MemoryLog:
        """See `Store.begin`; never resumes."""
        started = time.time()
        run_id = f"{datetime.fromtimestamp(started, UTC):%Y%m%dT%H%M%S}{uuid4().hex[:6]}"
        log = MemoryLog(head, RunInfo(run_id=run_id, state=RunState.RUNNING, started_at=started))
        self._logs.append(log)
        return log

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        """See `Store.scan`."""
        from ...types.results.summaries import Summary  # noqa: PLC0415 - with all evidence, which no plan needs

        logs = [log for log in reversed(self._logs) if _matches(log, query)]
        for log in logs[: query.limit]:
            yield RunView(log.info, log.head, log.summary or Summary.empty(), log)

    async def close(self) -> None:
        """Nothing to free."""


def _matches(log: MemoryLog, query: RunQuery) -> bool:
    if not query.names(log.info.run_id):
        return False
    if query.plan_id not in (None, log.head.plan_id):
        return False
    suites = [suite for suite in log.head.suites if query.suite_id in (None, suite.id)]
    if query.target_id is not None:
        return any(target.id == query.target_id for suite in suites for target in suite.targets)
    return query.suite_id is None or bool(suites)
