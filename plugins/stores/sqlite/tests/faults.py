"""Injects faults into runs that other processes carry out, finishes those runs, and says what is wrong with them then.

    faults.py FOLDER SEED COUNT    prints a JSON object: how many faults of each kind, and every problem

A process of its own, because it forks: what takes long to import is imported once.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import builders

from skillgauge.api import Execution, RunQuery, StoreError
from skillgauge.api.report import RunState
from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.ownership import Timing
from skillgauge_store_sqlite.store import SqliteStore

TRIALS = 40
BATCH = 4
DAY_S = 86_400.0


async def carry_out(path: Path, say: Callable[..., None], clock: Callable[[], float]) -> None:
    """Begin or resume the run and finish it; each result tells who made it, and is told once it is committed."""
    store = SqliteStore(SqliteOptions(location=str(path)), timing=Timing(clock=clock))
    try:
        log = await store.begin(builders.head(), fresh=False)
        say("begun", log.info.run_id, log.info.resumed)
        for start in range(0, TRIALS, BATCH):
            trials = [builders.trial(n) for n in range(start, start + BATCH)]
            claimed = await log.claim(trials)
            mine = [trial.ordinal for trial in trials if trial.trial_id not in claimed.done]
            made = Execution(output={"by": os.getpid()}, duration_s=0.0)
            await log.commit([builders.result(n, execution=made) for n in mine], paid=False)
            for ordinal in mine:
                say("done", ordinal, os.getpid())
        await log.finish(RunState.FINISHED, builders.summary(TRIALS))
        say("finished")
    finally:
        await store.close()


@dataclass
class Worker:
    """A forked process that carries a run out, and what it has told."""

    path: Path
    clock: Callable[[], float] = time.time
    file_limit: int | None = None
    run_id: str = ""
    resumed: bool = False
    finished: bool = False
    done: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        reading, writing = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(reading)
            os._exit(self._work(writing))
        os.close(writing)
        self._told = os.fdopen(reading)

    def _work(self, writing: int) -> int:
        def say(*words: object) -> None:
            os.write(writing, f"{' '.join(map(str, words))}\n".encode())

        if self.file_limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.file_limit, resource.RLIM_INFINITY))
        try:
            asyncio.run(carry_out(self.path, say, self.clock))
        except StoreError:
            return 3
        except BaseException:  # noqa: BLE001 - a forked process must not go on with what its parent does
            traceback.print_exc()
            return 4
        return 0

    def hear(self, most: int | None = None) -> None:
        """Listen until so many results are told, or until its end."""
        while (most is None or len(self.done) < most) and (words := self._told.readline().split()):
            match words:
                case ["begun", run_id, resumed]:
                    self.run_id, self.resumed = run_id, resumed == "True"
                case ["done", ordinal, by]:
                    self.done[int(ordinal)] = int(by)
                case ["finished"]:
                    self.finished = True

    def end(self) -> int:
        """Hear the rest, and how it ended; 0, 3 for trouble of the store, negative for a signal."""
        self.hear()
        self._told.close()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def killed(path: Path, chance: random.Random) -> Iterator[Worker]:
    """SIGKILL at any moment."""
    one = Worker(path)
    one.hear(chance.randrange(TRIALS))
    os.kill(one.pid, signal.SIGKILL)
    yield one


def stopped(path: Path, chance: random.Random) -> Iterator[Worker]:
    """Stopped while another begins the same; it must not lose its run to that one."""
    one = Worker(path)
    one.hear(1 + chance.randrange(TRIALS // 2))
    os.kill(one.pid, signal.SIGSTOP)
    other = Worker(path)
    other.hear(1)
    os.kill(one.pid, signal.SIGCONT)
    if other.resumed and not one.finished:
        one.hear()
        assert one.run_id != other.run_id or one.finished, "a stopped process lost its run"
    yield from (one, other)


def full(path: Path, chance: random.Random) -> Iterator[Worker]:
    """No file may grow any further."""
    yield Worker(path, file_limit=chance.randrange(1_000, 120_000))


def jumped(path: Path, chance: random.Random) -> Iterator[Worker]:
    """The clock goes back and forth by days, and the process is killed in between."""
    one = Worker(path, clock=lambda: time.time() + chance.uniform(-9, 9) * DAY_S)
    one.hear(chance.randrange(TRIALS))
    os.kill(one.pid, signal.SIGKILL)
    yield one


def doubled(path: Path, chance: random.Random) -> Iterator[Worker]:
    """Two at once, one of which is killed."""
    one, other = Worker(path), Worker(path)
    one.hear(chance.randrange(TRIALS))
    os.kill(one.pid, signal.SIGKILL)
    yield from (one, other)


def truncated(path: Path, chance: random.Random) -> Iterator[Worker]:
    """A copy of a killed run's files is cut: it tells that it is damaged, or a part of the run, and nothing twice."""
    one = next(killed(path, chance))
    one.end()
    copy = path.with_name("copy.db")
    for end in ("", "-wal"):
        if Path(f"{path}{end}").exists():
            shutil.copy(f"{path}{end}", f"{copy}{end}")
    victim = Path(f"{copy}{chance.choice(['', '-wal'])}")
    if victim.exists():
        os.truncate(victim, chance.randrange(victim.stat().st_size + 1))
    try:
        for view in SqliteStore(SqliteOptions(location=str(copy))).scan(RunQuery()):
            ordinals = [result.ordinal for result in view.results()]
            assert len(ordinals) == len(set(ordinals)) <= TRIALS, f"twice in a cut copy: {ordinals}"
    except StoreError:
        pass
    yield Worker(path)


