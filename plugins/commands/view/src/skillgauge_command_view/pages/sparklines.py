"""The runs before a run as a small line beside it: the share of cases that passed, from run to run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillgauge.api.report import RunState, percent

from ..rows import RunRow

MOST = 12
"""Runs of a line, the newest."""
WIDTH, HEIGHT = 60, 14
"""Size of a line, in pixels; a point has room around it."""
_ROOM = 2


@dataclass(frozen=True)
class Sparkline:
    """The shares of cases that passed in a run and in those before it, oldest first."""

    shares: tuple[float, ...]

    @property
    def points(self) -> tuple[tuple[float, float], ...]:
        """The place of each share, from the upper left corner."""
        step = (WIDTH - 2 * _ROOM) / (len(self.shares) - 1)
        height = HEIGHT - 2 * _ROOM
        return tuple(
            (round(_ROOM + step * place, 1), round(_ROOM + height * (1 - share), 1))
            for place, share in enumerate(self.shares)
        )

    @property
    def path(self) -> str:
        """The line as the path of an SVG."""
        return "M" + "L".join(f"{x} {y}" for x, y in self.points)

    @property
    def label(self) -> str:
        """The same in words."""
        return f"Cases passed in the last {len(self.shares)} runs: {', '.join(map(percent, self.shares))}"


def sparklines(rows: Iterable[RunRow], shown: Iterable[RunRow]) -> dict[str, Sparkline]:
    """Return the lines of runs that have an earlier run of the same skills, suites, engines and models.

    Args:
        rows: all runs, in any order.
        shown: those whose lines are wanted; the answer has them by their keys.
    """
    alike: dict[object, list[RunRow]] = {}
    for row in sorted(rows, key=lambda row: row.started_at):
        if row.passed is not None and row.state is not RunState.RUNNING:
            alike.setdefault(_measured(row), []).append(row)
    wanted = {row.key for row in shown}
    lines: dict[str, Sparkline] = {}
    for series in alike.values():
        for place, row in enumerate(series):
            if place and row.key in wanted:
                lines[row.key] = _line(series[max(0, place + 1 - MOST) : place + 1])
    return lines


def _measured(row: RunRow) -> tuple[Sequence[str], ...]:
    return row.targets, row.suites, row.engines, row.models


def _line(rows: Sequence[RunRow]) -> Sparkline:
    return Sparkline(tuple(row.passed for row in rows if row.passed is not None))
