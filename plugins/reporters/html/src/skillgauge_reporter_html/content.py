"""The content of the page, worked out before it is drawn: the listed trials, and the words about each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from skillgauge.api import DIRECT, SuiteHead, TrialResult, Verdict
from skillgauge.api.report import (
    CaseReport,
    GroupKey,
    Opening,
    PairSummary,
    Ranking,
    RunState,
    RunView,
    case_by_case,
    compared,
    duration,
    judge_notes,
    opening,
    rankings,
    reason_of,
    run_notes,
)
from skillgauge_run_pages.case_rows import lanes_of
from skillgauge_run_pages.efforts import Efforts
from skillgauge_run_pages.notices import Notices
from skillgauge_run_pages.skills import Skills, WorstCase
from skillgauge_run_pages.summary import GroupFigures, SuiteFigures, rate_of, suites_of
from skillgauge_run_views.transcripts import Transcript, as_text, transcript

from .cases import CasesByArm, Lane

ROWS = 5_000
"""Trials listed in one report, shared evenly among its groups; those that did not pass come first."""
ROOM = 8_000_000
"""Characters of transcripts in one report, shared evenly among its groups; trials that did not pass come first."""
SHORT = 50
"""Trials that are listed in one table; more are split by whether they passed, and those that did are folded."""


@dataclass(frozen=True)
class Row:
    """One trial."""

    case_index: int
    case: str
    """Its name, else its id."""
    repeat: int
    verdict: Verdict
    value: float | None
    duration_s: float | None
    reason: str
    transcript: Transcript | None
    """`None` if it stands elsewhere in the page, or there was no room for it."""


@dataclass(frozen=True)
class CaseTable:
    """Some of a group's trials."""

    title: str
    rows: tuple[Row, ...]
    is_open: bool


@dataclass(frozen=True)
class Section:
    """The trials of one group."""

    figures: GroupFigures
    tables: tuple[CaseTable, ...]
    total: int
    listed: int


@dataclass(frozen=True)
class SuitePart:
    """One suite with its groups."""

    figures: SuiteFigures
    sections: tuple[Section, ...]
    cases: tuple[CasesByArm, ...] = ()
    """Of a suite with agents."""
    answers: tuple[str, ...] = ()
    """The answers of its comparisons, where they do not stand at the top of the page."""


@dataclass(frozen=True)
class Page:
    """Everything that is drawn."""

    view: RunView
    suites: tuple[SuitePart, ...]
    notices: tuple[tuple[str, str], ...] = ()
    """What holds for the whole run, and must be known before a figure is believed."""
    skills: Skills | None = None
    """All skills side by side, if there are several; the suites are then folded, or in files of their own."""
    worst: tuple[WorstCase, ...] = ()
    """The cases of all skills to look at first."""
    has_anchors: bool = False
    """True if cases can be linked to."""
    efforts: Efforts = field(default_factory=Efforts)
    """The time, tokens and cost of the sessions that the page has read."""

    @property
    def opening(self) -> Opening:
        """The answers of the gates, the answers to the question of the run, and what changed."""
        return opening(self.view)

    @property
    def rate(self) -> str:
        """The answer of a run that compares nothing."""
        return rate_of(self.view)

    @property
    def rankings(self) -> tuple[Ranking, ...]:
        """Engines and models side by side, where there are several."""
        return rankings(self.view)

    @property
    def pairs(self) -> tuple[PairSummary, ...]:
        """The comparisons of arms that have an estimate."""
        return tuple(pair for pair in compared(self.view) if pair.evidence)

    @property
    def is_partial(self) -> bool:
        """True if trials of the plan are missing."""
        return self.view.run.state is not RunState.FINISHED

    @property
    def invalid(self) -> int:
        """The number of suites that prove nothing."""
        return sum(suite.figures.is_invalid for suite in self.suites)

    @property
    def started(self) -> str:
        """Date and time, in UTC."""
        return moment(self.view.run.started_at)

    @property
    def took(self) -> str:
        """Time from start to end; a dash if the end is unknown."""
        run = self.view.run
        return duration(None if run.finished_at is None else max(0.0, run.finished_at - run.started_at))

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        """The plugins that took part, with their versions."""
        head = self.view.head
        runners = ((one.name, one.version or "unknown") for one in head.runners)
        return (*((name, as_text(value)) for name, value in sorted(head.provenance.items())), *runners)


