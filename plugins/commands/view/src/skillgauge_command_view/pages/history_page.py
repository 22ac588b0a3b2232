"""The page of a skill: its pass rate, its lift and what it cost, from run to run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgauge.api import DIRECT, plain
from skillgauge.api.report import RunView, percent, signed_points
from skillgauge_run_pages import dollars
from skillgauge_run_pages.charts import Chart, Mark, chart
from skillgauge_run_views.trends import TrendPoint, TrendSeries, is_finished, is_valid, trends

from ..rows import Lift, RunRow

MOST = 200
"""Runs of a skill that are looked at, the newest."""


@dataclass(frozen=True)
class Entry:
    """A run in a series."""

    row: RunRow
    point: TrendPoint
    lifts: tuple[Lift, ...]


@dataclass(frozen=True)
class Series:
    """Runs that measured the same thing."""

    title: str
    headline: str
    entries: tuple[Entry, ...]
    """Oldest first."""
    charts: tuple[Chart, ...]

    @property
    def has_changes(self) -> bool:
        """True if something but the results changed between two of its runs."""
        return any(entry.point.changes for entry in self.entries)


@dataclass(frozen=True)
class HistoryPage:
    """A skill from run to run."""

    target: str
    series: tuple[Series, ...]
    runs: int
    left_out: int
    """Runs that did not finish or that prove nothing."""
    older: int
    """Runs that are not looked at."""


def newest_rows(rows: Sequence[RunRow], target: str) -> tuple[list[RunRow], int]:
    """The rows of a skill that its page looks at, newest first, and how many older ones there are."""
    fitting = [row for row in rows if target in row.targets]
    return fitting[:MOST], max(0, len(fitting) - MOST)


def history_page(target: str, rows: Sequence[RunRow], views: Sequence[RunView], older: int = 0) -> HistoryPage:
    """Return the page of a skill; reads no trial.

    Args:
        target: id of the skill.
        rows: its runs, newest first.
        views: the same runs.
        older: runs that are not among them.
    """
    usable = [view for view in views if is_finished(view) and is_valid(view, target, None)]
    by_id = {row.run_id: row for row in rows}
    series = tuple(_series(target, one, by_id) for one in trends(usable, target))
    return HistoryPage(target, series, len(views), len(views) - len(usable), older)


def _series(target: str, series: TrendSeries, rows: Mapping[str, RunRow]) -> Series:
    entries = tuple(
        Entry(rows[point.run_id], point, tuple(_lifts(rows[point.run_id], target, series))) for point in series.points
    )
    arm = series.arm if series.arm != DIRECT.name else None
    title = " · ".join(plain(part, 60) for part in (series.suite, arm, series.model, series.runner) if part)
    headline = series.points[-1].headline.label
    return Series(title, headline, entries, tuple(_charts(entries, headline)))


def _lifts(row: RunRow, target: str, series: TrendSeries) -> Iterator[Lift]:
    measured = (series.suite, target, series.arm, series.model)
    for lift in row.lifts:
        is_same = (lift.suite, lift.target, lift.candidate, lift.model) == measured
        if is_same and series.runner in (None, lift.runner):
            yield lift


def _charts(entries: Sequence[Entry], headline: str) -> Iterator[Chart]:
    rates = []
    for entry in entries:
        figure = entry.point.headline
        bounds = figure.interval
        rates.append(
            Mark(
                figure.value,
                bounds.lower if bounds else None,
                bounds.upper if bounds else None,
                percent(figure.value),
                ", ".join(entry.point.changes),
            )
        )
    yield chart(plain(headline, 60), rates, least=0.0, most=1.0, shown=percent)
    baselines = dict.fromkeys(lift.baseline for entry in entries for lift in entry.lifts)
    for baseline in baselines:
        marks = [_lift_mark(entry, baseline) for entry in entries]
        title = f"Lift against {plain(baseline, 40)}, in points"
        yield chart(title, marks, least=-1.0, most=1.0, shown=_points)
    costs = [Mark(entry.row.cost_usd, None, None, dollars(entry.row.cost_usd)) for entry in entries]
    top = max((mark.value for mark in costs if mark.value is not None), default=0.0)
    if top > 0:
        yield chart("Cost of the run", costs, least=0.0, most=top, shown=dollars)


def _points(value: float | None) -> str:
    return "" if value is None else signed_points(value)


def _lift_mark(entry: Entry, baseline: str) -> Mark:
    lift = next((lift for lift in entry.lifts if lift.baseline == baseline), None)
    changes = ", ".join(entry.point.changes)
    if lift is None:
        return Mark(None, None, None, "", changes)
    return Mark(lift.estimate, lift.lower, lift.upper, signed_points(lift.estimate), changes)
