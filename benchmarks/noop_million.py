"""Throughput and memory of the kernel alone: in-process trials that do nothing, planned, scored, stored, aggregated.

Run: python benchmarks/noop_million.py [TRIALS] [unsigned]

The floor measured in the same run is a bare asyncio loop that makes one task per item at the same concurrency. Garbage
is searched for as seldom as in the program.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from skillgauge.api import Case, Check, Execution, Suite, Target
from skillgauge.cli.process import GARBAGE_THRESHOLD
from skillgauge.plan.planning import Terms, make_plan
from skillgauge.plan.survey import survey
from skillgauge.run.direct import DirectStages
from skillgauge.run.grading import Grading
from skillgauge.run.pipeline import Job, carry_out
from skillgauge.run.scorers import BoundScorer
from skillgauge.run.signed_store import sign
from skillgauge.run.stored_run import StoreKey
from skillgauge.types.arms import DIRECT, ArmKind
from skillgauge.types.plan import Cell, Plan, Selection, SuitePlan
from skillgauge_scorer_exact.options import ExactOptions
from skillgauge_scorer_exact.scorer import ExactScorer
from skillgauge_store_sqlite.plugin import skillgauge_stores
from skillgauge_testkit import FakeAdapter, FakeSandbox
from skillgauge_testkit.fakes import FakeScorers

CONCURRENCY = 16


class Cases:
    """As many cases as asked for, made one by one."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._checks = (Check(id="check", scorer="exact", options={"value": "ok"}),)

    def __iter__(self) -> Iterator[Case]:
        for index in range(self._count):
            yield Case(
                id=f"case-{index:07}",
                input={"n": index},
                checks=self._checks,
            )


def plan_of(count: int) -> tuple[Plan, FakeAdapter]:
    """A plan of that many trials, and the adapter that does nothing."""
    adapter = FakeAdapter(lambda request, target: Execution(output="ok", duration_s=0.0), name="noop", remember=False)
    target = Target(id="noop", adapter="noop")
    suite = Suite(id="noop", format="none", root="/", cases=Cases(count), targets=(target,))
    cells = (Cell(arm=DIRECT, runner=adapter.identity(target), target=target),)
    found = survey(suite, Selection())
    assert not found.problems
    return make_plan([SuitePlan(suite, cells)], [found], Terms(runs=1)), adapter


class Key:
    """The key of a user who has one."""

    def find(self) -> StoreKey:
        """The key."""
        return StoreKey(bytes(32))

    make = find


async def kernel(count: int, folder: Path, *, signed: bool) -> tuple[float, int]:
    """Seconds for the whole pipeline, and how many trials passed."""
    provider = next(iter(skillgauge_stores()))
    kept = provider.make(provider.options.model_validate({"location": str(folder / "noop.db")}))
    store = sign(kept, Key(), print) if signed else kept
    started = time.perf_counter()
    plan, adapter = plan_of(count)
    stages = DirectStages(lambda target: adapter, FakeSandbox())
    scorer = ExactScorer(ExactOptions(value="ok"))
    job = Job(
        stages={ArmKind.DIRECT: stages},
        grading=Grading(FakeScorers(lambda check: BoundScorer("exact", scorer))),
        figures=lambda summary: {},
        store=store,
        concurrency=CONCURRENCY,
        close=stages.close,
    )
    outcome = await carry_out(plan, job)
    await store.close()
    return time.perf_counter() - started, outcome.view.summary.counts.passed


async def floor(count: int) -> float:
    """Seconds of bare asyncio: a task per item and nothing else."""

    async def nothing() -> None:
        await asyncio.sleep(0)

    limit = asyncio.Semaphore(CONCURRENCY)

    async def one() -> None:
        async with limit:
            await nothing()

    started = time.perf_counter()
    for _ in range(count // 1000):
        await asyncio.gather(*[asyncio.create_task(one()) for _ in range(1000)])
    return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    gc.set_threshold(GARBAGE_THRESHOLD)
    with tempfile.TemporaryDirectory() as name:
        seconds, passed = asyncio.run(kernel(count, Path(name), signed="unsigned" not in sys.argv))
        size = sum(path.stat().st_size for path in Path(name).iterdir())
    assert passed == count, f"{passed} of {count} passed"
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    bare = asyncio.run(floor(min(count, 100_000))) / min(count, 100_000)
    rate = count / seconds
    print(f"{count} trials in {seconds:.1f} s: {rate:,.0f}/s, peak {rss:.0f} MB RSS, {size / 2**20:.0f} MB on disk")
    print(f"bare asyncio: {1 / bare:,.0f} items/s; ratio {rate * bare:.2f}")


if __name__ == "__main__":
    main()
