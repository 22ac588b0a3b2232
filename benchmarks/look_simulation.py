"""What looking again is worth: runs that are continued until something is found, and comparisons that are continued.

Run: python benchmarks/look_simulation.py [DRAWS]

The rules are called directly, as the program calls them (`weigh` with the earlier looks, the rate's interval, and the
judgement of `report diff`). First, DRAWS suites a cell (default 500) are looked at up to eleven times: at each look
that leaves the comparison open, five repeats of every case are added in both arms. Then as many comparisons of two runs
a cell are continued once, by what the comparison itself advises, with every case and all data. Everything is seeded.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from skillgauge.stats import Finding, RateInterval, Repeats, weigh
from skillgauge_run_comparisons.document import Regression, Side, TaskRuns
from skillgauge_run_comparisons.evidence import Control, TaskPair, difference, lift_change
from skillgauge_run_comparisons.regression import MAX_DROP, Deciding, Judged, Weighed, judge

SIZES, REPEATS = (4, 10, 20), (1, 3, 5)
RATES = ((0.5, 0.5), (0.8, 0.8), (0.65, 0.35), (0.75, 0.25))
"""Chances to pass with and without the skill."""
LOOKS, FURTHER = 11, 5
COMPARED = ((4, 1), (4, 3), (10, 1), (10, 3), (20, 3))
DROPS = ((0.8, 0.8), (0.8, 0.6), (0.8, 0.5))
"""Chances to pass before and after."""
WITHOUT = 0.2
_ROUNDING = 1e-9


@dataclass
class Arm:
    """The repeats of every case so far."""

    rate: float
    passed: list[int]
    graded: int = 0

    def repeat(self, draw: random.Random, times: int) -> None:
        """Run every case so often."""
        self.graded += times
        for case in range(len(self.passed)):
            self.passed[case] += sum(draw.random() < self.rate for _ in range(times))

    def cases(self) -> list[Repeats]:
        """The repeats as the statistics take them."""
        return [Repeats(passed, self.graded) for passed in self.passed]


@dataclass
class Cell:
    """What became of the suites of a cell."""

    first: Counter[Finding] = field(default_factory=Counter)
    last: Counter[Finding] = field(default_factory=Counter)
    sessions: int = 0
    lift: float = 0.0
    rate: float = 0.0
    lift_intervals: int = 0
    lift_missed: int = 0
    rate_missed: int = 0

    def look(self, draw: random.Random, cases: int, repeats: int, rates: tuple[float, float]) -> None:
        """Evaluate one suite, and look again until something is found."""
        ours, theirs = (Arm(rate, [0] * cases) for rate in rates)
        earlier: list[Counter[tuple[Repeats, Repeats]]] = []
        for look in range(LOOKS):
            for arm in (ours, theirs):
                arm.repeat(draw, FURTHER if look else repeats)
            pairs = Counter(zip(ours.cases(), theirs.cases(), strict=True))
            evidence = weigh(pairs, (), earlier)
            assert evidence is not None
            earlier.append(pairs)
            if look == 0:
                self.first[evidence.finding] += 1
            if evidence.finding is not Finding.UNDECIDED:
                break
        self.last[evidence.finding] += 1
        self.sessions += 2 * cases * ours.graded
        self.lift += evidence.estimate
        shares = [case.share for case in ours.cases()]
        rate = RateInterval.of(shares, repeats=ours.graded, seed=0, looks=len(earlier))
        self.rate += rate.rate or 0.0
        self.rate_missed += not _holds(rate.lower, rate.upper, rates[0])
        if evidence.interval:
            self.lift_intervals += 1
            interval = evidence.interval
            self.lift_missed += not _holds(interval.lower, interval.upper, rates[0] - rates[1])


def _holds(lower: float | None, upper: float | None, truth: float) -> bool:
    return lower is not None and upper is not None and lower - _ROUNDING <= truth <= upper + _ROUNDING


def looks(draws: int) -> None:
    """Print a row for each cell of suites that are looked at again and again."""
    print(
        "| suite, rates | helps at first | helps in the end | hurts | mean lift | missed | rate | missed | sessions |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for cases in SIZES:
        for repeats in REPEATS:
            for rates in RATES:
                draw = random.Random(f"{cases} {repeats} {rates}")
                cell = Cell()
                for _ in range(draws):
                    cell.look(draw, cases, repeats, rates)
                missed = f"{cell.lift_missed / cell.lift_intervals:.1%}" if cell.lift_intervals else "-"
                print(
                    f"| {cases} x {repeats}, {rates[0]} / {rates[1]} | {cell.first[Finding.HELPS] / draws:.1%} "
                    f"| {cell.last[Finding.HELPS] / draws:.1%} | {cell.last[Finding.HURTS] / draws:.1%} "
                    f"| {cell.lift / draws * 100:+.1f} | {missed} | {cell.rate / draws:.1%} "
                    f"| {cell.rate_missed / draws:.1%} | {cell.sessions / draws:.0f} |",
                    flush=True,
                )


@dataclass
class Comparison:
    """Two runs of a skill, with or without the arm that has no skill."""

    draw: random.Random
    cases: int
    rates: tuple[float, float]
    control: bool

    def runs(self, rate: float, times: int) -> TaskRuns:
        """Some repeats of a task."""
        passed = sum(self.draw.random() < rate for _ in range(times))
        return TaskRuns(passed=passed, graded=times, errors=0, shown="")

    def first(self, repeats: int) -> list[TaskPair]:
        """The tasks of both runs."""
        return [self._pair(str(case), repeats) for case in range(self.cases)]

    def _pair(self, task: str, repeats: int) -> TaskPair:
        without = [self.runs(WITHOUT, repeats) for _ in Side] if self.control else []
        control = Control("without_skill", *without) if without else None
        before, after = (self.runs(rate, repeats) for rate in self.rates)
        return TaskPair(task, before, after, control)

    def further(self, pair: TaskPair, deciding: Deciding) -> TaskPair:
        """A task with the repeats that were advised added."""

        def more(had: TaskRuns, rate: float, side: Side) -> TaskRuns:
            if side not in deciding.sides:
                return had
            new = self.runs(rate, deciding.runs)
            return had.model_copy(update={"passed": had.passed + new.passed, "graded": had.graded + new.graded})

        control = pair.control
        if control:
            before, after = (more(getattr(control, side), WITHOUT, side) for side in Side)
            control = Control(control.arm, before, after)
        before, after = (more(getattr(pair, side), rate, side) for side, rate in zip(Side, self.rates, strict=True))
        return TaskPair(pair.task, before, after, control)

    def judged(self, tasks: list[TaskPair], earlier: list[list[TaskPair]]) -> Judged:
        """What is said of the skill."""
        (judged,) = judge([Weighed("with_skill", tasks, difference(tasks), lift_change(tasks), earlier)], MAX_DROP)
        return judged

    def outcome(self, repeats: int) -> tuple[Regression, Regression, int]:
        """What is said at first and in the end, and how many sessions were added."""
        tasks = self.first(repeats)
        first = self.judged(tasks, [])
        if first.decided_by is None or not first.loss_seen:
            return first.regression, first.regression, 0
        more = [self.further(pair, first.decided_by) for pair in tasks]
        arms = 2 if self.control else 1
        sessions = first.decided_by.runs * len(first.decided_by.sides) * len(tasks) * arms
        return first.regression, self.judged(more, [tasks]).regression, sessions


def comparisons(draws: int) -> None:
    """Print a row for each cell of comparisons of two runs."""
    print("\n| comparison | found at first | found in the end | acquitted at first | in the end | further sessions |")
    print("|---|---|---|---|---|---|")
    for control in (False, True):
        for cases, repeats in COMPARED:
            for rates in DROPS:
                draw = random.Random(f"{control} {cases} {repeats} {rates}")
                ends = list(_outcomes(draw, cases, repeats, rates, control=control, draws=draws))
                shares = [
                    sum(end[place] is said for end in ends) / draws
                    for said in (Regression.YES, Regression.NO)
                    for place in (0, 1)
                ]
                label = f"{cases} x {repeats}, {rates[0]} to {rates[1]}{', with control' if control else ''}"
                cells = " | ".join(f"{share:.1%}" for share in shares)
                print(f"| {label} | {cells} | {sum(end[2] for end in ends) / draws:.0f} |", flush=True)


def _outcomes(
    draw: random.Random, cases: int, repeats: int, rates: tuple[float, float], *, control: bool, draws: int
) -> Iterator[tuple[Regression, Regression, int]]:
    for _ in range(draws):
        yield Comparison(draw, cases, rates, control).outcome(repeats)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    looks(count)
    comparisons(count)
