"""How often a skill that did not change is called a regression: suites of known rates, twice, by the whole program.

Run: python benchmarks/regression_simulation.py [COMPARISONS] [SKILLS]

For each cell of 4, 10 and 20 cases and 1, 3 and 5 repeats, COMPARISONS (default 40) pairs of runs are evaluated by the
command line with an agent that passes by chance, by the same chance in both; each run has SKILLS suites (default 1, and
10 is the other cell of interest), with the arm without the skill as the control. `report diff --fail-on-regression`
compares them. What looks worse and is undecided is continued by the commands that it prints, as a user would, and
compared again.
Everything is seeded, and no two comparisons of a cell have the same cases. The commands run in this process, so that
the interpreter starts once and not five times a comparison: 40 comparisons of a cell take from 10 seconds of processor
time (one skill, 4 x 1) to three minutes (ten skills, 20 x 5).
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from collections import Counter
from pathlib import Path

from skillgauge_testkit.program import Done, Program

HERE = Path(__file__).resolve().parent
SIZES, REPEATS = (4, 10, 20), (1, 3, 5)
BASES = ("high", "uniform", "extreme")
PLANTED = ("--plugin", str(HERE / "planted.py"), "--sandbox", "planted")


def program(folder: Path, draw: int, *words: str) -> Done:
    """One command, whose agent draws by this seed."""
    home = {"PATH": os.defpath, "HOME": str(folder.parent)}  # one for all: the index of what is installed is made once
    return Program(folder, home)(*words, env={"PLANTED_DRAW": str(draw)})


def evaluated(folder: Path, draw: int, *words: str) -> Path:
    """The record of an evaluation."""
    known = set(folder.glob("reports/run-*.record.json"))
    done = program(folder, draw, "--quiet", *words, *PLANTED, "--store", "none", "--format", "record")
    assert done.code == 0, done.stderr
    (record,) = set(folder.glob("reports/run-*.record.json")) - known
    return record


def compared(folder: Path, before: Path, after: Path) -> tuple[str, list[list[str]]]:
    """What is said, and the commands that would decide what looks like a loss, as words."""
    done = program(folder, 0, "--json", "report", "diff", str(before), str(after), "--fail-on-regression")
    commands = [command for skill in done.document["skills"] if skill["loss_seen"] for command in skill["confirm"]]
    return done.document["regression"], [shlex.split(command)[1:] for command in commands]


def one_comparison(folder: Path, seed: int, cell: dict[str, object]) -> tuple[str, str]:
    """What is said at first, and once what was undecided is run again."""
    (folder / "one.planted").write_text(json.dumps([cell]))
    words = ("eval", "one.planted", "--engine", "planted")
    first_before, first_after = (evaluated(folder, 100 * seed + side, *words) for side in (1, 2))
    first, commands = compared(folder, first_before, first_after)
    before, after = first_before, first_after
    for number, (_, option, record, *more) in enumerate(commands if first == "undecided" else ()):
        is_first = record == str(first_before)  # several doubts of one report go into one joined run
        joined = evaluated(folder, 100 * seed + 3 + number, "eval", option, str(before if is_first else after), *more)
        before, after = (joined, after) if is_first else (before, joined)
    return first, compared(folder, before, after)[0]


def one_cell(home: Path, cases: int, runs: int, skills: int, comparisons: int) -> Counter[str]:
    """How often each thing is said at first, and in the end."""
    said: Counter[str] = Counter()
    for seed in range(comparisons):
        cell: dict[str, object] = {"cases": cases, "runs": runs, "lift": 0.3, "base": BASES[seed % len(BASES)]}
        cell |= {"suites": skills, "first": seed * skills}
        with tempfile.TemporaryDirectory(dir=home) as name:
            folder = Path(name)
            (folder / "planted").mkdir()
            (folder / "planted/SKILL.md").write_text("---\nname: planted\ndescription: Known rates.\n---\n")
            first, last = one_comparison(folder, seed, cell)
        said.update([f"first {first}", f"last {last}"])
    return said


def main(comparisons: int, skills: int) -> None:
    """Every cell."""
    print(f"{comparisons} comparisons a cell, {skills} skill(s) each: share called a regression\n")
    print("| cases x repeats | at first | undecided | after --confirm |\n|---|---|---|---|")
    wrong = 0
    with tempfile.TemporaryDirectory() as home:
        for cases in SIZES:
            for runs in REPEATS:
                said = one_cell(Path(home), cases, runs, skills, comparisons)
                shares = [said[name] / comparisons for name in ("first yes", "first undecided", "last yes")]
                print(f"| {cases} x {runs} |", *(f"{share:.1%} |" for share in shares), flush=True)
                wrong += said["last yes"]
    every = comparisons * len(SIZES) * len(REPEATS)
    print(f"\nOf {every:,} comparisons of what did not change, {wrong / every:.1%} end as a regression.")


if __name__ == "__main__":
    main(*map(int, (*sys.argv[1:], *("40", "1")[len(sys.argv) - 1 :])))