KINDS = (killed, stopped, full, jumped, doubled, truncated)


def problems_of(path: Path, kind: Callable[[Path, random.Random], Iterator[Worker]], seed: int) -> list[str]:
    """Inject one fault, go on until the run is finished, and compare what was told with what is stored."""
    chance = random.Random(seed)
    workers = list(kind(path, chance))
    ends = [worker.end() for worker in workers if not worker._told.closed]
    found = [f"a worker ended with {end}" for end in ends if end not in (0, 3, -signal.SIGKILL)]
    for _ in range(4):
        again = Worker(path)
        workers.append(again)
        if again.end() != 0 or not again.finished:
            found.append("a run without a fault did not end well")
        if not again.resumed:
            break
    stored: dict[str, dict[int, int]] = {}
    sql = (
        "SELECT run_id, state, case_index, json_extract(body, '$.execution.output.by') FROM results "
        "JOIN groups USING (grp) JOIN runs USING (run)"
    )
    for run_id, state, ordinal, by in builders.query(path, sql):
        if state != "finished":
            found.append(f"run {run_id} is {state}")
        if ordinal in stored.setdefault(run_id, {}):
            found.append(f"trial {ordinal} of {run_id} is stored twice")
        stored[run_id][ordinal] = by
    found += [f"run {run_id} has {len(rows)} results" for run_id, rows in stored.items() if len(rows) != TRIALS]
    for worker in workers:
        lost = [n for n, by in worker.done.items() if stored.get(worker.run_id, {}).get(n) != by]
        found += [f"what was told of trials {lost} is lost or was made again"] if lost else []
    if builders.query(path, "PRAGMA integrity_check") != [("ok",)]:
        found.append("the file is damaged")
    return found


def main() -> None:
    """Inject the faults, each into a file of its own."""
    folder, seed, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    counts: Counter[str] = Counter()
    found = []
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        place = folder / f"{seed}-{number}"
        place.mkdir()
        counts[kind.__name__] += 1
        found += [
            f"{kind.__name__} {seed + number}: {one}" for one in problems_of(place / "runs.db", kind, seed + number)
        ]
    sys.stdout.write(json.dumps({"counts": counts, "problems": found}))


if __name__ == "__main__":
    main()
