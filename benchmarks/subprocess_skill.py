"""A skill with one process per task, end to end with store and reports, against bare spawning of the same command.

Run: python benchmarks/subprocess_skill.py [TASKS...]

The floor starts the same program with the same input at the same concurrency from threads, reads its answer, and does
nothing else. Both are measured in turns, and the best turn of each counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from eval_skills_suite import write_suite
from measure import BIN, in_threads, machine, verdict

GOALS = {500: 0.85, 2000: 0.93}
CONCURRENCY = 4
TURNS = 3


def end_to_end(folder: Path, tasks: int) -> float:
    """Seconds of the whole command."""
    skill, benchmark = folder / "skill.json", folder / "tasks.json"
    command = [str(BIN / "skillgauge"), "eval", "--skills", str(skill), "--tasks", str(benchmark)]
    command += ["--concurrency", str(CONCURRENCY), "--store", str(folder / "store.db"), "--quiet"]
    command += ["--sandbox", "local"]  # the floor confines nothing either
    command += ["--format", "json", "markdown", "--output-dir", str(folder / "reports")]
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - started
    report = json.loads((folder / "reports" / "eval-result.json").read_text())
    assert report[0]["summary"]["completionRate"] == 1, "the skill must pass"
    assert len(report[0]["taskResults"]) == tasks
    return seconds


def floor(folder: Path, tasks: int) -> float:
    """Seconds of bare spawning."""
    command = [sys.executable, "-I", "-S", "skill.py"]

    def one(n: int) -> None:
        request = json.dumps({"jsonrpc": "2.0", "method": "invoke", "params": {"n": n}, "id": 1}).encode()
        done = subprocess.run(command, input=request, capture_output=True, cwd=folder, check=True)
        assert json.loads(done.stdout)["result"]["result"] == str(n * 2)

    return in_threads(one, tasks, at_once=CONCURRENCY)


def main() -> None:
    """Measure and print."""
    print(machine())
    for tasks in [int(word) for word in sys.argv[1:]] or GOALS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_suite(folder, tasks)
            ours, bare = [], []
            for _ in range(TURNS):
                bare.append(floor(folder, tasks))
                ours.append(end_to_end(folder, tasks))
        ratio = min(bare) / min(ours)
        goal = GOALS.get(tasks, 0.0)
        print(
            f"{tasks} tasks: {min(ours):.2f} s, bare {min(bare):.2f} s ({tasks / min(bare):.0f}/s), "
            f"ratio {ratio:.2f} (goal {goal:g}): {verdict(ratio >= goal)}"
        )


if __name__ == "__main__":
    main()
