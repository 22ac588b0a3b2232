"""The ledger: trials are claimed before they start and results written before they count."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.contract.stores import Claimed, RunQuery
from skillgauge.errors import Problem, StoreError
from skillgauge.run import ledger as ledger_module
from skillgauge.run.keeping.memory import MemoryLog, MemoryStore
from skillgauge.run.ledger import BATCH, MAX_WAIT_S, Ledger
from skillgauge.types.arms import DIRECT
from skillgauge.types.results.runs import ResultOrder, RunInfo, RunState, case_order
from skillgauge.types.results.summaries import Counts, Summary
from skillgauge.types.results.trials import TrialResult, Verdict
from skillgauge.types.suite import Case, Limits, TargetHead
from skillgauge.types.trial import (
    CaseHead,
    Execution,
    Identity,
    PlanHead,
    SuiteHead,
    Trial,
)

from .jumping import run

quick = settings(max_examples=30, deadline=None)
LONG_S = 60.0
"""How long a test waits for something that must happen before it gives up; nothing is measured by it."""


def trial(number: int, *, paid: bool = False) -> Trial:
    """A trial that may cost money."""
    return Trial(
        trial_id=f"t{number}",
        execution_id="x",
        ordinal=number,
        suite_id="s",
        case=Case(id="c"),
        case_index=number,
        arm=DIRECT,
        runner=Identity(name="r"),
        repeat=1,
        seed=0,
        limits=Limits(),
        paid=paid,
    )


def result(number: int, **fields: Any) -> TrialResult:
    """The result of a trial."""
    return TrialResult.model_validate(
        {
            "trial_id": f"t{number}",
            "execution_id": "x",
            "score_id": "",
            "ordinal": number,
            "suite_id": "s",
            "case_id": "c",
            "case_index": number,
            "target_id": None,
            "arm": "direct",
            "runner": "r",
            "model": None,
            "repeat": 1,
            "verdict": Verdict.PASS,
            "execution": Execution(),
            "started_at": 0.0,
        }
        | fields
    )


def head(plan_id: str = "p", *suites: SuiteHead) -> PlanHead:
    """A plan without trials."""
    return PlanHead(plan_id=plan_id, suites=suites, trial_count=0, runs=1, seed=0)


class Log(MemoryLog):
    """A run's log that notes every call, and is slow or broken as it is told."""

    def __init__(self) -> None:
        super().__init__(head(), RunInfo(run_id="r", state=RunState.RUNNING, started_at=0.0))
        self.claims: list[list[str]] = []
        self.commits: list[tuple[list[str], bool]] = []
        """Ids and `paid` of each commit that was carried out."""
        self.written = asyncio.Event()
        self.asked = asyncio.Event()
        """Set when a commit has been asked for."""
        self.free = asyncio.Event()
        self.free.set()
        """Cleared while the store is busy."""
        self.error: Exception | None = None

    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        """Note the ids."""
        self.claims.append([one.trial_id for one in trials])
        return await super().claim(trials)

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        """Wait until the store is free, then write or fail."""
        batch = list(results)
        self.asked.set()
        await self.free.wait()
        if self.error:
            raise self.error
        await super().commit(batch, paid=paid)
        self.commits.append(([one.trial_id for one in batch], paid))
        self.written.set()

    @property
    def kept(self) -> list[int]:
        """Ordinals of what is written."""
        return [one.ordinal for one in self.results(ResultOrder.PLAN)]


FULL = StoreError(Problem("store.full", "no space"))


async def soon(event: asyncio.Event) -> None:
    """Wait for something that must happen by itself."""
    await asyncio.wait_for(event.wait(), LONG_S)


# --- claiming ---------------------------------------------------------------------------------------------


async def handed_out(ledger: Ledger, trials: Sequence[Trial]) -> list[str]:
    """Ids of the trials that are still to be run."""
    return [one.trial_id async for one in ledger.pending(trials)]


