"""The clause about the death of the first process: nobody works, and pays, for a run that nobody reads any more."""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys

from ..clauses import PATIENCE_S, require
from .bench import Bench, MakeExecutor, each, trial_like
from .bundle import Bundle

STOP_S = 15.0
"""How long after the death of the process that runs the evaluation an attempt may go on elsewhere."""

_CHILD = """
import pickle, sys
paths, payload = pickle.load(sys.stdin.buffer)
sys.path[:] = paths
from skillgauge_testkit.contract.executors.dying import run_without_end
run_without_end(*pickle.loads(payload))
"""


def run_without_end(make: MakeExecutor, bundle: Bundle, address: str) -> None:
    """In a child process: run trials that wait until it is killed."""
    asyncio.run(_run_without_end(make, bundle, address))


async def _run_without_end(make: MakeExecutor, bundle: Bundle, address: str) -> None:
    prepared, _ = await bundle.prepared()
    (pattern,) = prepared.plan.trials()
    trials = [trial_like(pattern, ordinal, address) for ordinal in range(4)]
    results, _ = await Bench(make, bundle, PATIENCE_S).run(2, each(trials))
    async for _ in results:
        pass


async def first_process_dies(bench: Bench) -> None:
    """A process that runs an evaluation is killed; what its workers have under way stops soon."""
    async with bench.marks() as marks:
        try:
            payload = pickle.dumps((bench.make, bench.bundle, marks.address))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            text = "check_executor must be able to pickle `make`, because it kills a process that uses it"
            raise AssertionError(f"{text}; use with_options: {error}") from error
        with subprocess.Popen([sys.executable, "-c", _CHILD], stdin=subprocess.PIPE) as child:
            try:
                assert child.stdin is not None  # it is a pipe
                child.stdin.write(pickle.dumps((sys.path, payload)))
                child.stdin.close()
                await bench.until(
                    "the start of two trials, in a process of their own,",
                    lambda: len(marks.under_way) > 1 or child.poll() is not None,
                )
                require(child.poll() is None, f"a run must last, but its process ended with {child.poll()}")
            finally:
                child.kill()
        clause = "when the process that runs the evaluation is killed, the end of every attempt under way"
        await bench.until(clause, lambda: not marks.under_way, within_s=STOP_S)
