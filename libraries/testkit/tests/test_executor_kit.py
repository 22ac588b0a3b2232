"""The contract of executors names the clause that a broken one breaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from skillgauge.api import Executor, Results, RunTrial, Trial, TrialResult
from skillgauge.api.run import LocalExecutor
from skillgauge_testkit import check_executor
from skillgauge_testkit.contract.executors.check import MakeExecutor

QUICK_S = 3.0
"""Patience with what never happens."""


class _Wrapped:
    """Results of the kernel's executor, to be broken in one place."""

    def __init__(self, concurrency: int, trials: AsyncIterator[Trial], run_trial: RunTrial) -> None:
        self.inner = LocalExecutor(concurrency).run(trials, run_trial)

    @property
    def complete(self) -> bool:
        """As it is."""
        return self.inner.complete

    def __aiter__(self) -> AsyncIterator[TrialResult]:
        return self.results()

    async def results(self) -> AsyncIterator[TrialResult]:
        """As they come."""
        async for one in self.inner:
            yield one

    def stop(self) -> None:
        """As it should."""
        self.inner.stop()

    async def aclose(self) -> None:
        """As it should."""
        await self.inner.aclose()


class _Forgets(_Wrapped):
    async def results(self) -> AsyncIterator[TrialResult]:
        """Without the eighth."""
        async for one in self.inner:
            if one.ordinal != 7:
                yield one


class _Doubles(_Wrapped):
    async def results(self) -> AsyncIterator[TrialResult]:
        """Each eighth twice."""
        async for one in self.inner:
            yield one
            if one.ordinal == 7:
                yield one


class _NeverComplete(_Wrapped):
    @property
    def complete(self) -> bool:
        """It does not know."""
        return False


class _AlwaysComplete(_Wrapped):
    @property
    def complete(self) -> bool:
        """It does not care."""
        return True


class _SwallowsErrors(_Wrapped):
    async def results(self) -> AsyncIterator[TrialResult]:
        """Until anything goes wrong."""
        try:
            async for one in self.inner:
                yield one
        except Exception:  # noqa: BLE001 - the fault
            return


class _NeverStops(_Wrapped):
    def stop(self) -> None:
        """It goes on."""


class _LeavesTrials(_Wrapped):
    def __init__(self, concurrency: int, trials: AsyncIterator[Trial], run_trial: RunTrial) -> None:
        self.left: set[asyncio.Future[TrialResult]] = set()

        async def shielded(trial: Trial) -> TrialResult:
            task = asyncio.ensure_future(run_trial(trial))
            self.left.add(task)
            return await asyncio.shield(task)

        super().__init__(concurrency, trials, shielded)


class _BeginsWhileItCloses(_Wrapped):
    def __init__(self, concurrency: int, trials: AsyncIterator[Trial], run_trial: RunTrial) -> None:
        super().__init__(concurrency, trials, run_trial)
        self._trials, self._run_trial = trials, run_trial
        self._is_read = False

    async def results(self) -> AsyncIterator[TrialResult]:
        """As they come."""
        self._is_read = True
        async for one in self.inner:
            yield one

    async def aclose(self) -> None:
        """With another trial, as if a worker had just joined, which is cancelled at once."""
        if self._is_read and (trial := await anext(self._trials, None)):
            begun = asyncio.ensure_future(self._run_trial(trial))
            await asyncio.sleep(0)
            begun.cancel()
            await asyncio.wait({begun})
        await self.inner.aclose()


class _JoinedWhileItCloses(_BeginsWhileItCloses):
    def stop(self) -> None:
        """Nobody joins any more."""
        self._is_read = False
        self.inner.stop()


class _DrawsAll(_Wrapped):
    def __init__(self, concurrency: int, trials: AsyncIterator[Trial], run_trial: RunTrial) -> None:
        async def drawn() -> AsyncIterator[Trial]:
            for trial in [one async for one in trials]:
                yield trial

        super().__init__(concurrency, drawn(), run_trial)


class _Hoards(_Wrapped):
    async def results(self) -> AsyncIterator[TrialResult]:
        """From a heap that grows whether anybody takes from it or not."""
        heap: asyncio.Queue[TrialResult | None] = asyncio.Queue()

        async def fill() -> None:
            async for one in self.inner:
                heap.put_nowait(one)
            heap.put_nowait(None)

        filling = asyncio.create_task(fill())
        while (one := await heap.get()) is not None:
            yield one
        await filling


class _Unordered(_Wrapped):
    def __init__(self, concurrency: int, trials: AsyncIterator[Trial], run_trial: RunTrial) -> None:
        super().__init__(3, trials, run_trial)

    async def results(self) -> AsyncIterator[TrialResult]:
        """The first two in the wrong order."""
        first = None
        async for one in self.inner:
            if one.ordinal == 0:
                first = one
                continue
            yield one
            if first:
                yield first
                first = None


class _Wrong(_Wrapped):
    async def results(self) -> AsyncIterator[TrialResult]:
        """All of one case."""
        async for one in self.inner:
            yield one.model_copy(update={"case_id": "another"})


def executor_of(results: type[_Wrapped]) -> MakeExecutor:
    """Makes executors with such results."""

    class Broken:
        def __init__(self, concurrency: int) -> None:
            self._concurrency = concurrency

        def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> Results:
            """Run them."""
            return results(self._concurrency, trials, run_trial)

    def make(concurrency: int) -> Executor:
        return Broken(concurrency)

    return make


@pytest.mark.slow
@pytest.mark.parametrize("results", [_Wrapped, _JoinedWhileItCloses])
def test_unbroken_executor(results: type[_Wrapped]) -> None:
    """An executor keeps the contract before it is broken below, and so does one whose worker joins at its end."""
    check_executor(executor_of(results))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("results", "clause"),
    [
        (_Forgets, "every trial must give one result"),
        (_Doubles, "every trial must give one result"),
        (_Wrong, "results must be what run_trial gave"),
        (_NeverComplete, "Results.complete must be True"),
        (_AlwaysComplete, "Results.complete must be False"),
        (_SwallowsErrors, "an exception of run_trial must be raised"),
        (_DrawsAll, "the first result of endless trials must come to an end"),
        (_Hoards, "drawing trials while nobody takes results: an end to it must come"),
        (_Unordered, "with a concurrency of 1 trials must run in order"),
        (_LeavesTrials, "trials under way must be cancelled where they run"),
        (_BeginsWhileItCloses, "after its end no further trial must be begun"),
        (_NeverStops, "stopped before it began"),
    ],
)
def test_broken_executor(results: type[_Wrapped], clause: str) -> None:
    """Each fault is told by the sentence of the clause that it breaks."""
    with pytest.raises(AssertionError, match=clause):
        check_executor(executor_of(results), patience_s=QUICK_S)
