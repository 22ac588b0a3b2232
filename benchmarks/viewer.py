"""Times of the pages of `skillgauge view` over a large store, against a page that reads nothing.

Run: python benchmarks/viewer.py [RUNS [TRIALS [STEPS [CHARACTERS]]]]

A store is made of RUNS (1,000) finished runs of a comparison: one with 1,000 trials, one with 5,000, every other with
TRIALS (40), each with a session of STEPS (12) of CHARACTERS (200) of words by chance; and of a run of 1,000 trials that
goes on, of which a few end between two looks. Pages are asked of the program as a browser asks, one after another.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
from measure import BIN, machine, verdict

from skillgauge.api import (
    CaseHead,
    EventKind,
    Execution,
    Kept,
    ResultOrder,
    Score,
    Trajectory,
    TrajectoryEvent,
    TrialResult,
    Usage,
    Verdict,
)
from skillgauge.api.report import RunState, RunView, summarize
from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.store import SqliteStore
from skillgauge_testkit import contract_views

LARGE = 1_000
"""Trials of the one large run."""
HUGE = 5_000
"""Trials of the largest run; its page is measured, and nothing else of it."""
DEFAULTS = (1_000, 40, 12, 200)
"""Runs, trials of most of them, steps of a session, and characters of a step."""
TIMES = 5
GOALS_S = {"list": 0.3, "list, filtered": 0.3, "run": 0.5, "case": 0.3, "trial": 0.3, "comparison": 1.0, "history": 1.0}
AT_ONCE = 8
"""Trials that end between two looks at the run that goes on."""
MEMORY_GOAL_MB = 150


def main() -> None:
    """Make the store, measure and print."""
    words = [int(word) for word in sys.argv[1:]]
    runs, trials, steps, characters = (*words, *DEFAULTS[len(words) :])
    session = session_of(steps, characters)
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "runs.db")
        began = time.perf_counter()
        asyncio.run(fill(store, runs, trials, session))
        size, took = store.stat().st_size / 1e6, time.perf_counter() - began
        print(f"store: {runs:,} runs of {trials} trials, but one of {LARGE:,} and one of {HUGE:,}")
        print(f"sessions of {steps} steps of {characters:,} characters: {size:.0f} MB, made in {took:.0f} s")
        with served(store, folder) as (client, pid):
            floor = seconds(client, "/view.css")[1]
            measure(client, floor)
            first, best = seconds(client, huge_address())
            print(f"run of {HUGE:,} trials: {first:.3f} s at first, {best:.3f} s at best")
            measure_under_way(client, store, session, floor)
            memory = memory_mb(pid)
        print(f"memory: {memory:.0f} MB (goal {MEMORY_GOAL_MB}: {verdict(memory <= MEMORY_GOAL_MB)})")


async def fill(place: Path, runs: int, trials: int, session: Trajectory) -> None:
    """Keep finished runs in a store."""
    store = SqliteStore(SqliteOptions(location=str(place)))
    small, large, huge = (view_of(count, session) for count in (trials, LARGE, HUGE))
    for number in range(runs):
        view = {runs - 2: large, 0: huge}.get(number, small)  # the oldest, which no other page is about
        info = view.run.model_copy(update={"run_id": run_id(number), "started_at": 1_700_000_000.0 + 3_600 * number})
        assert await store.keep(replace(view, run=info.model_copy(update={"finished_at": info.started_at + 60})))
    await store.close()


def run_id(number: int) -> str:
    """The id of a run by its place, the oldest first."""
    return f"run{number:05}"


def huge_address() -> str:
    """The address of the page of the largest run."""
    return f"/runs/{run_id(0)}"


def view_of(trials: int, session: Trajectory) -> RunView:
    """A finished comparison of two arms with so many trials, two of each case in each arm."""
    view = next(view for what, view in contract_views() if "two arms" in what)
    results = list(results_of(trials, session))
    cases = [
        CaseHead(suite_id="demo", index=index, id=f"case-{index}", prompt=f"Do the task {index}.", digest=f"d{index}")
        for index in range(trials // 4)
    ]
    source = Kept(lambda: results, cases)
    suite = view.head.suites[0].model_copy(update={"case_count": len(cases), "runs": 2})
    head = view.head.model_copy(update={"suites": (suite,), "trial_count": trials, "runs": 2})
    summary = summarize(head, source.results(ResultOrder.CASE), figures=lambda _summary: {})
    return replace(view, head=head, summary=summary, source=source)


def session_of(steps: int, characters: int) -> Trajectory:
    """A session whose texts cannot be compressed to nothing."""
    chance = random.Random(1)
    words = [f"w{number:04}" for number in range(4_000)]
    events = tuple(
        TrajectoryEvent(
            kind=EventKind.TOOL_CALL if step % 2 else EventKind.MESSAGE,
            name="Bash",
            text=" ".join(chance.choices(words, k=characters // 6)),
        )
        for step in range(steps)
    )
    return Trajectory(events=events, skills_offered=("demo",), turns=2)


def results_of(trials: int, session: Trajectory) -> Iterator[TrialResult]:
    """Trials in the order of a plan."""
    template = next(iter(next(view for what, view in contract_views() if "two arms" in what).results()))
    for ordinal in range(trials):
        index, arm, repeat = ordinal // 4, ("with_skill", "without_skill")[ordinal % 2], ordinal % 4 // 2 + 1
        passed = arm == "with_skill" or index % 2 == 0
        yield template.model_copy(
            update={
                "trial_id": f"{ordinal:032x}",
                "ordinal": ordinal,
                "case_id": f"case-{index}",
                "case_index": index,
                "arm": arm,
                "repeat": repeat,
                "verdict": Verdict.PASS if passed else Verdict.FAIL,
                "value": float(passed),
                "scores": (Score.passed("it is there") if passed else Score.failed("no such file"),),
                "execution": Execution(
                    text="done " * 50,
                    duration_s=4.0,
                    usage=Usage(input_tokens=1_000, output_tokens=20, cost_usd=0.01, cost_basis="reported"),
                    trajectory=session,
                ),
            }
        )


@contextmanager
def served(store: Path, folder: str) -> Iterator[tuple[httpx.Client, int]]:
    """Serve the store, and give a client that was let in and the id of the program."""
    began = time.perf_counter()
    command = [str(BIN / "skillgauge"), "--json", "view", "--no-open", "--store", str(store)]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        document = json.loads("".join([*iter(server.stdout.readline, "}\n"), "}"]))
        with httpx.Client(base_url=f"http://127.0.0.1:{document['port']}", trust_env=False, timeout=60) as client:
            client.get(document["address"]).raise_for_status()
            print(f"start until the first answer: {time.perf_counter() - began:.2f} s")
            yield client, server.pid
    finally:
        server.terminate()
        server.wait()


def measure(client: httpx.Client, floor: float) -> None:
    """Ask for every kind of page of runs that have ended, and print how long each takes."""
    for name, address in page_addresses(client).items():
        tell(name, *seconds(client, address), floor)


def measure_under_way(client: httpx.Client, place: Path, session: Trajectory, floor: float) -> None:
    """Ask for the page of a run while its trials end, and print how long it takes."""
    view = view_of(LARGE, session)
    results = list(view.source.results(ResultOrder.PLAN))
    with asyncio.Runner() as runner:
        store = SqliteStore(SqliteOptions(location=str(place)))
        log = runner.run(store.begin(view.head.model_copy(update={"plan_id": "under-way"}), fresh=True))
        address = f"/runs/{log.info.run_id}?follow=1"
        until = LARGE - TIMES * AT_ONCE
        runner.run(log.commit(results[:until], paid=True))
        times: list[float] = []
        for start in range(until, LARGE, AT_ONCE):
            times.append(second(client, address))
            runner.run(log.commit(results[start : start + AT_ONCE], paid=True))
        runner.run(log.finish(RunState.STOPPED, None))
        runner.run(store.close())
    tell("run", times[0], min(times), floor, "run under way")


def tell(name: str, first: float, best: float, floor: float, title: str = "") -> None:
    """Print how long a page takes, against its goal."""
    goal = GOALS_S[name]
    taken = f"{first:.3f} s at first, {best:.3f} s at best"
    is_met = (first if name == "run" else best) <= goal  # a run is read as a whole for its first look alone
    print(f"{title or name}: {taken} (goal {goal} s: {verdict(is_met)}; floor {floor:.4f} s)")


def page_addresses(client: httpx.Client) -> dict[str, str]:
    """The address of each kind of page; of runs, the large one."""
    rows = [part.split('"')[0] for part in client.get("/runs").text.split('<th scope="row" class="name"><a href="')[1:]]
    large = rows[1]
    key = large.rsplit("/", 1)[1]
    return {
        "list": "/runs",
        "list, filtered": "/runs?q=demo&model=model-1&sort=lift&page=5",
        "run": large,
        "case": f"{large}/cases/0-{LARGE // 4 - 1}",
        "trial": f"{large}/trials/{LARGE - 1}",
        "comparison": f"/compare?a={rows[2].rsplit('/', 1)[1]}&b={key}",
        "history": "/history?skill=skill",
    }


def seconds(client: httpx.Client, address: str) -> tuple[float, float]:
    """The time of the first answer, and the least of some."""
    times = [second(client, address) for _ in range(TIMES)]
    return times[0], min(times)


def second(client: httpx.Client, address: str) -> float:
    """The time of an answer."""
    began = time.perf_counter()
    client.get(address).raise_for_status()
    return time.perf_counter() - began


def memory_mb(pid: int) -> float:
    """The most memory that a process has had."""
    status = Path(f"/proc/{pid}/status").read_text()
    lines: Sequence[str] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(lines[0].split()[1]) / 1_024


if __name__ == "__main__":
    main()
