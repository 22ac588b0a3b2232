"""Measure how many paid results a store keeps each second: one after another, and as a run writes them.

    python benchmarks/stores.py                              # an SQLite file in a temporary folder
    python benchmarks/stores.py postgresql://tests@/evals    # a database of its own, which is filled

While one write is under way other results wait, and are written together by the next. The number of transactions does
not depend on what else the machine does.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from skillgauge.api import RunLog, Store, TrialResult
from skillgauge.plan.resources import open_store
from skillgauge.plugins.installed import read_index
from skillgauge.plugins.registry import Registry
from skillgauge.run.ledger import Ledger
from skillgauge_testkit.contract import samples

RESULTS = 1_000
PLACES = (1, 8, 32, 200)


class Counted:
    """The log of a run whose commits are counted."""

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self.commits = 0

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        """See `RunLog.commit`."""
        self.commits += 1
        await self._log.commit(results, paid=paid)


async def measure(store: Store, places: int) -> tuple[float, int]:
    """Results each second with so many places, and the transactions that they took."""
    log = Counted(await store.begin(samples.head(f"benchmark {time.time_ns()}"), fresh=True))
    ledger = Ledger(cast("RunLog", log), concurrency=places)
    numbers = iter(range(RESULTS))

    async def work() -> None:
        for number in numbers:
            await ledger.record(samples.result(number), paid=True)

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(places)))
    spent_s = time.perf_counter() - began
    await ledger.close()
    return RESULTS / spent_s, log.commits


async def main(place: str) -> None:
    """Print a line for each number of places."""
    store = open_store(place, Registry(read_index()))
    for places in PLACES:
        rate, commits = await measure(store, places)
        print(f"{places:4} at once: {rate:8,.0f} paid results/s, {commits:5,} transactions for {RESULTS:,}")
    await store.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(main(str(Path(folder, "runs.db"))))
