"""How often nightly runs of one repeat name a case that wavers, and take it for something else.

Run, from the root of the repository: python -m benchmarks.flaky_simulation [DRAWS]

A case passes each night with the same chance, or breaks for good in the middle of the nights. "listed" is how often it
is in the list of flaky cases, "proposed" how often for quarantine, "turned" how often it is said to have changed for
good, and "covered" how often the printed interval holds the true chance. Everything is seeded.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass

from skillgauge.stats import wilson
from skillgauge_command_history.flaky import has_turned
from skillgauge_command_history.quarantine import wavers_clearly

NIGHTS = (3, 6, 10, 20)
CHANCES = (0.5, 0.8, 0.9, 0.95, 1.0)
_ROUNDING = 1e-9


@dataclass
class Cell:
    """What became of one case in many histories."""

    draws: int = 0
    listed: int = 0
    proposed: int = 0
    turned: int = 0
    covered: int = 0

    def add(self, verdicts: list[bool], chance: float | None) -> None:
        """Count one history; `chance` is unknown for a case that breaks."""
        passed, nights = sum(verdicts), len(verdicts)
        wavers = 0 < passed < nights
        turned = wavers and has_turned(verdicts)
        bounds = wilson(passed, nights)
        self.draws += 1
        self.listed += wavers and not turned
        self.turned += turned
        self.proposed += not turned and wavers_clearly("".join("p" if verdict else "f" for verdict in verdicts))
        self.covered += chance is not None and bounds.lower - _ROUNDING <= chance <= bounds.upper + _ROUNDING

    def row(self, name: str, nights: int) -> str:
        """The cell as a row of a table."""
        shares = (self.listed, self.proposed, self.turned, self.covered)
        cells = [f"{share / self.draws:.1%}" for share in shares]
        if name.startswith("breaks"):
            cells[-1] = "–"
        return f"| {nights} | {name} | {' | '.join(cells)} |"


def simulated(nights: int, chance: float | None, draws: int) -> Cell:
    """Return what became of many histories of one case."""
    source = random.Random(f"{nights}|{chance}")
    cell = Cell()
    for _ in range(draws):
        if chance is None:
            verdicts = [night < nights // 2 for night in range(nights)]
        else:
            verdicts = [source.random() < chance for _ in range(nights)]
        cell.add(verdicts, chance)
    return cell


def main(draws: int) -> None:
    """Print the table."""
    print("| nights | the case passes | listed | proposed | turned | covered |")
    print("|---|---|---|---|---|---|")
    for nights in NIGHTS:
        for chance in (*CHANCES, None):
            name = "breaks halfway" if chance is None else f"in {chance:.0%}"
            print(simulated(nights, chance, draws).row(name, nights))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