def test_a_trial_is_claimed_before_it_is_handed_out() -> None:
    """When an executor gets a trial, the store already knows that it is about to start."""

    async def go() -> list[str]:
        log = Log()
        ids = []
        async for one in Ledger(log, concurrency=3).pending(map(trial, range(20))):
            assert one.trial_id in [claimed for claim in log.claims for claimed in claim]
            ids.append(one.trial_id)
        assert [claimed for claim in log.claims for claimed in claim] == ids
        return ids

    assert asyncio.run(go()) == [f"t{number}" for number in range(20)]


def test_trials_are_claimed_only_when_they_are_needed() -> None:
    """A crash leaves few claims without a start, and a plan of a million is not read ahead."""

    async def go() -> tuple[list[str], int]:
        log, read = Log(), 0

        def endless() -> Iterator[Trial]:
            nonlocal read
            while True:
                read += 1
                yield trial(read)

        pending = Ledger(log, concurrency=4).pending(endless())
        await anext(pending)
        await pending.aclose()  # type: ignore[attr-defined]  # it is a generator
        return log.claims[0], read

    assert asyncio.run(go()) == (["t1", "t2", "t3", "t4"], 4)


def test_claims_grow_with_the_speed_of_the_run() -> None:
    """The faster trials finish, the more are claimed at once, up to a batch; a slow run claims few."""

    async def go() -> list[int]:
        log = Log()
        ledger = Ledger(log, concurrency=2)
        pending = ledger.pending(map(trial, range(5000)))
        for number in range(4000):
            one = await anext(pending)
            await ledger.record(result(one.ordinal), paid=False)
            assert one.ordinal == number
        await ledger.close()
        return [len(claim) for claim in log.claims]

    sizes = asyncio.run(go())
    assert sizes[0] == 2
    assert max(sizes) <= BATCH == 200
    assert max(sizes) > 2


