"""The forest plot: the lift of each comparison with its interval, one below the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from skillgauge.api import Problem, UsageError
from skillgauge.api.report import percent, signed_points
from skillgauge_run_tables import Runs

from .pictures import BETTER, FAINT, OPEN, WORSE, Picture, labelled, named, picture

Row = Mapping[str, Any]
_COLOURS = {"helps": BETTER, "hurts": WORSE}
_PARTS = ("target_id", "suite_id", "engine", "model", "arm", "baseline", "run_id")


def forest_plot(runs: Runs, *, new_cases: bool = False) -> Picture:
    """Draw the lifts of all comparisons that prove anything, the greatest on top.

    Args:
        runs: the runs.
        new_cases: draw the intervals for new cases of this kind, which there are from 8 cases on, and not those for
            the cases of the suite.

    Raises:
        UsageError: there is nothing to draw.
    """
    prefix = "new" if new_cases else "lift"
    rows = [row for row in runs.comparisons() if row[f"{prefix}_lower"] is not None]
    if not rows:
        message = "no comparison of these runs has such an interval"
        hint = "Compare an arm with a baseline on cases that end without errors; for new cases, on 8 or more."
        raise UsageError(Problem("plots.nothing", message, hint=hint))
    rows.sort(key=lambda row: row["lift"])
    names = _names(rows)
    described = [f"{name}: {_worded(row, prefix)}" for name, row in zip(names, rows, strict=True)]
    which = "new cases of this kind" if new_cases else "these cases"
    (level, *others) = sorted({row["lift_level"] for row in rows})
    confidence = percent(level).replace(".0%", "%") if not others else f"{level:.0%} and other"

    def draw(axes: Axes) -> None:
        for place, row in enumerate(rows):
            colour = _COLOURS.get(row["finding"] or "", OPEN)
            ends = [row[f"{prefix}_lower"] * 100, row[f"{prefix}_upper"] * 100]
            axes.plot(ends, [place, place], color=colour, linewidth=2, solid_capstyle="butt")
            axes.plot(row["lift"] * 100, place, "s", color=colour, markersize=7)
            axes.text(
                1.02, place, _worded(row, prefix), transform=axes.get_yaxis_transform(), va="center", parse_math=False
            )
        axes.axvline(0, color=FAINT, linewidth=1)
        axes.set_yticks(range(len(rows)), labels=names, parse_math=False)
        axes.set_ylim(-0.6, len(rows) - 0.4)
        labelled(axes, f"Lift in percentage points, {confidence} intervals for {which}")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)

    return picture(
        draw, size=(6.5, 1.1 + 0.36 * len(rows)), title="Lift of each comparison", description="; ".join(described)
    )


def _worded(row: Row, prefix: str) -> str:
    bounds = f"{signed_points(row[f'{prefix}_lower'])} to {signed_points(row[f'{prefix}_upper'])}"
    return f"{signed_points(row['lift'])} ({bounds}), n = {row['cases']}"


def _names(rows: Sequence[Row]) -> list[str]:
    """Return a name for each row: the skill, and what else differs between rows."""
    differing = [part for part in _PARTS[1:] if len({row[part] for row in rows}) > 1]
    if len({row["target_id"] or row["suite_id"] for row in rows}) == len(rows):
        differing = []
    shown = [[row["target_id"] or row["suite_id"], *(row[part] for part in differing)] for row in rows]
    return [" · ".join(named(part) for part in parts if part) for parts in shown]
