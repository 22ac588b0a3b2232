"""What the verdicts and intervals are worth: suites of known rates through the whole program, and intervals alone.

Run: python benchmarks/lift_simulation.py [SUITES] [DRAWS]

First, that many suites (default 2,000) are evaluated by the command line with an agent that passes by chance, in cells
of 4, 10 and 20 cases, 1, 3 and 5 repeats, without any lift and with one of 30 and of 50 points; the verdicts are read
from the run record. Then the intervals of rates and lifts are computed that many times a cell (default 1,000) for
populations from steady to unsteady, and it is counted how often they hold the truth. Everything is seeded.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from skillgauge.stats import Repeats, lift_interval, rate_interval

HERE = Path(__file__).resolve().parent
SIZES, REPEATS = (4, 10, 20), (1, 3, 5)
NULLS, LIFTS = ("high", "uniform", "extreme"), (0.3, 0.5)
Draw = Callable[[random.Random], float]
CASES: dict[str, Draw] = {
    "all 0.5": lambda _draw: 0.5,
    "all 0.8": lambda _draw: 0.8,
    "all 0.95": lambda _draw: 0.95,
    "uniform": lambda draw: draw.random(),
    "beta(0.8, 0.2)": lambda draw: draw.betavariate(0.8, 0.2),
    "steady, 0.8": lambda draw: float(draw.random() < 0.8),
    "steady or 0.4": lambda draw: 1.0 if draw.random() < 0.7 else 0.4,
}
"""Where the true pass rate of a case comes from, by name."""
MEANS = {"uniform": 0.5, "beta(0.8, 0.2)": 0.8, "steady, 0.8": 0.8, "steady or 0.4": 0.82}
ARMS = {
    "alike, 0.8": ("all 0.8", "all 0.8"),
    "0.95 and 0.5": ("all 0.95", "all 0.5"),
    "uniform, beta": ("beta(0.8, 0.2)", "uniform"),
    "steady, beta": ("steady, 0.8", "beta(0.8, 0.2)"),
    "mixed, uniform": ("steady or 0.4", "uniform"),
}
"""Pass rates of cases with and without a skill."""


def mean_of(name: str) -> float:
    """True pass rate over all cases of a population."""
    return MEANS.get(name) or float(name.removeprefix("all "))


def evaluate(suites: int, folder: Path) -> Iterator[tuple[int, int, float, str]]:
    """Cases, repeats, true lift and finding of every suite, as the run record tells them."""
    kinds = [(0.0, base) for base in NULLS] + [(lift, "uniform") for lift in LIFTS]
    each = max(1, suites // (len(SIZES) * len(REPEATS) * len(kinds)))
    (folder / "planted").mkdir()
    (folder / "planted/SKILL.md").write_text("---\nname: planted\ndescription: Known rates.\n---\n")
    for cases in SIZES:
        cells = [
            {"cases": cases, "runs": runs, "lift": lift, "base": base, "suites": each}
            for runs in REPEATS
            for lift, base in kinds
        ]
        (folder / f"{cases}.planted").write_text(json.dumps(cells))
        command = [sys.executable, "-m", "skillgauge", "--quiet", "eval", f"{cases}.planted", "--engine", "planted"]
        command += ["--plugin", str(HERE / "planted.py"), "--sandbox", "planted", "--store", "none"]
        command += ["--format", "record", "--output-dir", f"reports-{cases}"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (record,) = (folder / f"reports-{cases}").glob("run-*.record.json")
        for pair in json.loads(record.read_text())["summary"]["pairs"]:
            _, runs, lift, _, _ = pair["candidate"]["suite_id"].split("-")
            yield cases, int(runs), float(lift), pair["evidence"]["finding"]


def runs_of(rate: float, repeats: int, draw: random.Random) -> Repeats:
    """Some repeats of a case."""
    return Repeats(sum(draw.random() < rate for _ in range(repeats)), repeats)


def rate_coverage(name: str, cases: int, repeats: int, draws: int) -> float:
    """How often the interval of a pass rate holds the true one."""
    draw, held = random.Random(f"{name} {cases} {repeats}"), 0
    for seed in range(draws):
        means = [runs_of(CASES[name](draw), repeats, draw).share for _ in range(cases)]
        found = rate_interval(means, repeats=repeats, seed=seed, resamples=1_000)
        assert found is not None
        held += found.lower - 1e-9 <= mean_of(name) <= found.upper + 1e-9
    return held / draws


def lift_coverage(name: str, cases: int, repeats: int, draws: int) -> float:
    """How often the interval of a lift holds the true one."""
    ours, theirs = ARMS[name]
    draw, held = random.Random(f"{name} {cases} {repeats}"), 0
    for _ in range(draws):
        pairs: Counter[tuple[Repeats, Repeats]] = Counter()
        for _ in range(cases):
            candidate, baseline = (runs_of(CASES[one](draw), repeats, draw) for one in (ours, theirs))
            pairs[candidate, baseline] += 1
        found = lift_interval(pairs)
        held += found.lower - 1e-9 <= mean_of(ours) - mean_of(theirs) <= found.upper + 1e-9
    return held / draws


def coverage(what: str, names: dict[str, object], one: Callable[[str, int, int, int], float], draws: int) -> None:
    """Print the table of one kind of interval."""
    print(f"\n95 % interval of a {what}, {draws:,} suites a cell: how often it holds the truth\n")
    cells = [(cases, repeats) for cases in (8, 10, 20) for repeats in REPEATS]
    print("| cases |", *(f"{cases} x {repeats} |" for cases, repeats in cells))
    print("|---|" + "---|" * len(cells))
    found = {name: [one(name, *cell, draws) for cell in cells] for name in names}
    for name, shares in found.items():
        print(f"| {name} |", *(f"{share:.1%} |" for share in shares))
    flat = [share for shares in found.values() for share in shares]
    print(f"\nMean {sum(flat) / len(flat):.1%}, least {min(flat):.1%}.")


def main(suites: int, draws: int) -> None:
    """Both parts."""
    findings: dict[tuple[int, int, float], Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        for cases, runs, lift, finding in evaluate(suites, Path(folder)):
            findings[cases, runs, lift][finding] += 1
    print("| cases x repeats | suites without lift | called helps | called hurts |", end="")
    print(*(f" {lift * 100:.0f} points found |" for lift in LIFTS), sep="")
    print("|---|---|---|---|" + "---|" * len(LIFTS))
    wrong: Counter[str] = Counter()
    for cases in SIZES:
        for runs in REPEATS:
            null = findings[cases, runs, 0.0]
            wrong.update(null)
            shares = [f"{null[name] / null.total():.1%}" for name in ("helps", "hurts")]
            power = [findings[cases, runs, lift] for lift in LIFTS]
            shares += [f"{one['helps'] / one.total():.0%}" for one in power]
            print(f"| {cases} x {runs} | {null.total()} |", " | ".join(shares), "|")
    told = ", ".join(f"{name} {wrong[name] / wrong.total():.1%}" for name in ("helps", "hurts"))
    print(f"\nOf {wrong.total():,} suites without lift: {told}.")
    coverage("pass rate", dict(CASES), rate_coverage, draws)
    coverage("lift", dict(ARMS), lift_coverage, draws)


if __name__ == "__main__":
    main(*(int(word) for word in [*sys.argv[1:], "2000", "1000"][:2]))