@pytest.mark.parametrize(("passed_s", "claimed"), [(0.0, 50), (MAX_WAIT_S, 50), (1.0, 2)])
def test_only_the_last_moments_tell_how_fast_a_run_is(
    passed_s: float, claimed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What finished long ago says nothing about how many will finish soon."""
    now = 0.0
    monkeypatch.setattr(ledger_module, "time", SimpleNamespace(monotonic=lambda: now))

    async def go() -> list[int]:
        nonlocal now
        log = Log()
        ledger = Ledger(log, concurrency=2)
        for number in range(50):
            await ledger.record(result(number), paid=False)
        now += passed_s
        await anext(ledger.pending(map(trial, range(50, 500))))
        await ledger.close()
        return [len(claim) for claim in log.claims]

    assert asyncio.run(go()) == [claimed]


def test_what_costs_money_alone_is_asked_about() -> None:
    """The first that is refused ends the run, also for cheap trials after it."""
    asked: list[str] = []

    async def admit(one: Trial) -> bool:
        asked.append(one.trial_id)
        return one.ordinal < 3

    async def go() -> list[str]:
        trials = [trial(0), trial(1, paid=True), trial(2), trial(3, paid=True), trial(4)]
        return [one.trial_id async for one in Ledger(Log(), concurrency=4).pending(trials, admit)]

    assert (asyncio.run(go()), asked) == (["t0", "t1", "t2"], ["t1", "t3"])


def test_a_case_is_told_once_with_its_first_repeat() -> None:
    """Further repeats of it write nothing new."""
    told: list[int] = []

    class Telling(Log):
        async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
            told.extend(case.index for case in cases)
            return await super().claim(trials, cases)

    trials = [trial(number).model_copy(update={"repeat": repeat}) for repeat in (1, 2) for number in range(3)]
    asyncio.run(handed_out(Ledger(Telling(), concurrency=2), trials))
    assert told == [0, 1, 2]


def test_a_store_that_counts_no_attempts_interrupted_none() -> None:
    """A trial that it says nothing of is claimed for the first time."""

    class Silent(Log):
        async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
            return Claimed(done=frozenset(), attempts={})

    ledger = Ledger(Silent(), concurrency=2)
    assert asyncio.run(handed_out(ledger, [trial(0), trial(1)])) == ["t0", "t1"]
    assert (ledger.interrupted_attempts, ledger.earlier) == (0, {})


def test_paid_trials_are_claimed_singly() -> None:
    """A claim never holds a second paid trial, so a crash wastes no record of one that was not started."""

    async def go() -> list[list[str]]:
        log = Log()
        trials = [trial(0), trial(1), trial(2, paid=True), trial(3, paid=True), trial(4), trial(5)]
        await handed_out(Ledger(log, concurrency=4), trials)
        return log.claims

    assert asyncio.run(go()) == [["t0", "t1", "t2"], ["t3"], ["t4", "t5"]]


def test_no_trials_no_claims() -> None:
    """An empty plan never asks the store."""

    async def go() -> list[list[str]]:
        log = Log()
        assert await handed_out(Ledger(log, concurrency=4), []) == []
        return log.claims

    assert asyncio.run(go()) == []


def test_a_resumed_run_skips_what_is_done() -> None:
    """Trials with a committed result are not handed out again; they are counted."""

    async def go() -> tuple[list[str], int]:
        log = Log()
        first = Ledger(log, concurrency=4)
        await handed_out(first, [trial(number) for number in range(6)])
        for number in (0, 2, 5):
            await first.record(result(number), paid=False)
        await first.close()
        second = Ledger(log, concurrency=4)
        return await handed_out(second, [trial(number) for number in range(6)]), second.already_done

    assert asyncio.run(go()) == (["t1", "t3", "t4"], 3)


def test_a_fresh_run_has_nothing_behind_it() -> None:
    """First claims are no interruptions."""

    async def go() -> Ledger:
        ledger = Ledger(Log(), concurrency=2)
        await handed_out(ledger, [trial(number) for number in range(3)])
        return ledger

    ledger = asyncio.run(go())
    assert (ledger.earlier, ledger.already_done, ledger.interrupted_attempts) == ({}, 0, 0)


def test_interrupted_attempts_are_counted() -> None:
    """What was claimed and left no result was interrupted; a further attempt knows how many there were."""

    async def go() -> tuple[Ledger, list[int]]:
        log = Log()
        for _ in range(2):
            await handed_out(Ledger(log, concurrency=4), [trial(0), trial(1)])
        third = Ledger(log, concurrency=4)
        await handed_out(third, [trial(0), trial(1), trial(2)])
        for number in (0, 2):
            await third.record(result(number), paid=False)
        await third.close()
        return third, [one.attempts for one in log.results(ResultOrder.PLAN)]

    ledger, attempts = asyncio.run(go())
    assert attempts == [3, 1]
    assert ledger.interrupted_attempts == 4


def test_trials_without_a_result_are_under_way() -> None:
    """What was handed out and not recorded, resumed trials included; what was skipped is not."""

    async def go() -> list[int]:
        log = Log()
        ledger = Ledger(log, concurrency=4)
        counts = [ledger.under_way]
        await handed_out(ledger, [trial(0), trial(1), trial(2)])
        counts.append(ledger.under_way)
        await ledger.record(result(1), paid=False)
        counts.append(ledger.under_way)
        await ledger.close()
        resumed = Ledger(log, concurrency=4)
        await handed_out(resumed, [trial(0), trial(1), trial(2)])
        return [*counts, resumed.under_way]

    assert asyncio.run(go()) == [0, 3, 2, 2]


def test_what_is_recorded_is_no_longer_under_way() -> None:
    """The list of attempts does not grow with the run."""

    async def go() -> dict[str, int]:
        log = Log()
        await handed_out(Ledger(log, concurrency=4), [trial(0), trial(1)])
        ledger = Ledger(log, concurrency=4)
        await handed_out(ledger, [trial(0), trial(1)])
        await ledger.record(result(0), paid=False)
        await ledger.close()
        return ledger.earlier

    assert asyncio.run(go()) == {"t1": 1}


# --- writing ----------------------------------------------------------------------------------------------


def test_cheap_results_are_written_in_batches() -> None:
    """Each batch goes out when it is full, the rest at the end; none is larger than the bound."""

    async def go() -> list[tuple[list[str], bool]]:
        log = Log()
        ledger = Ledger(log, concurrency=1)
        for number in range(2 * BATCH + 50):
            await ledger.record(result(number), paid=False)
            assert len(log.commits) == (number + 1) // BATCH
        await ledger.close()
        return log.commits

    commits = asyncio.run(go())
    assert [len(ids) for ids, _ in commits] == [BATCH, BATCH, 50]
    assert {paid for _, paid in commits} == {False}
    assert [one for ids, _ in commits for one in ids] == [f"t{number}" for number in range(450)]


def test_no_batch_is_larger_than_its_bound_however_many_wait() -> None:
    """While the store is busy more may come to wait than one transaction holds."""

    async def go() -> list[int]:
        log = Log()
        ledger = Ledger(log, concurrency=1)
        log.free.clear()
        recordings = [asyncio.create_task(ledger.record(result(number), paid=False)) for number in range(2 * BATCH + 5)]
        await soon(log.asked)
        log.free.set()
        await asyncio.gather(*recordings)
        await ledger.close()
        return [len(ids) for ids, _ in log.commits]

    sizes = asyncio.run(go())
    assert (max(sizes), sum(sizes)) == (BATCH, 2 * BATCH + 5)


def test_a_waiting_result_is_written_without_further_calls() -> None:
    """A slow run's results do not wait for a batch to fill up."""

    async def go() -> list[int]:
        log = Log()
        ledger = Ledger(log, concurrency=1)
        await ledger.record(result(0), paid=False)
        assert log.kept == []
        await soon(log.written)
        kept = log.kept
        await ledger.close()
        return kept

    assert asyncio.run(go()) == [0]


def test_a_result_waits_for_others_as_long_as_it_may() -> None:
    """What arrives meanwhile is written with it, in one transaction; the first of them does not wait any longer."""

    async def go() -> tuple[list[tuple[list[str], bool]], float]:
        log = Log()
        ledger = Ledger(log, concurrency=1)
        for number in range(3):
            await ledger.record(result(number), paid=False)
            await asyncio.sleep(MAX_WAIT_S / 4)
        await soon(log.written)
        written_at = asyncio.get_running_loop().time()
        await ledger.close()
        return log.commits, written_at

    commits, written_at = run(go())
    assert commits == [(["t0", "t1", "t2"], False)]
    assert written_at == pytest.approx(MAX_WAIT_S)
    assert MAX_WAIT_S == 0.05


def test_the_next_waiting_result_is_written_too() -> None:
    """The bound on waiting holds for every result, not only for the first."""

    async def go() -> list[tuple[list[str], bool]]:
        log = Log()
        ledger = Ledger(log, concurrency=1)
        for number in range(3):
            log.written.clear()
            await ledger.record(result(number), paid=False)
            await soon(log.written)
        return log.commits

    assert [ids for ids, _ in asyncio.run(go())] == [["t0"], ["t1"], ["t2"]]


def test_a_paid_result_is_written_before_anything_else_happens() -> None:
    """When `record` returns, the result has survived a power cut: singly, at once, and marked as paid."""

    async def go() -> list[tuple[list[str], bool]]:
        log = Log()
        ledger = Ledger(log, concurrency=4)
        for number in range(3):
            await ledger.record(result(number), paid=True)
            assert len(log.commits) == number + 1
        return log.commits

    assert asyncio.run(go()) == [(["t0"], True), (["t1"], True), (["t2"], True)]


def test_a_paid_result_takes_waiting_ones_along() -> None:
    """Cheap results that wait are written with it, in order, as safely."""

    async def go() -> list[tuple[list[str], bool]]:
        log = Log()
        ledger = Ledger(log, concurrency=4)
        await ledger.record(result(0), paid=False)
        await ledger.record(result(1), paid=True)
        return log.commits

    commits = asyncio.run(go())
    assert [one for ids, _ in commits for one in ids] == ["t0", "t1"]
    assert commits[-1][1] is True


def test_a_paid_result_is_never_written_as_a_cheap_one() -> None:
    """It arrives while cheap ones are being written: it still is written with the care that its price deserves."""

    async def go() -> list[tuple[list[str], bool]]:
        log = Log()
        ledger = Ledger(log, concurrency=4)
        log.free.clear()
        await ledger.record(result(0), paid=False)
        await soon(log.asked)
        paid = asyncio.create_task(ledger.record(result(1), paid=True))
        await asyncio.sleep(0)
        log.free.set()
        await paid
        await ledger.close()
        return log.commits

    commits = asyncio.run(go())
    assert [one for ids, _ in commits for one in ids] == ["t0", "t1"]
    assert [paid for ids, paid in commits if "t1" in ids] == [True]


def test_commits_do_not_overlap() -> None:
    """However many results arrive at once, the store sees one commit after another and each result once."""

    async def go() -> list[int]:
        log = Log()
        busy = 0

        class OneAtATime(Log):
            async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
                nonlocal busy
                busy += 1
                assert busy == 1
                await asyncio.sleep(0)
                await super().commit(results, paid=paid)
                busy -= 1

        log = OneAtATime()
        ledger = Ledger(log, concurrency=8)
        await asyncio.gather(*(ledger.record(result(number), paid=number % 3 == 0) for number in range(40)))
        await ledger.close()
        written = [one for ids, _ in log.commits for one in ids]
        assert len(written) == len(set(written))
        return log.kept

    assert asyncio.run(go()) == list(range(40))


@quick
@given(st.lists(st.booleans(), max_size=30))
def test_every_result_is_written_once_and_in_order(paid: list[bool]) -> None:
    """Whatever mixture of paid and cheap results arrives, after closing all are kept, and told in order."""
    told: list[int] = []

    async def go() -> Log:
        log = Log()

        def tell(one: TrialResult) -> None:
            assert one.ordinal in log.kept
            told.append(one.ordinal)

        ledger = Ledger(log, concurrency=1, on_commit=tell)
        for number, cost in enumerate(paid):
            await ledger.record(result(number), paid=cost)
        await ledger.close()
        return log

    log = asyncio.run(go())
    assert told == log.kept == list(range(len(paid)))
    assert [one for ids, _ in log.commits for one in ids] == [f"t{number}" for number in told]


def test_nobody_is_told_of_a_result_that_is_not_written() -> None:
    """A result counts once it is safe, not when it arrives."""

    async def go() -> list[int]:
        log, told = Log(), list[int]()
        log.free.clear()
        ledger = Ledger(log, concurrency=1, on_commit=lambda one: told.append(one.ordinal))
        recording = asyncio.create_task(ledger.record(result(0), paid=True))
        await soon(log.asked)
        assert told == []
        log.free.set()
        await recording
        return told

    assert asyncio.run(go()) == [0]


def test_closing_leaves_no_timer_behind() -> None:
    """After `close` nothing is going on, and closing again does nothing."""

    async def go() -> list[tuple[list[str], bool]]:
        log = Log()
        ledger = Ledger(log, concurrency=1)
        await ledger.record(result(0), paid=False)
        await ledger.record(result(1), paid=False)
        await ledger.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        await ledger.close()
        return log.commits

    assert asyncio.run(go()) == [(["t0", "t1"], False)]


def test_closing_waits_for_a_commit_under_way() -> None:
    """A write that the timer began is finished, not begun again."""

    async def go() -> list[tuple[list[str], bool]]:
        log = Log()
        ledger = Ledger(log, concurrency=1)
        log.free.clear()
        await ledger.record(result(0), paid=False)
        await soon(log.asked)
        closing = asyncio.create_task(ledger.close())
        await asyncio.sleep(0)
        assert not closing.done()
        log.free.set()
        await closing
        return log.commits

    assert asyncio.run(go()) == [(["t0"], False)]


# --- a store that fails -----------------------------------------------------------------------------------


def test_a_paid_result_that_cannot_be_written_is_told_at_once() -> None:
    """The caller learns of it with the result, and the result is still there when the store recovers."""

    async def go() -> list[int]:
        log = Log()
        log.error = FULL
        ledger = Ledger(log, concurrency=1)
        with pytest.raises(StoreError, match="no space"):
            await ledger.record(result(0), paid=True)
        log.error = None
        await ledger.close()
        return log.kept

    assert asyncio.run(go()) == [0]


def test_a_full_batch_that_cannot_be_written_is_told_at_once() -> None:
    """The result that fills the batch brings the news."""

    async def go() -> list[int]:
        log = Log()
        log.error = FULL
        ledger = Ledger(log, concurrency=1)
        for number in range(BATCH - 1):
            await ledger.record(result(number), paid=False)
        with pytest.raises(StoreError, match="no space"):
            await ledger.record(result(BATCH - 1), paid=False)
        log.error = None
        await ledger.close()
        return log.kept

    assert asyncio.run(go()) == list(range(BATCH))


async def broken_by_its_timer(log: Log, **options: Any) -> Ledger:
    """A ledger whose store failed while nobody was waiting for it."""
    log.error = FULL
    ledger = Ledger(log, concurrency=1, **options)
    await ledger.record(result(0), paid=False)
    await soon(log.asked)
    return ledger  # the timer's task ended in the step in which it asked


def test_the_next_result_brings_the_news_of_a_failed_write() -> None:
    """A write that failed in the background is raised where somebody awaits."""

    async def go() -> None:
        log = Log()
        ledger = await broken_by_its_timer(log)
        with pytest.raises(StoreError, match="no space"):
            await ledger.record(result(1), paid=False)

    asyncio.run(go())


def test_closing_brings_the_news_of_a_failed_write() -> None:
    """Without a further result, the end of the run does."""

    async def go() -> None:
        log = Log()
        ledger = await broken_by_its_timer(log)
        with pytest.raises(StoreError, match="no space"):
            await ledger.close()

    asyncio.run(go())


def test_nothing_is_lost_if_the_store_recovers_before_the_end() -> None:
    """Results that could not be written wait for the end of the run, and are told then."""

    async def go() -> tuple[list[int], list[int]]:
        log, told = Log(), list[int]()
        ledger = await broken_by_its_timer(log, on_commit=lambda one: told.append(one.ordinal))
        assert told == []
        log.error = None
        await ledger.close()
        return log.kept, told

    assert asyncio.run(go()) == ([0], [0])


@pytest.mark.parametrize("paid", [True, False])
def test_the_result_that_brings_the_news_is_not_lost_either(paid: bool) -> None:
    """It has been run and perhaps paid for: if the store recovers, it is written with the others."""

    async def go() -> list[int]:
        log = Log()
        ledger = await broken_by_its_timer(log)
        with pytest.raises(StoreError):
            await ledger.record(result(1), paid=paid)
        log.error = None
        await ledger.close()
        return log.kept

    assert asyncio.run(go()) == [0, 1]


def test_a_store_that_breaks_in_an_unforeseen_way_is_noticed() -> None:
    """Also an exception that is no store error is raised at the latest at the end."""

    async def go() -> None:
        log = Log()
        log.error = RuntimeError("database is gone")
        ledger = Ledger(log, concurrency=1)
        await ledger.record(result(0), paid=False)
        with pytest.raises(RuntimeError, match="database is gone"):
            await ledger.close()

    asyncio.run(go())


def test_a_cancelled_commit_is_made_again() -> None:
    """Whoever is cancelled while writing loses nothing: the end of the run writes it, and it is told once."""

    async def go() -> tuple[list[int], list[int]]:
        log, told = Log(), list[int]()
        log.free.clear()
        ledger = Ledger(log, concurrency=1, on_commit=lambda one: told.append(one.ordinal))
        recording = asyncio.create_task(ledger.record(result(0), paid=True))
        await soon(log.asked)
        recording.cancel()
        with pytest.raises(asyncio.CancelledError):
            await recording
        assert (log.kept, told) == ([], [])
        log.free.set()
        await ledger.close()
        return log.kept, told

    assert asyncio.run(go()) == ([0], [0])


def test_a_commit_that_was_cancelled_too_late_is_harmless() -> None:
    """If the store had already written when the caller was cancelled, writing again replaces."""

    class Late(Log):
        async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
            await super().commit(results, paid=paid)
            if len(self.commits) == 1:
                await asyncio.Event().wait()

    async def go() -> Late:
        log = Late()
        ledger = Ledger(log, concurrency=1)
        recording = asyncio.create_task(ledger.record(result(0), paid=True))
        await soon(log.written)
        recording.cancel()
        await asyncio.gather(recording, return_exceptions=True)
        await ledger.close()
        return log

    log = asyncio.run(go())
    assert log.kept == [0]
    assert log.commits == [(["t0"], True), (["t0"], True)]


# --- the store of last resort -----------------------------------------------------------------------------


def test_memory_is_not_durable() -> None:
    """It says so, because then nothing can be resumed."""
    assert MemoryStore().durable is False


def test_memory_never_resumes() -> None:
    """Each run is a new one with its own id, also for the same plan after an interruption."""

    async def go() -> list[RunInfo]:
        store = MemoryStore()
        logs = [await store.begin(head(), fresh=False) for _ in range(3)]
        await logs[0].finish(RunState.INTERRUPTED, None)
        logs.append(await store.begin(head(), fresh=False))
        await store.close()
        return [log.info for log in logs]

    infos = asyncio.run(go())
    assert len({info.run_id for info in infos}) == 4
    assert not any(info.resumed for info in infos)
    assert infos[-1].state is RunState.RUNNING
    assert infos[-1].started_at > 1_700_000_000
    assert infos[-1].finished_at is None


def test_a_run_in_memory_keeps_its_results() -> None:
    """They come in plan order or case by case, as often as they are asked for; a later commit replaces."""

    async def go() -> MemoryLog:
        log = await MemoryStore().begin(head(), fresh=True)
        await log.commit([result(3, case_index=0), result(1, case_index=1)], paid=False)
        await log.commit([result(2, case_index=0, repeat=2), result(1, case_index=1, attempts=2)], paid=True)
        return log

    log = asyncio.run(go())
    for _ in range(2):
        assert [one.ordinal for one in log.results(ResultOrder.PLAN)] == [1, 2, 3]
        assert [one.ordinal for one in log.results(ResultOrder.CASE)] == [3, 2, 1]
    assert [one.attempts for one in log.results(ResultOrder.PLAN)] == [2, 1, 1]


def test_a_claim_in_memory_counts_attempts_and_knows_what_is_done() -> None:
    """As any store does it: attempts of this time included, results of this run only."""

    async def go() -> tuple[Claimed, Claimed]:
        log = await MemoryStore().begin(head(), fresh=True)
        first = await log.claim([trial(0), trial(1)])
        await log.commit([result(0)], paid=False)
        return first, await log.claim([trial(0), trial(1), trial(2)])

    first, second = asyncio.run(go())
    assert (first.done, first.attempts) == (frozenset(), {"t0": 1, "t1": 1})
    assert second.done == {"t0"}
    assert second.attempts == {"t1": 2, "t2": 1}


def test_finishing_in_memory_is_told_and_kept() -> None:
    """State, time and summary are those of the end."""

    async def go() -> tuple[RunInfo, MemoryLog, MemoryStore]:
        store = MemoryStore()
        log = await store.begin(head(), fresh=False)
        return await log.finish(RunState.FINISHED, Summary(counts=Counts(total=3), groups=())), log, store

    info, log, store = asyncio.run(go())
    assert info == log.info
    assert info.state is RunState.FINISHED
    assert info.finished_at is not None
    assert info.finished_at >= info.started_at
    (view,) = store.scan(RunQuery())
    assert (view.run, view.summary.counts.total) == (info, 3)


def suite_head(name: str, *targets: str) -> SuiteHead:
    """A suite with targets."""
    return SuiteHead(
        id=name,
        format="f",
        root="/",
        content_digest="",
        case_count=1,
        targets=tuple(TargetHead(id=target) for target in targets),
        arms=("direct",),
    )


def scanned() -> tuple[MemoryStore, list[str]]:
    """Three runs of different suites and targets, and their ids, oldest first."""

    async def go() -> tuple[MemoryStore, list[str]]:
        store = MemoryStore()
        heads = [
            head("p1", suite_head("one", "a")),
            head("p2", suite_head("two", "a", "b")),
            head("p3", suite_head("one", "b"), suite_head("three")),
        ]
        logs = [await store.begin(one, fresh=True) for one in heads]
        await logs[1].commit([result(7)], paid=False)
        return store, [log.info.run_id for log in logs]

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("query", "plans"),
    [
        (RunQuery(), ["p3", "p2", "p1"]),
        (RunQuery(limit=2), ["p3", "p2"]),
        (RunQuery(suite_id="one"), ["p3", "p1"]),
        (RunQuery(suite_id="one", limit=1), ["p3"]),
        (RunQuery(suite_id="absent"), []),
        (RunQuery(target_id="b"), ["p3", "p2"]),
        (RunQuery(suite_id="two", target_id="b"), ["p2"]),
        (RunQuery(run_ids=("absent",)), []),
    ],
    ids=str,
)
def test_runs_in_memory_are_found_newest_first(query: RunQuery, plans: list[str]) -> None:
    """Every field of the query narrows the answer, the limit last."""
    store, _ = scanned()
    assert [view.head.plan_id for view in store.scan(query)] == plans


