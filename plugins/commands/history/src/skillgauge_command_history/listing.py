"""Runs and trends as documents, and for people. Ids of a run cannot change what the terminal shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skillgauge.api import DIRECT, plain
from skillgauge.api.report import (
    UNKNOWN,
    CaseCounts,
    Counts,
    GroupSummary,
    RunView,
    counted,
    duration,
    figure_text,
    headline_text,
    interval_text,
    moment,
    percent,
    rated_figures,
    signed_points,
)
from skillgauge.api.run import Output
from skillgauge_run_views.trends import TrendLift, TrendPoint, TrendSeries, sparkline

from .documents import (
    ImportDocument,
    ListDocument,
    ListedRun,
    ListedTarget,
    NoiseDocument,
    TrendDocument,
)

_NAMED = 3
_MIN_SAMPLES = 20
"""With fewer times the 95th percentile is the largest of them."""
_WIDTH = 40


def listed(views: Iterable[RunView], place: str) -> ListDocument:
    """Runs as a document; their results are not read."""
    return ListDocument(store=place, runs=tuple(_listed(view) for view in views))


def print_runs(document: ListDocument, output: Output) -> None:
    """Runs as a table."""
    rows = []
    for run in document.runs:
        counts = run.counts
        targets = dict.fromkeys(target.id for target in run.targets)
        rows.append(
            [
                plain(run.run.run_id),
                moment(run.run.started_at),
                f"{run.run.state}, invalid" if run.invalid else run.run.state,
                _named(run.suites),
                _named(list(targets)),
                _passed(run),
                str(counts.errors),
            ]
        )
    output.table(["Run", "Began", "State", "Suite", "Target", "Passed", "Errors"], rows)


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
        output.line("Lift: points against the baseline arm, over the n cases with a result in both.")
    output.line("Change: points since the run before; Different: what else is not as it was in the run before.")


def _print_series(target: str, series: TrendSeries, output: Output) -> None:
    bars = sparkline(point.headline.value for point in series.points)
    output.line(f"{_title(target, series)}  {bars}  {counted(len(series.points), 'run')}")
    has_lift = any(point.lifts for point in series.points)
    rate = plain(series.points[-1].headline.label, _WIDTH)
    lift = ["Lift"] if has_lift else []
    heads = ["Began", "Run", "Version", rate, "Interval", "n", *lift, "Errors", "P95", "Change", "Different"]
    output.table(heads, [_row(point, has_lift=has_lift) for point in series.points])


def _methods_text(points: Iterable[TrendPoint]) -> str:
    """Name the methods of the intervals that are shown; empty if there are none."""
    intervals = [point.headline.interval for point in points]
    methods = sorted({interval.method for interval in intervals if interval and interval.method})
    return f"; interval: {', '.join(methods)}" if methods else ""


def print_noise(document: NoiseDocument, output: Output) -> None:
    """Print a line for each group, and what they come to."""
    for row in document.noise:
        parts = (row.target or row.suite, row.arm if row.arm != DIRECT.name else "", row.runner, row.model, row.judges)
        name = " · ".join(plain(part, _WIDTH) for part in parts if part)
        rate = percent(row.flip_rate.rate)
        basis = f"n = {counted(row.cases, 'case')}, {counted(row.sessions, 'session')}"
        output.line(f"{name}: two runs of a case disagree in {rate} ({interval_text(row.flip_rate)}; {basis})")
    output.verdict(noise_verdict(document))


def noise_verdict(document: NoiseDocument) -> str:
    """The list in one sentence."""
    runs = counted(document.runs, "run")
    if not document.noise:
        return f"no case ran twice unchanged in {runs}; evaluate with --runs 2 or more, or with --same"
    noisiest = document.noise[0]
    subject = plain(noisiest.target or noisiest.suite, _WIDTH)
    rate = percent(noisiest.flip_rate.rate)
    return f"noisiest in {runs}: {subject}, where two runs of a case disagree in {rate}"


def print_import(document: ImportDocument, output: Output) -> None:
    """Print the runs that were taken over, and those that were not."""
    for run in document.imported:
        output.line(
            f"{run.run_id}  {plain(run.skill, _WIDTH)} on {plain(run.benchmark, _WIDTH)}, {run.results} results"
        )
    if document.not_imported:
        output.line()
        output.table(
            ["Not imported", "Skill", "Benchmark", "Reason"],
            [
                [plain(run.evaluation, _WIDTH), plain(run.skill, _WIDTH), plain(run.benchmark, _WIDTH), run.reason]
                for run in document.not_imported
            ],
        )


def import_verdict(document: ImportDocument) -> str:
    """The import in one sentence."""
    verdict = f"imported {counted(len(document.imported), 'run')} into {document.store}"
    if document.present:
        verdict += f", {len(document.present)} had been imported before"
    damaged = sum(one.damaged for one in document.not_imported)
    unfinished = len(document.not_imported) - damaged
    verdict += f", {unfinished} did not finish and are left out" if unfinished else ""
    verdict += f", {damaged} cannot be read" if damaged else ""
    return verdict + (f"; {document.passed_over} further JSON files hold no other run" if document.passed_over else "")


def _listed(view: RunView) -> ListedRun:
    groups = _counting(view)
    cases = [group.cases for group in groups if group.cases]
    return ListedRun(
        run=view.run,
        suites=tuple(suite.id for suite in view.head.suites),
        targets=tuple(
            ListedTarget(suite=suite.id, id=target.id, version=target.version, digest=target.digest)
            for suite in view.head.suites
            for target in suite.targets
        ),
        counts=Counts.sum(group.counts for group in groups) if groups else view.summary.counts,
        cases=CaseCounts.sum(cases) if cases else None,
        headlines=tuple(dict.fromkeys(headline_text(group) for group in groups if rated_figures(group))),
        groups=view.summary.groups,
        invalid=tuple(one for one in view.summary.validity if not one.valid),
    )


def _counting(view: RunView) -> list[GroupSummary]:
    """Return the groups of a run that are not only compared with."""
    baselines = {(suite.id, arm) for suite in view.head.suites for arm in suite.arms if suite.is_baseline(arm)}
    return [group for group in view.summary.groups if (group.suite_id, group.arm) not in baselines]


def _passed(run: ListedRun) -> str:
    """Return how many of the graded cases passed; of trigger sets their own figures, which no count tells."""
    if run.headlines:
        return ", ".join(run.headlines)
    if run.cases is None:
        return UNKNOWN
    apart = f", {run.cases.quarantined} in quarantine" if run.cases.quarantined else ""
    return f"{run.cases.passed} of {counted(run.cases.graded, 'case')}{apart}"


def _named(ids: Sequence[str]) -> str:
    shown = ", ".join(plain(one, _WIDTH) for one in ids[:_NAMED])
    more = len(ids) - _NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _title(target: str, series: TrendSeries) -> str:
    arm = series.arm if series.arm != DIRECT.name else None
    parts = [target, series.suite, arm, series.model, series.runner]
    return " · ".join(plain(part, _WIDTH) for part in parts if part)


def _row(point: TrendPoint, *, has_lift: bool) -> list[str]:
    change = "–" if point.delta is None else signed_points(point.delta)
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
        "0.0" if change in ("+0.0", "-0.0") else change,
        ", ".join(point.changes),
    ]


def _lift_text(lifts: Sequence[TrendLift]) -> str:
    """Return the lift of each comparison, with the arm it was made with where there are several."""
    texts = []
    for lift in lifts:
        text = "–" if lift.lift is None else signed_points(lift.lift)
        finding = f" {lift.finding.replace('_', ' ')}" if lift.finding else ""
        against = f" against {plain(lift.baseline, _WIDTH)}" if len(lifts) > 1 else ""
        texts.append(f"{text}{finding} (n = {lift.n}){against}")
    return "; ".join(texts) or "–"
