"""How often a run that stops when it is decided is right, and the sessions that it takes.

Run, from the root of the repository: python -m benchmarks.until_decided [DRAWS]

Each of DRAWS suites a cell (default 500) is carried out by the kernel, from the plan to the summary, with an agent that
ends each session by chance: once until it is decided, and once with a third as many repeats, all of which run. Cases
pass with a chance of one half plus and minus half of the lift; in the cells named "mixed" each case has a chance of its
own, and the saturated ones rest. "found" is the share of runs with a finding in the direction of the lift, "false" with
one where there is no lift or in the other direction, and "covered" the share of printed intervals for these cases that
contain the true lift. Everything is seeded.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from core.tests.run.two_arms import WITH, suite_of, two_arm_job, two_arm_plan

from skillgauge.plan.planning import Terms
from skillgauge.run.pipeline import carry_out
from skillgauge.stats import MOST_ROUNDS, Evidence, rounds_for
from skillgauge.types.trial import Trial

SUITES = ((4, 0.5), (10, 0.3), (20, 0.2))
"""Cases, and the lift that the number of rounds is chosen for."""
LIFTS = (0.0, 0.2, 0.3, 0.5, 0.7)
_ROUNDING = 1e-9

Chances = Sequence[tuple[float, float]]
"""Of each case to pass with the skill and without it."""


@dataclass
class Tally:
    """What the runs of a cell have come to."""

    lift: float
    found: int = 0
    false: int = 0
    covered: int = 0
    runs: int = 0
    sessions: list[int] = field(default_factory=list)
    bias: list[float] = field(default_factory=list)

    def add(self, evidence: Evidence, sessions: int, lift: float) -> None:
        """Count a run whose cases have this lift."""
        self.runs += 1
        self.sessions.append(sessions)
        self.bias.append(evidence.estimate - lift)
        if evidence.is_found:
            is_right = self.lift > 0 and evidence.estimate > 0
            self.found += is_right
            self.false += not is_right
        interval = evidence.interval_here
        self.covered += interval.lower - _ROUNDING <= lift <= interval.upper + _ROUNDING


def main(draws: int) -> None:
    """Print a line a cell."""
    print("| suite | lift | fixed: found | until decided: found | false | sessions, of the fixed | covered | bias |")
    print("|---|---|---|---|---|---|---|---|")
    coverage: list[float] = []
    for kind in ("alike", "mixed"):
        for cases, wanted in SUITES:
            repeats = (rounds_for(cases, wanted) or 0) // MOST_ROUNDS
            for lift in LIFTS:
                fixed, early = Tally(lift), Tally(lift)
                for draw in range(draws):
                    chances = chances_of(kind, cases, lift, draw)
                    add_run(early, chances, Terms(detect=wanted, until_decided=True, seed=draw))
                    add_run(fixed, chances, Terms(runs=repeats, seed=draw))
                coverage.append(early.covered / draws)
                print(line(f"{cases} x {repeats} {kind}", fixed, early), flush=True)
    print(f"covered: least {min(coverage):.1%}, mean {fmean(coverage):.1%}")


def chances_of(kind: str, cases: int, lift: float, draw: int) -> Chances:
    """The chances of each case to pass, with a mean difference of about the lift."""
    if kind == "alike":
        return [(0.5 + lift / 2, 0.5 - lift / 2)] * cases
    chance = random.Random(f"{cases} {lift} {draw}")
    shares = [chance.choice((0.0, 0.5, 1.0)) for _ in range(cases)]
    return [(share * (1 - lift) + lift, share * (1 - lift)) for share in shares]


def add_run(tally: Tally, chances: Chances, terms: Terms) -> None:
    """Carry a suite out, and count what it says."""
    chance = random.Random(f"{terms.seed} {terms.until_decided} {chances}")

    def passes(trial: Trial) -> bool:
        ours, theirs = chances[trial.case_index]
        return chance.random() < (ours if trial.arm.name == WITH.name else theirs)

    plan = two_arm_plan([suite_of(len(chances))], terms)
    summary = asyncio.run(carry_out(plan, two_arm_job(passes))).view.summary
    (pair,) = summary.pairs
    assert pair.evidence is not None
    tally.add(pair.evidence, summary.counts.total, fmean(ours - theirs for ours, theirs in chances))


def line(name: str, fixed: Tally, early: Tally) -> str:
    """A row of the table."""
    share = fmean(early.sessions) / fmean(fixed.sessions)
    cells: Iterator[str] = iter(
        (
            name,
            f"{early.lift * 100:+.0f}",
            f"{fixed.found / fixed.runs:.1%}" if early.lift else "–",
            f"{early.found / early.runs:.1%}" if early.lift else "–",
            f"{early.false / early.runs:.1%}",
            f"{fmean(early.sessions):.0f} of {fmean(fixed.sessions):.0f}, {share:.0%}",
            f"{early.covered / early.runs:.1%}",
            f"{fmean(early.bias) * 100:+.1f}",
        )
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
