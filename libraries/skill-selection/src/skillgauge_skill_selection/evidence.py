"""The evidence about skills in reports, one value per skill and benchmark, whichever program wrote the report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skillgauge.api import Frozen, SuiteHead, TrialResult, Usage, plain
from skillgauge.api.report import GroupKey, GroupSummary, RunView, headline, listed


class SkillReport(Frozen):
    """The figures of one skill. Unknown is `None`, never 0."""

    skill_id: str
    benchmark: str
    """Id of the suite it was measured on."""
    measured_at: float
    """Seconds since the epoch."""
    file: str = ""
    """The document that says so; empty for a run of this command."""
    completion_rate: float | None = None
    """Passed share of all trials, errors included."""
    cases: int = 0
    lower: float | None = None
    """Bounds of the pass rate, as the report gives them."""
    upper: float | None = None
    method: str | None = None
    error_rate: float | None = None
    composite_score: float | None = None
    """Published score of the format; `None` for a format that has none."""
    latency_p95_ms: float | None = None
    tokens_per_call: float | None = None
    """Mean over the calls that tell their usage."""
    usd_per_call: float | None = None


@dataclass(frozen=True)
class Evidence:
    """The report that counts for each skill."""

    by_skill: Mapping[str, SkillReport]
    notices: tuple[str, ...] = ()
    """What makes the comparison less than even."""


def reports_of(view: RunView, file: str = "") -> tuple[tuple[SkillReport, ...], tuple[str, ...]]:
    """The reports of a run, in its order, and what was passed over.

    A baseline is no report about the skill, and a suite in which too much went wrong proves nothing.

    Args:
        view: the run. Its results are read once; blocks.
        file: the document that it was read from.
    """
    suites = {suite.id: suite for suite in view.head.suites}
    reasons = {one.suite_id: one.reason for one in view.summary.validity if not one.valid}
    where = f"{plain(file)}: " if file else ""
    notices = [f"{where}{plain(name)} proves nothing ({plain(why)})" for name, why in reasons.items()]
    spent = _spent(view)
    reports = []
    for group in view.summary.groups:
        if group.target_id is None or group.suite_id in reasons or is_baseline(group, suites):
            continue
        used = spent.get(group.key, _Spent())
        reports.append(_report(group, used, file, used.latest or view.run.started_at))
    return tuple(reports), tuple(notices)


def newest(reports: Iterable[SkillReport]) -> Evidence:
    """For each skill the report with the latest time; of several with the same time the last one of the first document.

    Args:
        reports: in any order. That one document has several for a skill, or that the skills were measured on
            different benchmarks, is told in the notices.
    """
    chosen: dict[str, SkillReport] = {}
    beside: dict[tuple[str, str], int] = {}
    for report in reports:
        place = (report.skill_id, report.file)
        beside[place] = beside.get(place, 0) + 1
        known = chosen.get(report.skill_id)
        if known is None or (report.measured_at, report.file == known.file) > (known.measured_at, False):
            chosen[report.skill_id] = report
    notices = []
    for report in chosen.values():
        count = beside[report.skill_id, report.file]
        if count > 1:
            where = f" in {plain(report.file)}" if report.file else ""
            notices.append(
                f"{plain(report.skill_id)} has {count} reports{where}; the newest, on {plain(report.benchmark)}, counts"
            )
    return Evidence(chosen, tuple(notices))


def uneven(reports: Iterable[SkillReport]) -> str | None:
    """Say why reports cannot quite be compared with each other, if so."""
    benchmarks: dict[str, list[str]] = {}
    for report in reports:
        benchmarks.setdefault(report.benchmark, []).append(report.skill_id)
    if len(benchmarks) < 2:
        return None
    text = "; ".join(f"{plain(name)}: {listed(skills, 3)}" for name, skills in benchmarks.items())
    return f"the skills were measured on different benchmarks ({text})"


def completion_rate(group: GroupSummary) -> float | None:
    """The published completion rate, else the pass rate; `None` if nothing ran."""
    ran = group.counts.total - group.counts.skipped
    if not ran:
        return None
    published = _figure(group, "completionRate")
    if published is not None:
        return published
    return headline(group).value


def is_baseline(group: GroupSummary, suites: Mapping[str, SuiteHead]) -> bool:
    """Tell whether a group is the one that another is compared with.

    Args:
        group: of a run.
        suites: the run's suites by id.
    """
    return group.suite_id in suites and suites[group.suite_id].is_baseline(group.arm)


def _report(group: GroupSummary, used: _Spent, file: str, measured_at: float) -> SkillReport:
    counts = group.counts
    ran = counts.total - counts.skipped
    p95_s = group.latency.p95_s
    rate = headline(group).interval or group.pass_rate
    return SkillReport(
        skill_id=group.target_id or "",
        benchmark=group.suite_id,
        measured_at=measured_at,
        file=file,
        completion_rate=completion_rate(group),
        cases=rate.n,
        lower=rate.lower,
        upper=rate.upper,
        method=rate.method,
        error_rate=_error_rate(group, ran),
        composite_score=_figure(group, "compositeScore") if ran else None,
        # Whole milliseconds, halves up, as documents have it: a record and a document of one run then agree.
        latency_p95_ms=None if p95_s is None else math.floor(p95_s * 1000 + 0.5),
        tokens_per_call=used.tokens / used.told_tokens if used.told_tokens else None,
        usd_per_call=used.usd / used.told_usd if used.told_usd else None,
    )


def _error_rate(group: GroupSummary, ran: int) -> float | None:
    """Return the format's own error rate, else the share of the trials that ran; `None` if none did."""
    if not ran:
        return None
    published = _figure(group, "errorRate")
    if published is not None:
        return published
    return (group.counts.broken + group.counts.errors) / ran


def _figure(group: GroupSummary, name: str) -> float | None:
    return next((figure.value for figure in group.figures if figure.name == name), None)


@dataclass
class _Spent:
    """The sum of a group's results."""

    latest: float = 0.0
    tokens: int = 0
    told_tokens: int = 0
    usd: float = 0.0
    told_usd: int = 0

    def add(self, result: TrialResult) -> None:
        self.latest = max(self.latest, result.started_at)
        usage = result.execution.usage
        if usage is None:
            return
        tokens = _tokens(usage)
        if tokens is not None:
            self.tokens += tokens
            self.told_tokens += 1
        if usage.cost_usd is not None:
            self.usd += usage.cost_usd
            self.told_usd += 1


def _tokens(usage: Usage) -> int | None:
    """All tokens of a call; `None` unless both what went in and what came out is known."""
    if usage.total_tokens is not None:
        return usage.total_tokens
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens + (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)


def _spent(view: RunView) -> dict[GroupKey, _Spent]:
    spent: dict[GroupKey, _Spent] = {}
    for result in view.results():
        spent.setdefault(result.group, _Spent()).add(result)
    return spent