def test_runs_in_memory_are_found_by_id() -> None:
    """Several ids give several runs, each with its own head and results."""
    store, ids = scanned()
    views = list(store.scan(RunQuery(run_ids=(ids[0], ids[1]))))
    assert [view.run.run_id for view in views] == [ids[1], ids[0]]
    assert [[one.ordinal for one in view.results()] for view in views] == [[7], []]
    assert views[0].summary == Summary.empty()


# --- orders -----------------------------------------------------------------------------------------------


PLACES: list[dict[str, Any]] = [
    {
        "suite_id": suite,
        "target_id": target,
        "arm": arm,
        "runner": runner,
        "model": model,
        "case_index": index,
        "repeat": n,
    }
    for suite in ("s1", "s2")
    for target in (None, "t")
    for arm in ("a", "b")
    for runner in ("r", "q")
    for model in (None, "m")
    for index in (2, 10)
    for n in (1, 2)
]


@quick
@given(st.permutations(PLACES))
def test_case_order_keeps_all_of_a_case_together(places: list[dict[str, Any]]) -> None:
    """Cases come one after another, by number; in each the groups, in each of these the repeats by number."""
    ordered = sorted((result(0, **place) for place in places), key=case_order)
    cases = [(one.suite_id, one.case_index) for one in ordered]
    assert list(dict.fromkeys(cases)) == [("s1", 2), ("s1", 10), ("s2", 2), ("s2", 10)]
    assert cases == sorted(cases)
    for first in range(0, len(ordered), 2):
        left, right = ordered[first : first + 2]
        assert left.group == right.group
        assert (left.repeat, right.repeat) == (1, 2)


def test_paid_results_that_come_during_a_write_are_written_together() -> None:
    """Each is written as safely as one alone, none waits for a later one, and each record returns once it is kept."""

    async def go() -> list[tuple[list[str], bool]]:
        log = Log()
        ledger = Ledger(log, concurrency=8)
        log.free.clear()
        first = asyncio.create_task(ledger.record(result(0), paid=True))
        await soon(log.asked)
        others = [asyncio.create_task(ledger.record(result(number), paid=number != 3)) for number in range(1, 6)]
        await asyncio.sleep(0)
        assert not [task for task in (first, *others) if task.done() and task is not others[2]]
        log.free.set()
        await asyncio.gather(first, *others)
        await ledger.close()
        return log.commits

    assert asyncio.run(go()) == [(["t0"], True), (["t1", "t2"], True), (["t3"], False), (["t4", "t5"], True)]
