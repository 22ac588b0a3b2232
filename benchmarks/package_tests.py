"""The tests of a package, one shell command a case, against bare spawning of the same commands.

Run: python benchmarks/package_tests.py [CASES]

The package has one skill with a script that sums up a table; every case of it gives a table of its own and expects exit
code, text and JSON. The floor starts the same shell commands with the same input at the same concurrency from threads,
looks at exit code and answer, and does nothing else. Both are measured in turns, and the best turn of each counts. The
floor confines nothing, so the sandbox that is compared with it is `local`; the chosen one is shown beside it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from measure import BIN, in_threads, machine, verdict

CASES = 200
GOAL = 0.85
CONCURRENCY = 4
TURNS = 3
SKILL = """---
name: table-summary
description: Sums up tables of comma separated values. Use it when a table is to be described.
---

Run `python3 scripts/summary.py FILE`.
"""
SCRIPT = """import csv, json, sys
with (sys.stdin if sys.argv[1] == "-" else open(sys.argv[1], newline="")) as lines:
    rows = list(csv.DictReader(lines))
numbers = [float(row["height"]) for row in rows]
print(json.dumps({"rows": len(rows), "height": {"min": min(numbers), "max": max(numbers)}}))
"""
COMMAND = "python3 scripts/summary.py -"


def table(number: int) -> str:
    """The input of a case."""
    return f"name,height\nash,{number}\nelm,{number + 3}\n"


def write_package(folder: Path, cases: int) -> None:
    """A package with one skill, and that many cases for it."""
    (folder / "package.agent.json").write_text(
        json.dumps({"name": "tables", "version": "1.0.0", "description": "Sums up tables."})
    )
    skill = folder / "skills/table-summary"
    (skill / "scripts").mkdir(parents=True)
    (skill / "tests/cases").mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    (skill / "scripts/summary.py").write_text(SCRIPT)
    for number in range(cases):
        case = {
            "name": f"table-{number:04}",
            "input": {"command": COMMAND, "stdin": table(number)},
            "expected": {
                "exit-code": 0,
                "stdout-contains": ['"rows": 2'],
                "stdout-json": {"height": {"max": number + 3}},
                "not-contains": ["Traceback"],
            },
        }
        (skill / f"tests/cases/{number:04}.yaml").write_text(json.dumps(case))


def end_to_end(folder: Path, cases: int, options: Sequence[str]) -> float:
    """Seconds of the whole command."""
    command = [str(BIN / "skillgauge"), "test", str(folder), "--json", "--concurrency", str(CONCURRENCY), *options]
    started = time.perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - started
    verdicts = [case["verdict"] for case in json.loads(done.stdout)["cases"]]
    assert verdicts == ["pass"] * cases, "every case must pass"
    return seconds


def floor(folder: Path, cases: int) -> float:
    """Seconds of bare spawning."""

    def one(number: int) -> None:
        done = subprocess.run(
            COMMAND, shell=True, input=table(number).encode(), capture_output=True, cwd=folder, check=True
        )
        assert json.loads(done.stdout)["height"]["max"] == number + 3

    return in_threads(one, cases, at_once=CONCURRENCY)


def main() -> None:
    """Measure and print."""
    print(machine())
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    with tempfile.TemporaryDirectory() as name:
        package = Path(name, "package")
        package.mkdir()
        write_package(package, cases)
        bare, unconfined, confined = [], [], []
        for _ in range(TURNS):
            bare.append(floor(package / "skills/table-summary", cases))
            unconfined.append(end_to_end(package, cases, ["--sandbox", "local"]))
            confined.append(end_to_end(package, cases, []))
    ratio = min(bare) / min(unconfined)
    print(
        f"{cases} cases: {min(unconfined):.2f} s, bare {min(bare):.2f} s ({min(bare) / cases * 1000:.1f} ms a case), "
        f"ratio {ratio:.2f} (goal {GOAL:g}): {verdict(ratio >= GOAL)}"
    )
    print(f"in the sandbox that is chosen here: {min(confined):.2f} s, ratio {min(bare) / min(confined):.2f}")


if __name__ == "__main__":
    main()
