"""The same waiting trials on a cluster of dask, in worker processes of this machine, and in this process.

Run: python benchmarks/cluster.py [TRIALS DURATION_S PLACES [WAYS]]

The cluster is `dask scheduler` and two `dask worker` on 127.0.0.1, with half of the places each. A trial waits, as one
of an agent does. Ideal is the time of all trials divided by the places; what is compared with it is the time from the
start of the first trial to the end of the last, as a long run sees it, and beside it the whole command.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from measure import BIN, machine, verdict
from processes import PARTS

GOAL = 1.15
WORKERS = 2
ROUNDS = ((400, 5.0, 8), (2000, 0.05, 16))
WAYS = ("dask", "processes", "alone")
_CALL = PARTS.index("        end = time.thread_time()")
_AFTER = PARTS.index("    async def close(self)")
_WAITS = """        await asyncio.sleep(request.input / 1000)
        return Execution(output="ok", duration_s=request.input / 1000)

"""
WAITING_PARTS = f"import asyncio\n{PARTS[:_CALL]}{_WAITS}{PARTS[_AFTER:]}"
"""The plugin of `processes.py`, whose adapter waits here."""


@contextmanager
def cluster(folder: Path, threads: int) -> Iterator[str]:
    """Yield the address of a scheduler with two workers."""
    file = folder / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [str(BIN / "dask")]
    common = ["--no-dashboard", "--host", "127.0.0.1", "--scheduler-file", str(file)]
    with ExitStack() as stack:

        def start(*command: str) -> None:
            process = stack.enter_context(subprocess.Popen([*dask, *command, *common], cwd=folder, **quiet))
            stack.callback(process.terminate)

        start("scheduler", "--port", "0")
        while not (file.exists() and file.read_text()):
            time.sleep(0.05)
        for _ in range(WORKERS):
            start("worker", "--nthreads", str(threads), "--no-nanny")
        time.sleep(5)
        yield json.loads(file.read_text())["address"]


def measured(folder: Path, places: int, options: list[str]) -> tuple[float, float]:
    """Run the suite; return seconds from the first start to the last end, and of the whole command."""
    fixed = ["--plugin", "parts.py", "--sandbox", "busy", "--concurrency", str(places), "--fresh", "--quiet"]
    kept = ["--store", "runs.db", "--output-dir", "out", "--format", "record"]
    started = time.perf_counter()
    command = [str(BIN / "skillgauge"), "eval", "suite.busy", *fixed, *kept, *options]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    whole_s = time.perf_counter() - started
    record = max((folder / "out").glob("*.record.json"), key=lambda path: path.stat().st_mtime)
    results = json.loads(record.read_text())["results"]
    ends = [one["started_at"] + one["execution"]["duration_s"] for one in results]
    return max(ends) - min(one["started_at"] for one in results), whole_s


def main() -> None:
    """Measure and print."""
    print(machine())
    given = sys.argv[1:4]
    rounds = [(int(given[0]), float(given[1]), int(given[2]))] if given else ROUNDS
    ways = sys.argv[4].split(",") if len(sys.argv) > 4 else WAYS
    for trials, duration_s, places in rounds:
        ideal_s = trials * duration_s / places
        print(f"{trials} trials of {duration_s:g} s at {places} places: ideal {ideal_s:.2f} s")
        with tempfile.TemporaryDirectory() as name, cluster(Path(name), places // WORKERS) as address:
            folder = Path(name)
            (folder / "parts.py").write_text(WAITING_PARTS)
            (folder / "suite.busy").write_text(f"{trials} {duration_s * 1000}")
            options = {
                "dask": ["--executor", "dask", "--set", f"executors.dask.address={address}"],
                "processes": ["--executor", "processes", "--set", f"executors.processes.workers={WORKERS}"],
                "alone": [],
            }
            for way in ways:
                span_s, whole_s = measured(folder, places, options[way])
                ratio = span_s / ideal_s
                goal = f" (goal {GOAL:g}: {verdict(ratio <= GOAL)})" if way == "dask" else ""
                print(f"  {way}: {span_s:.2f} s, {ratio:.3f} of ideal{goal}; the whole command {whole_s:.2f} s")


if __name__ == "__main__":
    main()
