"""The progress of a target from run to run. Pure: no file, no clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from skillgauge.api import DIRECT, Frozen, SuiteHead, TargetHead
from skillgauge.api.report import Figure, GroupKey, GroupSummary, RunState, RunView, compared, headline
from skillgauge.stats import Finding, RateInterval

_BARS = "▁▂▃▄▅▆▇█"
_UNTOLD = "unknown"
"""Runner of what was taken over from a document that does not tell it."""


class TrendLift(Frozen):
    """The lift of a series' arm in one run, against one of its baseline arms."""

    baseline: str
    lift: float | None
    """Mean difference over the cases with a result in both arms; `null` if there is none."""
    n: int
    """Those cases."""
    finding: Finding | None
    """What it proves."""
    lower: float | None = None
    upper: float | None = None
    """Its 95 % interval for these cases."""


class TrendPoint(Frozen):
    """One run in a trend."""

    run_id: str
    started_at: float
    version: str | None
    digest: str
    """Digest of the skill's definition and code; empty if it is unknown."""
    pass_rate: RateInterval
    headline: Figure
    """The number that stands for the run: its pass rate, unless that says nothing of such a suite."""
    lifts: tuple[TrendLift, ...] = ()
    """Of a candidate arm, one for each arm that it was compared with."""
    errors: int
    p95_s: float | None
    samples: int = 0
    """Times that this percentile is of."""
    delta: float | None
    """Headline minus that of the run before; `null` for the first one, and if either is unknown."""
    changes: tuple[str, ...]
    """What is different from the run before: `version`, `files`, `suite`, `cases`, `adapter`, `engine`, `judge`."""


class TrendSeries(Frozen):
    """Runs that measured the same thing: one suite, arm and model."""

    suite: str
    arm: str
    model: str | None
    runner: str | None
    """Set only where a run had several runners for the same suite, arm and model."""
    points: tuple[TrendPoint, ...]
    """Oldest first."""
    is_baseline: bool = False
    """Whether others are only compared with this arm, in the newest run."""


@dataclass(frozen=True)
class _Measured:
    """The measures of the target in one run."""

    view: RunView
    group: GroupSummary
    suite: SuiteHead
    target: TargetHead
    lifts: tuple[TrendLift, ...]
    judges: frozenset[tuple[str, str | None]]
    """Who graded; their versions do not matter, their settings do."""

    @property
    def contents(self) -> dict[str, str]:
        """The digest of each case's question and checks, as far as the run has it."""
        return {case.id: case.digest for case in self.view.cases() if case.suite_id == self.suite.id and case.digest}


_Key = tuple[str, str, str, str | None, str | None]
"""Target, suite, arm, model, and the runner where there were several."""


def trends(views: Iterable[RunView], target: str, suite: str | None = None) -> tuple[TrendSeries, ...]:
    """Runs of a target, as series in which each can be compared with the one before.

    Args:
        views: finished runs in any order; what one does not prove for too many errors is no point of a series.
        target: its id.
        suite: only this suite.
    """
    return trends_of_all(views, suite, target).get(target, ())


def trends_of_all(
    views: Iterable[RunView], suite: str | None = None, target: str | None = None
) -> dict[str, tuple[TrendSeries, ...]]:
    """Runs of all targets, as `trends` has them, by the ids of the targets.

    Args:
        views: finished runs in any order.
        suite: only this suite.
        target: only this target.
    """
    series: dict[_Key, list[_Measured]] = {}
    for view in sorted(views, key=lambda one: (one.run.started_at, one.run.run_id)):
        for key, measured in _measured(view, target, suite):
            series.setdefault(key, []).append(measured)
    by_target: dict[str, list[TrendSeries]] = {}
    for (name, suite_id, arm, model, runner), runs in series.items():
        points = tuple(_points(runs))
        by_target.setdefault(name, []).append(
            TrendSeries(
                suite=suite_id,
                arm=arm,
                model=model,
                runner=runner,
                points=points,
                is_baseline=runs[-1].suite.is_baseline(arm),
            )
        )
    return {name: tuple(of_target) for name, of_target in by_target.items()}


def is_finished(view: RunView) -> bool:
    """Tell whether every trial of a run was carried out."""
    return view.run.state is RunState.FINISHED


def is_valid(view: RunView, target: str, suite: str | None) -> bool:
    """Tell whether a run proves anything of a target, on one suite or on any of those that it was evaluated on."""
    if view.head.is_chosen:
        return False
    invalid = {one.suite_id for one in view.summary.validity if not one.valid}
    of_target = {one.suite_id for one in view.summary.groups if one.target_id == target}
    suites_asked = of_target if suite is None else of_target & {suite}
    return not suites_asked or bool(suites_asked - invalid)


