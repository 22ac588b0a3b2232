"""Start-up time of the command line, every built-in installed, against what it cannot do without.

Run: python benchmarks/startup.py [CASES]

Short commands are measured against a bare interpreter, by the best time on the wall; a dry run of 20 cases, a plugin
that is imported, and a dry run of CASES cases (50,000) by the median CPU time, in turns with the import of pydantic.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from eval_skills_suite import write_suite
from measure import BIN, best_of, cpu_medians, machine, verdict

GOALS = {"--version": 2.0, "--help": 5.0, "plugins list": 6.0}
TIMES = 15
CASES = 20
DRY_RUN_GOAL = 4.0
PLUGIN_GOAL_S = 0.040
MANY = 50_000
MANY_GOAL_S = 3.0
MANY_TIMES = 3
PYDANTIC = "import pydantic"
MODEL = "from pydantic import BaseModel\nclass Model(BaseModel):\n    value: int"
"""What a plugin with options cannot do without: a model that is built."""
PLUGIN = "import skillgauge_scorer_exact.plugin, skillgauge_scorer_exact.scorer"


def main() -> None:
    """Measure and print."""
    print(machine())
    short_commands()
    imports()
    many_cases(int(sys.argv[1]) if sys.argv[1:] else MANY)


def short_commands() -> None:
    """What needs no model at all."""
    program = str(BIN / "skillgauge")
    for arguments, goal in GOALS.items():
        floor = best_of([sys.executable, "-c", "pass"], times=TIMES)
        seconds = best_of([program, *arguments.split()], times=TIMES)
        again = best_of([sys.executable, "-c", "pass"], times=TIMES)
        floor = min(floor, again)
        ratio = seconds / floor
        print(
            f"{arguments:13} {seconds * 1000:6.1f} ms, bare {floor * 1000:5.1f} ms, "
            f"ratio {ratio:4.1f} (goal {goal:g}): {verdict(ratio <= goal)}"
        )


def imports() -> None:
    """A dry run of few cases, in no sandbox and in the one chosen here, and a plugin."""
    with tempfile.TemporaryDirectory() as name:
        dry_run = dry_run_of(Path(name), CASES)
        python = [sys.executable, "-c"]
        commands = [[*python, PYDANTIC], [*python, MODEL], [*python, PLUGIN], [*dry_run, "--sandbox", "local"], dry_run]
        floor, model, plugin, *dry_runs = cpu_medians(commands, times=TIMES)
    more = plugin - model
    print(
        f"plugin        {plugin * 1000:6.1f} ms CPU, a model of pydantic {model * 1000:5.1f} ms, "
        f"{more * 1000:.1f} ms more (goal {PLUGIN_GOAL_S * 1000:g}): {verdict(more <= PLUGIN_GOAL_S)}"
    )
    for where, seconds in zip(("local sandbox", "chosen sandbox"), dry_runs, strict=True):
        ratio = seconds / floor
        print(
            f"dry run of {CASES}, {where}: {seconds * 1000:.1f} ms CPU, {PYDANTIC} {floor * 1000:.1f} ms, "
            f"ratio {ratio:.1f} (goal {DRY_RUN_GOAL:g}): {verdict(ratio <= DRY_RUN_GOAL)}"
        )


def many_cases(count: int) -> None:
    """All that happens before the first trial of a large suite."""
    with tempfile.TemporaryDirectory() as name:
        command = [*dry_run_of(Path(name), count), "--sandbox", "local"]
        floor, seconds = cpu_medians([[sys.executable, "-c", PYDANTIC], command], times=MANY_TIMES)
    print(
        f"dry run of {count:,}: {seconds:.2f} s CPU, {seconds / count * 1e6:.0f} microseconds a case, "
        f"{PYDANTIC} {floor * 1000:.1f} ms (goal {MANY_GOAL_S:g} s): {verdict(seconds <= MANY_GOAL_S)}"
    )


def dry_run_of(folder: Path, cases: int) -> list[str]:
    """A dry run of a suite that is written into a folder."""
    skill, tasks = write_suite(folder, cases)
    return [str(BIN / "skillgauge"), "eval", "--dry-run", "--skills", str(skill), "--tasks", str(tasks)]


if __name__ == "__main__":
    main()
