"""The same suite in this process and with two workers of the executor `processes`, both whole commands.

Run: python benchmarks/processes.py [TRIALS]

A trial is one call of an adapter in the process that makes the attempt; it keeps a processor busy for a while, as a
scorer that parses or compares much does. The two are measured in turns, and the best turn of each counts. What trials
gain or lose that do nothing is measured beside it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from measure import BIN, best_of, machine, verdict

GOAL = 1.7
TURNS = 3
WORKERS = 2
TRIALS = 10_000
BUSY_MS = (2.0, 0.0)

PARTS = """
import time
from pathlib import Path

from skillgauge.api import Case, Check, Claim, Execution, Identity, Loaded, Provider, Score, Suite, Target, hookimpl
from skillgauge_testkit import FakeSandbox


class Format:
    def claim(self, path):
        return Claim() if path.suffix == ".busy" else None

    def load(self, request):
        (path,) = request.paths
        trials, busy_ms = Path(path).read_text().split()
        check = Check(id="check", scorer="busy")
        cases = tuple(Case(id=f"case-{n:06}", input=float(busy_ms), checks=(check,)) for n in range(int(trials)))
        target = Target(id="target", adapter="busy")
        return Loaded((Suite(id="busy", format="busy", root=path, cases=cases, targets=(target,)),))

    def figures(self, summary):
        return {}


class Adapter:
    async def check(self):
        return ()

    def check_target(self, target):
        return ()

    def identity(self, target):
        return Identity(name="busy")

    async def open(self, target, workspace):
        return Session()


class Session:
    async def call(self, request):
        end = time.thread_time() + request.input / 1000
        while time.thread_time() < end:
            sum(range(1000))
        return Execution(output="ok")

    async def close(self):
        pass


class Scorer:
    version = "1"

    async def score(self, context):
        return Score.passed("done")


def announce(factory):
    return [Provider(name="busy", factory=factory, summary="Busy.")]


@hookimpl
def skillgauge_formats():
    return announce(Format)


@hookimpl
def skillgauge_adapters():
    return announce(Adapter)


@hookimpl
def skillgauge_scorers():
    return announce(Scorer)


@hookimpl
def skillgauge_sandboxes():
    return announce(FakeSandbox)
"""


def command(folder: Path, *more: str) -> list[str]:
    """The whole evaluation."""
    fixed = ("--plugin", str(folder / "parts.py"), "--sandbox", "busy", "--concurrency", "8", "--fresh")
    kept = ("--store", str(folder / "runs.db"), "--output-dir", str(folder), "--format", "record")
    return [str(BIN / "skillgauge"), "eval", str(folder / "suite.busy"), *fixed, *kept, *more]


def main() -> None:
    """Measure and print."""
    print(machine())
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    for busy_ms in BUSY_MS:
        alone, divided = [], []
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "parts.py").write_text(PARTS)
            (folder / "suite.busy").write_text(f"{trials} {busy_ms}")
            several = ("--executor", "processes", "--set", f"executors.processes.workers={WORKERS}")
            for _ in range(TURNS):
                alone.append(best_of(command(folder), times=1))
                divided.append(best_of(command(folder, *several), times=1))
        ratio = min(alone) / min(divided)
        goal = f"goal {GOAL:g}: {verdict(ratio >= GOAL)}" if busy_ms else "no goal"
        print(
            f"{trials} trials of {busy_ms:g} ms: this process {min(alone):.2f} s ({trials / min(alone):.0f}/s), "
            f"{WORKERS} workers {min(divided):.2f} s ({trials / min(divided):.0f}/s), ratio {ratio:.2f} ({goal})"
        )


if __name__ == "__main__":
    main()
