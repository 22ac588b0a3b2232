"""The log of a run asks its store for no more than it has to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from skillgauge.contract.stores import Claimed
from skillgauge.run import signed_store
from skillgauge.run.keeping.memory import MemoryLog
from skillgauge.run.ledger import Ledger
from skillgauge.run.signed_store import SignedLog
from skillgauge.run.stored_run import Ordinals, RunSigner, StoreKey
from skillgauge.types.arms import GroupKey
from skillgauge.types.results.runs import ResultOrder, RunInfo, RunState
from skillgauge.types.results.trials import TrialResult
from skillgauge.types.trial import CaseHead, Trial
from skillgauge_testkit.contract import samples

CASE, PLAN = ResultOrder.CASE, ResultOrder.PLAN


class CountingLog(MemoryLog):
    """Counts how often its results are read, and the trials that are claimed."""

    reads = claims = 0

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """Count one more."""
        self.reads += 1
        return super().results(order, group)

    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        """Count them."""
        self.claims += len(trials)
        return await super().claim(trials, cases)


def log_of(count: int) -> tuple[CountingLog, SignedLog]:
    """A signed log with so many results, and the log behind it."""
    head = samples.head()
    inner = CountingLog(head, RunInfo(run_id="r", state=RunState.RUNNING, started_at=1.0))
    signed = SignedLog(inner, RunSigner(StoreKey(b"k" * 32), "r", head.plan_id), head, Ordinals())
    commit(signed, *range(count))
    return inner, signed


def commit(log: SignedLog, *numbers: int) -> None:
    """Commit results of samples."""
    asyncio.run(log.commit([samples.result(number) for number in numbers], paid=False))


def listed(log: SignedLog, order: ResultOrder = CASE, group: Any = None) -> list[TrialResult]:
    """Read results."""
    return list(log.results(order, group))


def test_few_results_are_read_once() -> None:
    """Whatever is asked after all were read in order comes from memory, as the store would have it."""
    inner, log = log_of(4)
    for_comparison, _ = log_of(4)
    results = listed(log)
    assert inner.reads == 1
    assert listed(log) == results
    assert [result.ordinal for result in listed(log, PLAN)] == [0, 1, 2, 3]
    for group in {result.group for result in results}:
        expected = [result.ordinal for result in for_comparison.results(CASE, group)]
        assert [result.ordinal for result in listed(log, CASE, group)] == expected
    assert inner.reads == 1
    asyncio.run(log.finish(RunState.FINISHED, None))


def test_what_is_committed_afterwards_is_read() -> None:
    """A further result makes the next reader look into the store again."""
    inner, log = log_of(2)
    listed(log)
    commit(log, 2)
    assert len(listed(log)) == 3
    assert inner.reads == 2


@pytest.mark.parametrize("order", [CASE, PLAN])
def test_large_results_are_not_held(order: ResultOrder, monkeypatch: pytest.MonkeyPatch) -> None:
    """What exceeds the limit is read from the store each time."""
    monkeypatch.setattr(signed_store, "_HELD_BYTES", 300)
    inner, log = log_of(3)
    assert listed(log, order) == listed(log, order)
    assert inner.reads == 2


@pytest.mark.parametrize("paid", [False, True])
def test_trials_that_are_done_are_not_claimed(paid: bool) -> None:
    """A run that is resumed asks its store for nothing but the rest, though each paid trial is claimed singly."""
    inner, log = log_of(300)

    async def pending() -> tuple[list[int], int]:
        ledger = Ledger(log, concurrency=4)
        plan = (samples.trial(number, paid=paid) for number in range(302))
        return [trial.ordinal async for trial in ledger.pending(plan)], ledger.already_done

    assert asyncio.run(pending()) == ([300, 301], 300)
    assert inner.claims == 2
