"""Clauses about workers: one that dies, one that comes late, one that is bad, and an answer that comes twice.

The kit cannot know how an executor has its workers, so whoever checks one hands a `Workers` that can find them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from skillgauge.api import Executor, JsonObject, Results

from ..announcing import Maker
from ..clauses import answered, called, require
from .bench import AGAIN, Bench, ChangeRecipe, MakeExecutor, each, require_all_passed, session_like

LATE_S = 0.1
"""Between two trials that go on while a worker joins."""
LATE_TRIALS = 1000
LATE_CONCURRENCY = 8
"""More than the workers that a run of the check begins with."""


class Workers(Protocol):
    """The workers of one executor, as its own tests find them. What an executor cannot have answers False."""

    def count(self) -> int:
        """How many live, wherever they are."""

    def kill_one(self) -> None:
        """Kill one that makes an attempt, without a warning, as `kill -9` does."""

    def add(self) -> bool:
        """Let another join the run; False if those that a run begins with are all."""

    def spoil_one(self) -> bool:
        """Before a run: let one of several be unable to prepare it, while the others are."""

    def mislead_one(self, recipe: ChangeRecipe) -> bool:
        """Before a run: let one of several get the recipe that this makes of the run's; False if all get the same."""

    def repeat_one(self) -> bool:
        """Before a run: let the first answer of a worker come twice; False if nothing between them can do so."""


FindWorkers = Callable[[Executor], Workers]
"""Makes what finds the workers of an executor, before that runs."""


def with_options(make: Maker[Executor], options: JsonObject) -> MakeExecutor:
    """Return what makes executors with these options for a run of any concurrency, and can be pickled."""
    return partial(_made, make, options)


def _made(make: Maker[Executor], options: JsonObject, _concurrency: int) -> Executor:
    return make(options)


async def _read(results: Results) -> None:
    """Take results until they end."""
    async for _ in results:
        pass


@dataclass(frozen=True)
class WorkerClauses:
    """The clauses, on a bench."""

    bench: Bench
    find: FindWorkers

    async def one_dies(self) -> None:
        """Two attempts are under way, and the worker of one is killed."""
        executor, workers = self._made(2)
        async with self.bench.marks() as marks:
            trials = await self.bench.trials(range(6), marks=marks)
            results, _ = await self.bench.run(2, each(trials), executor=executor, retry=AGAIN)
            reading = asyncio.ensure_future(self.bench.all_of(results, "when a worker dies, "))
            await self.bench.until("the start of two trials at once", lambda: len(marks.under_way) == 2)
            require(called("Workers.count", workers.count) > 0, "Workers.count must tell of those that make attempts")
            called("Workers.kill_one", workers.kill_one)
            first = marks.seen[:2]
            await self.bench.until("the end of an attempt whose worker was killed", lambda: any(m.ended for m in first))
            marks.release()
            require_all_passed(await reading, len(trials), "when a worker dies")
            require(results.complete, "when a worker dies, Results.complete must be True in the end")
            await self.bench.close(results)

    async def one_dies_grading(self) -> None:
        """Two paid sessions have ended and are graded, and the worker of one is killed: none is made again."""
        executor, workers = self._made(2)
        bench, when = self.bench.of_sessions(), "when a worker dies while it grades"
        async with bench.marks() as sessions, bench.marks() as gradings:
            sessions.release()
            (pattern,) = await bench.trials(range(1))
            trials = [session_like(pattern, one, sessions.address, gradings.address) for one in range(4)]
            results, _ = await bench.run(2, each(trials), executor=executor, retry=AGAIN)
            reading = asyncio.ensure_future(bench.all_of(results, f"{when}, "))
            await bench.until("the grading of two sessions at once", lambda: len(gradings.under_way) == 2)
            first = gradings.seen[:2]
            called("Workers.kill_one", workers.kill_one)
            await bench.until("the end of a grading whose worker was killed", lambda: any(m.ended for m in first))
            gradings.release()
            require_all_passed(await reading, len(trials), when)
            made = Counter(one.ordinal for one in sessions.seen)
            again = sorted(ordinal for ordinal, times in made.items() if times > 1)
            text = f"{when}, a session that had ended must be graded and not made again, but these trials had another"
            require(not again, f"{text}: {again}")
            await bench.close(results)

    async def one_joins(self) -> None:
        """While more trials are to be made than workers are there, one joins; it is given one of them."""
        executor, workers = self._made(LATE_CONCURRENCY)
        async with self.bench.marks() as marks:
            trials = await self.bench.trials(range(LATE_TRIALS), marks=marks)
            results, _ = await self.bench.run(LATE_CONCURRENCY, each(trials), executor=executor)
            reading = asyncio.ensure_future(_read(results))
            await self.bench.until(
                "the start of a trial in each worker that a run begins with",
                lambda: len({one.worker for one in marks.seen}) >= min(2, workers.count() or 1),
            )
            if called("Workers.add", workers.add):
                known = {one.worker for one in marks.seen}

                def came() -> bool:
                    marks.release_one()
                    return bool({one.worker for one in marks.seen} - known)

                await self.bench.until("a trial made by a worker that joined late", came, pause_s=LATE_S)
            called("Results.stop", results.stop)
            await answered("iterating Results after a stop", self.bench.patience_s, lambda: reading)
            await self.bench.close(results)

    async def one_is_bad(self) -> None:
        """One worker of several cannot prepare the run: its trials are made by the others, at the first attempt."""
        executor, workers = self._made(3)
        if not called("Workers.spoil_one", workers.spoil_one):
            return
        results, _ = await self.bench.run(3, each(await self.bench.trials(range(30))), executor=executor)
        require_all_passed(await self.bench.all_of(results), 30, "when one worker of several is bad")
        await self.bench.close(results)

    async def one_repeats(self) -> None:
        """An answer comes twice, as when a worker that was given up comes back: it counts once."""
        executor, workers = self._made(2)
        if not called("Workers.repeat_one", workers.repeat_one):
            return
        results, _ = await self.bench.run(2, each(await self.bench.trials(range(12))), executor=executor)
        seen = await self.bench.all_of(results)
        require_all_passed(seen, 12, "when an answer comes twice")
        wrong = [one.ordinal for one in seen if one.execution.output != one.case_id]
        require(not wrong, f"when an answer comes twice, it must not be that of another trial, but was of {wrong}")
        await self.bench.close(results)

    def _made(self, concurrency: int) -> tuple[Executor, Workers]:
        executor = self.bench.executor(concurrency)
        return executor, called("finding the workers", self.find, executor)
