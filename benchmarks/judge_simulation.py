"""Coverage of the corrected lift of a judge, with errors that are equal in both arms and with different ones.

    python benchmarks/judge_simulation.py [RUNS]

Prints a table for docs/statistics.md.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass

from skillgauge.stats import Labelled
from skillgauge_command_judge.arm_errors import compare_errors, errors_in
from skillgauge_command_judge.correction import JudgedCase, correct_lift

ARMS = ("with_skill", "without_skill")
ALIKE = ((0.9, 0.85), (0.9, 0.85))
DIFFERENT = ((0.95, 0.5), (0.9, 0.95))
RESAMPLES = 400


@dataclass(frozen=True)
class Truth:
    """Pass rates of both arms as people would find them, and sensitivity and specificity of the judge in each."""

    name: str
    rates: tuple[float, float]
    judge: tuple[tuple[float, float], tuple[float, float]]


TRUTHS = (
    Truth("alike, 0.7 / 0.4", (0.7, 0.4), ALIKE),
    Truth("alike, 0.5 / 0.5", (0.5, 0.5), ALIKE),
    Truth("alike, 0.8 / 0.05", (0.8, 0.05), ALIKE),
    Truth("different, 0.5 / 0.3", (0.5, 0.3), DIFFERENT),
    Truth("different, 0.5 / 0.5", (0.5, 0.5), DIFFERENT),
)


class Simulation:
    """One run and its labels after another."""

    def __init__(self, truth: Truth, seed: int) -> None:
        self.truth = truth
        self._draw = random.Random(seed).random

    def answer(self, arm: int) -> tuple[bool, bool]:
        """The opinions of the judge and of people on one answer."""
        is_good = self._draw() < self.truth.rates[arm]
        sensitivity, specificity = self.truth.judge[arm]
        chance = sensitivity if is_good else 1.0 - specificity
        return self._draw() < chance, is_good

    def another_run(self, cases: int, labels: int) -> tuple[dict[str, Labelled], list[tuple[JudgedCase, JudgedCase]]]:
        """So many labels of each arm of an earlier run, and a run without labels."""
        earlier = {name: counted([self.answer(arm) for _ in range(labels)]) for arm, name in enumerate(ARMS)}
        pairs = [(judged(self.answer(0)[0]), judged(self.answer(1)[0])) for _ in range(cases)]
        return earlier, pairs

    def same_run(self, cases: int, share: float) -> tuple[dict[str, Labelled], list[tuple[JudgedCase, JudgedCase]]]:
        """A run of whose checks a share, drawn at random, has labels."""
        labels: list[list[tuple[bool, bool]]] = [[], []]
        pairs = []
        for _ in range(cases):
            row = []
            for arm in (0, 1):
                answer = self.answer(arm)
                if self._draw() < share:
                    labels[arm].append(answer)
                    row.append(JudgedCase(known_pass=1) if answer[1] else JudgedCase(known_fail=1))
                else:
                    row.append(judged(answer[0]))
            pairs.append((row[0], row[1]))
        return {name: counted(labels[arm]) for arm, name in enumerate(ARMS)}, pairs


def judged(passes: bool) -> JudgedCase:
    """A check without a label."""
    return JudgedCase(judge_passes=1) if passes else JudgedCase(judge_fails=1)


def counted(answers: list[tuple[bool, bool]]) -> Labelled:
    """Labels by what the judge and people say."""
    kinds = ((True, True), (True, False), (False, True), (False, False))
    return Labelled(*(answers.count(kind) for kind in kinds))


def row(truth: Truth, cases: int, labels: int | float, runs: int) -> str:
    """One line of the table: how often the interval holds the truth, its mean width and the mean estimate."""
    simulation = Simulation(truth, seed=5)
    held = known = found = 0
    widths = estimates = 0.0
    lift = truth.rates[0] - truth.rates[1]
    for turn in range(runs):
        if isinstance(labels, int):
            arms, pairs = simulation.another_run(cases, labels)
        else:
            arms, pairs = simulation.same_run(cases, labels)
        found += any(one.differs for one in compare_errors(arms))
        errors = errors_in(ARMS[0], arms), errors_in(ARMS[1], arms)
        corrected = correct_lift(pairs, errors, seed=turn, resamples=RESAMPLES)
        if corrected is None or corrected.interval is None:
            continue
        known += 1
        lower, upper = corrected.interval.lower, corrected.interval.upper
        held += lower <= lift <= upper
        widths += upper - lower
        estimates += corrected.estimate
    told = f"{labels} an arm, earlier run" if isinstance(labels, int) else f"{labels:.0%} of this run"
    figures = f"{held / known:.1%} | {widths / known * 50:.0f} | {estimates / known * 100:+.1f} | {lift * 100:+.0f}"
    return f"| {truth.name} | {cases} | {told} | {figures} | {found / runs:.0%} |"


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("| judge, rates | cases | labels | holds the truth | half width | mean | truth | found |")
    print("|---|---|---|---|---|---|---|---|")
    for cases in (10, 30):
        for labels in (25, 60, 0.5, 1.0):
            for truth in TRUTHS:
                print(row(truth, cases, labels, runs), flush=True)


if __name__ == "__main__":
    main()
