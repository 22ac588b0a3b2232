"""What sandbox `bubblewrap` costs over `local`: a workspace by itself, and each process in one.

Run: python benchmarks/sandbox.py [TURNS]

Everything is measured in turns, `local` right before `bubblewrap`, by the same code; the median of each counts, and the
cost is the difference of the two. A bare spawn of the same program is shown as the floor of both.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

from measure import machine, verdict

from skillgauge.api import Command, Sandbox, SandboxSpec
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox
from skillgauge_sandbox_local.sandbox import LocalSandbox

TURNS = 15
IN_A_TURN = 20
WORKSPACE_GOAL_MS = 1.5
PROCESS_GOAL_MS = 3.0
PROGRAM = "/bin/true"

Measure = Callable[[Sandbox], Awaitable[float]]


def spawned() -> float:
    """Milliseconds of a bare spawn."""
    started = time.perf_counter()
    for _ in range(IN_A_TURN):
        subprocess.run([PROGRAM], check=True)
    return (time.perf_counter() - started) / IN_A_TURN * 1000


async def workspace(sandbox: Sandbox) -> float:
    """Milliseconds of a workspace in which nothing runs."""
    started = time.perf_counter()
    for _ in range(IN_A_TURN):
        async with sandbox.open(SandboxSpec(label="cost", network=False)):
            pass
    return (time.perf_counter() - started) / IN_A_TURN * 1000


def process(*, network: bool, at_once: int) -> Measure:
    """Measures milliseconds of a process in a workspace that is there."""

    async def measure(sandbox: Sandbox) -> float:
        async with sandbox.open(SandboxSpec(label="cost", network=network)) as place:

            async def run(times: int) -> None:
                for _ in range(times):
                    finished = await (await place.start(Command(argv=(PROGRAM,)))).wait()
                    assert finished.exit_code == 0, finished

            await run(1)
            started = time.perf_counter()
            await asyncio.gather(*(run(IN_A_TURN // at_once) for _ in range(at_once)))
            return (time.perf_counter() - started) / IN_A_TURN * 1000

    return measure


def main(turns: int) -> int:
    """Measure and print; return 1 if a goal is missed."""
    local, confined = LocalSandbox(), BubblewrapSandbox(BubblewrapOptions())
    problems = asyncio.run(confined.check()).problems
    if problems:
        sys.exit(problems[0].message)
    rows: list[tuple[str, Measure, float]] = [
        ("workspace", workspace, WORKSPACE_GOAL_MS),
        ("process with network", process(network=True, at_once=1), PROCESS_GOAL_MS),
        ("process without", process(network=False, at_once=1), PROCESS_GOAL_MS),
        ("process with network, 2 at once", process(network=True, at_once=2), PROCESS_GOAL_MS),
        ("process without, 2 at once", process(network=False, at_once=2), PROCESS_GOAL_MS),
    ]
    print(machine())
    print(f"bare spawn of {PROGRAM}: {statistics.median(spawned() for _ in range(turns)):.2f} ms")
    missed = False
    for name, measure, goal in rows:
        pairs = [(asyncio.run(measure(local)), asyncio.run(measure(confined))) for _ in range(turns)]
        least, ours = (statistics.median(values) for values in zip(*pairs, strict=True))
        cost = statistics.median(mine - theirs for theirs, mine in pairs)
        missed |= cost > goal
        told = f"local {least:.2f} ms, bubblewrap {ours:.2f} ms ({ours / least:.1f}x), cost {cost:.2f} ms"
        print(f"{name}: {told} (goal {goal:g}): {verdict(cost <= goal)}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else TURNS))