def sparkline(rates: Iterable[float | None]) -> str:
    """Rates from 0 to 1 as bars of eight heights; a blank for an unknown one."""
    return "".join(" " if rate is None else _BARS[min(7, int(rate * 8))] for rate in rates)


def lift_sparkline(points: Iterable[TrendPoint]) -> str:
    """The first lift of each run as bars, from -100 points at the lowest to +100 at the highest."""
    lifts = (point.lifts[0].lift if point.lifts else None for point in points)
    return sparkline(None if lift is None else (lift + 1) / 2 for lift in lifts)


def _measured(view: RunView, target: str | None, suite: str | None) -> Iterator[tuple[_Key, _Measured]]:
    """Yield what a run says about its targets, one value for each of their groups in a valid suite."""
    groups = [
        group
        for group in view.summary.groups
        if group.target_id is not None and target in (None, group.target_id) and suite in (None, group.suite_id)
    ]
    # The runner is left out where it can be: a run that was taken over from elsewhere does not tell it.
    counts = Counter((group.target_id, group.suite_id, group.arm, group.model) for group in groups)
    suites = _valid_suites(view)
    lifts = _lifts(view)
    judges = frozenset((judge.unversioned_digest, judge.model) for judge in view.head.judges)
    for group in groups:
        head = suites.get(group.suite_id)
        name = group.target_id or ""
        target_head = _target_head(head, name)
        if head is None or target_head is None:
            continue
        is_several = counts[group.target_id, group.suite_id, group.arm, group.model] > 1
        key = (name, group.suite_id, group.arm, group.model, group.runner if is_several else None)
        yield key, _Measured(view, group, head, target_head, tuple(lifts.get(group.key, ())), judges)


def _valid_suites(view: RunView) -> dict[str, SuiteHead]:
    """Return the suites of a run that prove something, by id."""
    invalid = {validity.suite_id for validity in view.summary.validity if not validity.valid}
    return {suite.id: suite for suite in view.head.suites if suite.id not in invalid}


def _target_head(suite: SuiteHead | None, target: str) -> TargetHead | None:
    if suite is None:
        return None
    return next((head for head in suite.targets if head.id == target), None)


def _lifts(view: RunView) -> dict[GroupKey, list[TrendLift]]:
    """Return the lifts of candidate arms: rates of two arms may be over different cases, a lift is not."""
    lifts: dict[GroupKey, list[TrendLift]] = {}
    for pair in compared(view):
        bounds = pair.evidence.interval_here if pair.evidence else None
        lift = TrendLift(
            baseline=pair.baseline.arm,
            lift=pair.lift,
            n=pair.n,
            finding=pair.evidence.finding if pair.evidence else None,
            lower=bounds.lower if bounds else None,
            upper=bounds.upper if bounds else None,
        )
        lifts.setdefault(pair.candidate, []).append(lift)
    return lifts


def _points(runs: list[_Measured]) -> Iterator[TrendPoint]:
    before: _Measured | None = None
    for run in runs:
        shown = headline(run.group)
        last = headline(before.group) if before else None
        yield TrendPoint(
            run_id=run.view.run.run_id,
            started_at=run.view.run.started_at,
            version=run.target.version,
            digest=run.target.digest,
            pass_rate=run.group.pass_rate,
            headline=shown,
            lifts=run.lifts,
            errors=run.group.counts.errors,
            p95_s=run.group.latency.p95_s,
            samples=run.group.latency.samples,
            delta=_difference(shown, last),
            changes=tuple(_changes(before, run)) if before else (),
        )
        before = run


def _difference(now: Figure, before: Figure | None) -> float | None:
    """Of two numbers of the same kind that are both known."""
    if before is None or before.name != now.name or before.value is None or now.value is None:
        return None
    return now.value - before.value


def _changed_source(before: _Measured, after: _Measured) -> str:
    """Name a change of a suite's sources: where a skill has no digest of its own, they are its files, too."""
    if before.target.digest or after.target.digest or before.suite.digest == after.suite.digest:
        return "suite"
    contents = before.contents
    return "files" if contents and contents == after.contents else "suite"


def _changes(before: _Measured, after: _Measured) -> Iterator[str]:
    """Return the changes that may explain a difference; a fact that either run lacks is no change."""
    old, new = (one.group.runner if one.group.runner != _UNTOLD else "" for one in (before, after))
    pairs: tuple[tuple[str, object, object], ...] = (
        ("version", before.target.version, after.target.version),
        ("files", before.target.digest, after.target.digest),
        ("suite", before.suite.version, after.suite.version),
        (_changed_source(before, after), before.suite.digest, after.suite.digest),
        ("cases", before.suite.case_count, after.suite.case_count),
        ("adapter" if after.group.arm == DIRECT.name else "engine", old, new),
        ("judge", before.judges, after.judges),
    )
    names = [name for name, first, second in pairs if first and second and first != second]
    yield from dict.fromkeys(names)
