"""Trends for people: of one target run by run, and of all with a line each. Ids change nothing on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skillgauge.api import DIRECT, plain
from skillgauge.api.report import counted, duration, figure_text, interval_text, moment, signed_points
from skillgauge.api.run import Output
from skillgauge_run_views.trends import TrendLift, TrendPoint, TrendSeries, lift_sparkline, sparkline

from .documents import TargetTrend, TrendDocument, TrendsDocument

_MIN_SAMPLES = 20
"""With fewer times the 95th percentile is the largest of them."""
_WIDTH = 40
_BARS = 12
"""Runs in a picture, the newest."""
_MOST = 40
"""Lines of all targets."""


def trends_document(
    place: str, runs: int, unfinished: int, by_target: Iterable[tuple[str, Sequence[TrendSeries]]]
) -> TrendsDocument:
    """Return the document of all targets, those that fell most since the run before first."""
    targets = []
    for target, series in by_target:
        measured = tuple(one for one in series if not one.is_baseline)
        if measured:
            targets.append(TargetTrend(target=target, series=measured))
    targets.sort(key=lambda trend: (_fall(trend), trend.target))
    return TrendsDocument(store=place, runs=runs, unfinished=unfinished, targets=tuple(targets))


def _fall(trend: TargetTrend) -> float:
    """Return the largest loss since the run before, as a number that is lower the more was lost."""
    return min((series.points[-1].delta or 0.0 for series in trend.series), default=0.0)


def print_trends(document: TrendsDocument, output: Output) -> None:
    """Print a line for each target, suite, arm and model, with pictures of its rates and lifts."""
    rows = [_trend_row(trend, series) for trend in document.targets for series in trend.series]
    has_lift = any(point.lifts for trend in document.targets for series in trend.series for point in series.points)
    lift = ["Lift", "Last", "Its interval"] if has_lift else []
    heads = ["Skill", "Runs", "Rate", "Last", "Interval", "n", "Change", *lift, "Different"]
    shown = [[*row[:7], *(row[7:10] if has_lift else []), row[10]] for row in rows[:_MOST]]
    output.table(heads, shown)
    if len(rows) > _MOST:
        output.line(f"and {len(rows) - _MOST} more; --json has all of them")
    output.line()
    output.line(f"Rate and lift: the newest {_BARS} runs, oldest on the left; a lift of 0 is a bar of half height.")
    output.line("Change: points since the run before, of which `history noise` says how much is chance; Different:")
    output.line("what else changed then.")
    output.verdict(_trends_verdict(document))


def _trends_verdict(document: TrendsDocument) -> str:
    fallen = sum(_fall(trend) < 0 for trend in document.targets)
    risen = sum(
        _fall(trend) >= 0 and any((series.points[-1].delta or 0.0) > 0 for series in trend.series)
        for trend in document.targets
    )
    same = len(document.targets) - fallen - risen
    skills = counted(len(document.targets), "skill")
    runs = counted(document.runs, "run")
    return f"{skills} in {runs}: {fallen} lower than in the run before, {risen} higher, {same} the same"


def _trend_row(trend: TargetTrend, series: TrendSeries) -> list[str]:
    points, last = series.points[-_BARS:], series.points[-1]
    lift = last.lifts[0] if last.lifts else None
    return [
        _title(trend.target, series if series.suite != trend.target else series.model_copy(update={"suite": ""})),
        str(len(series.points)),
        sparkline(point.headline.value for point in points),
        figure_text(last.headline.model_copy(update={"interval": None, "n": None})),
        interval_text(last.headline.interval) if last.headline.interval else "–",
        str(last.pass_rate.n),
        _change_text(last),
        lift_sparkline(points),
        "–" if lift is None or lift.lift is None else signed_points(lift.lift),
        _lift_bounds(lift) or "–",
        ", ".join(last.changes),
    ]


def print_trend(document: TrendDocument, output: Output) -> None:
    """Each series with one line per run."""
    for number, series in enumerate(document.series):
        if number:
            output.line()
        _print_series(document.target, series, output)
    points = [point for series in document.series for point in series.points]
    output.line()
    output.line(f"Rates average a case's repeats first, errors left out; n = cases{_methods_text(points)}.")
    if any(point.lifts for point in points):
        output.line(
            "Lift: points against the baseline arm, with the interval for these cases, over the n in both arms."
        )
        output.line("In the pictures a lift of 0 is a bar of half height.")
    output.line("Change: points since the run before; Different: what else is not as it was in the run before.")


def _print_series(target: str, series: TrendSeries, output: Output) -> None:
    bars = sparkline(point.headline.value for point in series.points)
    has_lift = any(point.lifts for point in series.points)
    lifts = f"  lift {lift_sparkline(series.points)}" if has_lift else ""
    rates = f"rate {bars}" if has_lift else bars
    output.line(f"{_title(target, series)}  {rates}{lifts}  {counted(len(series.points), 'run')}")
    rate = plain(series.points[-1].headline.label, _WIDTH)
    lift = ["Lift"] if has_lift else []
    heads = ["Began", "Run", "Version", rate, "Interval", "n", *lift, "Errors", "P95", "Change", "Different"]
    output.table(heads, [_row(point, has_lift=has_lift) for point in series.points])


def _methods_text(points: Iterable[TrendPoint]) -> str:
    """Name the methods of the intervals that are shown; empty if there are none."""
    intervals = [point.headline.interval for point in points]
    methods = sorted({interval.method for interval in intervals if interval and interval.method})
    return f"; interval: {', '.join(methods)}" if methods else ""


def _title(target: str, series: TrendSeries) -> str:
    arm = series.arm if series.arm != DIRECT.name else None
    parts = [target, series.suite, arm, series.model, series.runner]
    return " · ".join(plain(part, _WIDTH) for part in parts if part)


def _row(point: TrendPoint, *, has_lift: bool) -> list[str]:
    interval = point.headline.interval
    return [
        moment(point.started_at),
        plain(point.run_id),
        plain(point.version or "–", _WIDTH),
        figure_text(point.headline.model_copy(update={"interval": None, "n": None})),
        interval_text(interval) if interval else "–",
        str(point.pass_rate.n),
        *([_lift_text(point.lifts)] * has_lift),
        str(point.errors),
        duration(point.p95_s) if point.samples >= _MIN_SAMPLES else "–",
        _change_text(point),
        ", ".join(point.changes),
    ]


def _change_text(point: TrendPoint) -> str:
    change = "–" if point.delta is None else signed_points(point.delta)
    return "0.0" if change in ("+0.0", "-0.0") else change


def _lift_bounds(lift: TrendLift | None) -> str:
    if lift is None or lift.lower is None or lift.upper is None:
        return ""
    return f"{signed_points(lift.lower)} to {signed_points(lift.upper)}"


def _lift_text(lifts: Sequence[TrendLift]) -> str:
    """Return the lift of each comparison, with the arm it was made with where there are several."""
    texts = []
    for lift in lifts:
        text = "–" if lift.lift is None else signed_points(lift.lift)
        finding = f" {lift.finding.replace('_', ' ')}" if lift.finding else ""
        against = f" against {plain(lift.baseline, _WIDTH)}" if len(lifts) > 1 else ""
        bounds = f"{_lift_bounds(lift)}; " if _lift_bounds(lift) else ""
        texts.append(f"{text}{finding} ({bounds}n = {lift.n}){against}")
    return "; ".join(texts) or "–"
