"""Cost against quality: what a trial costs on average, and how many cases pass, for each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from matplotlib.axes import Axes

from skillgauge.api import Problem, UsageError
from skillgauge.api.report import percent
from skillgauge_run_tables import Runs

from .pictures import COLOURS, FAINT, MARKS, Picture, labelled, named, picture

Row = Mapping[str, Any]
By = Literal["cost_usd", "total_tokens", "duration_s"]
_AXES: Mapping[By, str] = {
    "cost_usd": "Cost of a trial in USD, on average",
    "total_tokens": "Tokens of a trial, on average",
    "duration_s": "Duration of a trial in seconds, on average",
}
_KEY = ("run_id", "suite_id", "target_id", "arm", "engine", "model")
_NAMES = ("target_id", "engine", "model", "arm", "suite_id", "run_id")


@dataclass(frozen=True)
class _Point:
    name: str
    effort: float
    rate: float
    lower: float
    upper: float
    is_baseline: bool


def cost_plot(runs: Runs, *, by: By = "cost_usd") -> Picture:
    """Draw the pass rate of each group against what its graded trials cost on average.

    A line joins the groups that no other one beats in both; the marks of baselines are empty. A group of which a graded
    trial does not report its cost is not drawn, and named in the description.

    Args:
        runs: the runs.
        by: a column of trials: `cost_usd`, `total_tokens` or `duration_s`.

    Raises:
        UsageError: there is nothing to draw.
    """
    efforts: dict[tuple[Any, ...], list[float | None]] = {}
    for trial in runs.trials():
        if trial["passed"] is not None:
            efforts.setdefault(_key(trial), []).append(trial[by])
    groups = [group for group in runs.groups() if group["rate_lower"] is not None]
    names = dict(zip(map(_key, groups), _names(groups), strict=True))
    points, unknown = [], []
    for group in groups:
        known = [effort for effort in efforts.get(_key(group), ()) if effort is not None]
        if known and len(known) == len(efforts[_key(group)]):
            bounds = (group["rate"], group["rate_lower"], group["rate_upper"])
            points.append(_Point(names[_key(group)], fmean(known), *bounds, is_baseline=group["is_baseline"]))
        else:
            unknown.append(names[_key(group)])
    if not points:
        message = f"no group of these runs reports {by} for all of its graded trials"
        hint = f"Draw it by another column: {', '.join(_AXES)}."
        raise UsageError(Problem("plots.nothing", message, hint=hint))
    described = [f"{point.name}: {point.effort:.4g}, {percent(point.rate)} passed" for point in points]
    if unknown:
        described.append(f"not drawn, since {by} is unknown: {', '.join(unknown)}")
    return picture(
        lambda axes: _draw(axes, points, _AXES[by]),
        size=(6.5, 4.2),
        title=f"Pass rate against {by}",
        description="; ".join(described),
    )


def _draw(axes: Axes, points: Sequence[_Point], along: str) -> None:
    front = _front(points)
    axes.plot([point.effort for point in front], [point.rate * 100 for point in front], "--", color=FAINT, linewidth=1)
    for place, point in enumerate(points):
        colour = COLOURS[place % len(COLOURS)]
        axes.errorbar(
            point.effort,
            point.rate * 100,
            yerr=[[max(0.0, point.rate - point.lower) * 100], [max(0.0, point.upper - point.rate) * 100]],
            fmt=MARKS[place // len(COLOURS) % len(MARKS)],
            color=colour,
            markerfacecolor="white" if point.is_baseline else colour,
            markersize=7,
            capsize=3,
            label=point.name,
        )
    axes.set_ylim(-3, 103)
    axes.margins(x=0.1)
    if min(point.effort for point in points) >= 0:
        axes.set_xlim(left=0)
    labelled(axes, along, "Pass rate in percent, with its interval")
    legend = axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.02), frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _front(points: Sequence[_Point]) -> list[_Point]:
    """Return the points that no other one beats in both, the cheapest first."""
    front: list[_Point] = []
    for point in sorted(points, key=lambda point: (point.effort, -point.rate)):
        if not front or point.rate > front[-1].rate:
            front.append(point)
    return front


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[part] for part in _KEY)


def _names(groups: Sequence[Row]) -> list[str]:
    """Return a name for each group: what differs between groups."""
    differing = [part for part in _NAMES if len({group[part] for group in groups}) > 1] or ["arm"]
    return [" · ".join(dict.fromkeys(named(group[part]) for part in differing if group[part])) for group in groups]