@dataclass
class _Bucket:
    """The trials of a group that may be listed."""

    limit: int
    room: int
    passed: list[Row] = field(default_factory=list)
    others: list[Row] = field(default_factory=list)
    total: int = 0

    def add(self, result: TrialResult, case: str, *, has_transcript: bool) -> None:
        """Count a trial, and keep it while there is room."""
        self.total += 1
        kept = self.passed if result.verdict is Verdict.PASS else self.others
        if len(kept) < self.limit:
            row_ = row(result, case, has_transcript=has_transcript and self.room > 0)
            self.room -= row_.transcript.size if row_.transcript else 0
            kept.append(row_)


@dataclass
class _Contents:
    """What is kept of a run while its results go by."""

    limit: int
    """Trials that are listed of a group."""
    room: int
    """Characters of transcripts that are kept of a group."""
    buckets: dict[GroupKey, _Bucket]
    lanes: dict[GroupKey, Lane] = field(default_factory=dict)
    notices: Notices = field(default_factory=Notices)
    efforts: Efforts = field(default_factory=Efforts)

    def add_trials(self, report: CaseReport, *, has_transcript: bool) -> None:
        """Take the trials of a case; `has_transcript`: their transcripts stand beside them."""
        name = report.case.name or report.case.id
        for group, results in report.results.items():
            self.efforts.add(results)
            self.notices.add(results)
            bucket = self.buckets.setdefault(group, _Bucket(self.limit, self.room))
            for result in results:
                bucket.add(result, name, has_transcript=has_transcript)

    def add_lanes(self, report: CaseReport, suite: SuiteHead) -> None:
        """Take a case of a suite with agents, arm beside arm."""
        for key in lanes_of(report):
            lane = self.lanes.setdefault(key, Lane(suite, key, self.limit, self.room))
            lane.add(report)


def page_of(view: RunView, reports: Iterable[CaseReport] | None = None) -> Page:
    """Read the results once; memory does not grow with their number.

    Args:
        view: the run.
        reports: its cases; `None` stands for all.
    """
    groups = {group.key: group for group in view.summary.groups}
    shares = max(1, len(groups))
    limit, room = max(1, ROWS // shares), ROOM // shares
    contents = _Contents(limit, room, {key: _Bucket(limit, room) for key in groups})
    agents = {suite.id: suite for suite in view.head.suites if {*suite.arms} != {DIRECT.name}}
    for report in case_by_case(view) if reports is None else reports:
        suite = agents.get(report.case.suite_id)
        contents.add_trials(report, has_transcript=suite is None)
        if suite is not None:
            contents.add_lanes(report, suite)
    suites = tuple(_suite_parts(view, contents, folded=frozenset(agents)))
    notes = [("Note", note) for note in (*run_notes(view), *judge_notes(view))]
    return Page(view, suites, (*contents.notices.lines(), *notes), efforts=contents.efforts)


def _suite_parts(view: RunView, contents: _Contents, *, folded: frozenset[str]) -> Iterator[SuitePart]:
    """Yield each suite with its sections; those of the suites in `folded` are closed at first."""
    for suite in suites_of(view):
        figures = {one.key: one for one in suite.groups}
        sections = tuple(
            _section(figures.get(key) or GroupFigures(key, None), bucket, is_folded=suite.head.id in folded)
            for key, bucket in contents.buckets.items()
            if key.suite_id == suite.head.id
        )
        cases = tuple(lane.cases() for key, lane in contents.lanes.items() if key.suite_id == suite.head.id)
        yield SuitePart(suite, sections, cases)


def _section(figures: GroupFigures, bucket: _Bucket, *, is_folded: bool) -> Section:
    others, passed = bucket.others, bucket.passed[: bucket.limit - len(bucket.others)]
    listed = len(others) + len(passed)
    if listed <= SHORT:
        parts = [("Trials", [*others, *passed], not is_folded)]
    else:
        parts = [("Trials that did not pass", others, not is_folded), ("Trials that passed", passed, False)]
    tables = tuple(CaseTable(title, tuple(sorted(rows, key=_by_case)), opened) for title, rows, opened in parts if rows)
    return Section(figures, tables, bucket.total, listed)


def row(result: TrialResult, case: str, *, has_transcript: bool = True) -> Row:
    """Return the row of a trial; long outputs are cut here, so that none is kept whole."""
    return Row(
        case_index=result.case_index,
        case=case,
        repeat=result.repeat,
        verdict=result.verdict,
        value=result.value,
        duration_s=result.execution.duration_s,
        reason=reason_of(result),
        transcript=transcript(result) if has_transcript else None,
    )


def _by_case(one: Row) -> tuple[int, int]:
    return one.case_index, one.repeat


def moment(seconds: float) -> str:
    """Date and time in UTC, without fractions."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
