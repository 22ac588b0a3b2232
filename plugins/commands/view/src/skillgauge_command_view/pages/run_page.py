"""The page of a run: its answer, its groups, and its cases, arm beside arm."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock

from skillgauge.api import DIRECT, CaseHead, SuiteHead, UnderWay, Verdict, plain
from skillgauge.api.report import (
    CaseOutcome,
    CaseReport,
    CaseSummary,
    GroupKey,
    GroupSummary,
    Opening,
    Outcome,
    PairSummary,
    Progress,
    Ranking,
    RunState,
    RunView,
    SuiteValidity,
    case_by_case,
    compared,
    judge_notes,
    opening,
    passed_text,
    points,
    progress_of,
    rankings,
    rated_figures,
    reason_of,
    run_notes,
    table_of,
)
from skillgauge_run_views import outcome_text

from ..rows import RunRow
from .efforts import Efforts

_KEPT = 4
"""Runs whose cases stay in memory, so that a filter does not read all trials again."""
PAGE = 200
"""Cases on a page."""
SESSIONS = 50
"""Sessions under way on a page."""
_SO_FAR = {Verdict.PASS: "passed", Verdict.FAIL: "failed", Verdict.ERROR: "ended in an error"}
_BAD = frozenset({CaseOutcome.FAILED, CaseOutcome.ERROR})
_CHANGED = frozenset({Outcome.FLIP_TO_PASS, Outcome.FLIP_TO_FAIL})


@dataclass(frozen=True)
class Cell:
    """A case in one arm."""

    arm: str
    outcome: CaseOutcome
    shown: str


@dataclass(frozen=True)
class CaseRow:
    """A case with one target, engine and model, in all arms."""

    case: str
    """Its name in addresses."""
    id: str
    name: str
    suite: str
    group: GroupKey
    """Its target, engine and model; of no arm."""
    lane: str
    """The words that tell it from the other rows of its case; empty if there is none."""
    cells: Mapping[str, Cell]
    changes: tuple[tuple[str, str], ...]
    """Difference and outcome of each comparison."""
    is_changed: bool
    """True if the arms of a comparison ended differently."""
    is_bad: bool
    """True if an arm that is not only compared with did not pass."""
    reason: str
    cost_usd: float | None

    @property
    def words(self) -> str:
        """All that a search looks at, in lower case."""
        return f"{self.id}\n{self.name}\n{self.lane}\n{self.reason}".casefold()


@dataclass(frozen=True)
class CaseTable:
    """The cases of one suite."""

    suite: SuiteHead
    arms: tuple[str, ...]
    against: tuple[str, ...]
    rows: tuple[CaseRow, ...]


@dataclass(frozen=True)
class RunCases:
    """All that a run's trials tell its page."""

    tables: tuple[CaseTable, ...]
    """The cases of each suite; those that did not pass first."""
    efforts: Efforts


@dataclass(frozen=True)
class RunPage:
    """All that the page of a run shows but its cases."""

    row: RunRow
    view: RunView
    now: float = 0.0
    """Seconds since the epoch, for a run that is under way."""
    downloads: tuple[str, ...] = ()
    """Reporters that it can be downloaded by."""

    @cached_property
    def done(self) -> int:
        """The trials that have ended; counted where the run has no summary, since its end has not come."""
        return self.view.summary.counts.total or self.progress.done

    @cached_property
    def progress(self) -> Progress:
        """The progress of the run, as its store tells; of a run that has ended, too."""
        return progress_of(self.view.source)

    @property
    def verdicts(self) -> str:
        """The results so far by verdict, for people; empty if there are none."""
        counts = self.progress.by_verdict
        return ", ".join(f"{counts[verdict]:,} {word}" for verdict, word in _SO_FAR.items() if counts.get(verdict))

    @property
    def sessions(self) -> tuple[UnderWay, ...]:
        """The sessions under way that are listed, those that take longest first."""
        return tuple(sorted(self.progress.under_way, key=lambda one: one.since)[:SESSIONS])

    def under_way_s(self, session: UnderWay) -> float:
        """Seconds since a session began."""
        return max(0.0, self.now - session.since)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run began."""
        return max(0.0, self.now - self.view.run.started_at)

    @property
    def left_s(self) -> float | None:
        """Seconds until the run ends if the other trials take as long as those that are done.

        `None` if none is, or if a part of them was done before the run was resumed.
        """
        if not self.done or self.view.run.resumed:
            return None
        return self.elapsed_s / self.done * max(0, self.view.head.trial_count - self.done)

    @cached_property
    def opening(self) -> Opening:
        """The lines that every report of the run begins with: gates, answers, changes, and its skills."""
        return opening(self.view)

    @cached_property
    def skills(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]] | None:
        """The heads and rows of its skills side by side, those that hurt first; `None` if there are not several."""
        return table_of(self.opening.skills) if self.opening.skills else None

    @property
    def rankings(self) -> tuple[Ranking, ...]:
        """Engines and models side by side, where there are several."""
        return rankings(self.view)

    @property
    def pairs(self) -> tuple[PairSummary, ...]:
        """The comparisons of arms that have an estimate."""
        return tuple(pair for pair in compared(self.view) if pair.evidence)

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks that must be known before a figure is believed."""
        return (*run_notes(self.view), *judge_notes(self.view))

    @property
    def is_running(self) -> bool:
        """True if the run has not ended."""
        return self.view.run.state is RunState.RUNNING

    @property
    def is_partial(self) -> bool:
        """True if trials of the plan are missing."""
        return self.view.run.state is not RunState.FINISHED

    @property
    def invalid(self) -> tuple[SuiteValidity, ...]:
        """The suites that prove nothing."""
        return tuple(one for one in self.view.summary.validity if not one.valid)

    @property
    def rated(self) -> tuple[GroupSummary, ...]:
        """Groups whose format has figures in place of a pass rate."""
        return tuple(group for group in self.view.summary.groups if rated_figures(group))

    @property
    def with_rate(self) -> tuple[GroupSummary, ...]:
        """The others."""
        return tuple(group for group in self.view.summary.groups if not rated_figures(group))


def group_name(group: GroupKey | GroupSummary) -> str:
    """A group for people: target, arm and model."""
    arm = group.arm if group.arm != DIRECT.name else None
    return " · ".join(plain(part, 60) for part in (group.target_id, arm, group.model) if part)


def case_key(case: CaseHead, view: RunView) -> str:
    """The name of a case in addresses: the place of its suite in the plan, and its own in the suite."""
    suites = [suite.id for suite in view.head.suites]
    place = suites.index(case.suite_id) if case.suite_id in suites else len(suites)
    return f"{place}-{case.index}"


class Cases:
    """The cases of runs, of which the last few stay in memory; safe to be asked from several threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[object, RunCases] = OrderedDict()
        self._lock = Lock()

    def of(self, row: RunRow, view: RunView) -> RunCases:
        """The cases of a run, and what its sessions took."""
        place = (row.key, view.run, view.summary.counts)
        with self._lock:
            if place in self._known:
                self._known.move_to_end(place)
                return self._known[place]
        cases = cases_of(view)
        if view.run.state is not RunState.RUNNING:
            with self._lock:
                self._known[place] = cases
                while len(self._known) > _KEPT:
                    self._known.popitem(last=False)
        return cases

    def tables(self, row: RunRow, view: RunView) -> tuple[CaseTable, ...]:
        """The cases of a run, suite by suite; those that did not pass first."""
        return self.of(row, view).tables


def cases_of(view: RunView) -> RunCases:
    """Return what the trials of a run tell; results are read once, and of each case a row is kept."""
    efforts = Efforts()
    return RunCases(tuple(_tables(view, efforts)), efforts)


def _tables(view: RunView, efforts: Efforts) -> Iterator[CaseTable]:
    suites = view.head.suites_by_id
    places = {suite_id: place for place, suite_id in enumerate(suites)}
    rows: dict[str, list[CaseRow]] = {suite_id: [] for suite_id in suites}
    several = _has_several_lanes(view)
    for report in case_by_case(view):
        for results in report.results.values():
            efforts.add(results)
        suite = suites.get(report.case.suite_id)
        if suite is not None:
            key = f"{places[suite.id]}-{report.case.index}"
            rows[suite.id] += _rows(report, suite, key, several=several)
    for suite in suites.values():
        arms = tuple(arm for arm in suite.arms if any(arm in row.cells for row in rows[suite.id])) or suite.arms
        against = tuple(one.baseline for one in suite.compared)
        yield CaseTable(suite, arms, against, tuple(sorted(rows[suite.id], key=lambda row: not row.is_bad)))


def _has_several_lanes(view: RunView) -> bool:
    return len({group.key.in_arm("") for group in view.summary.groups}) > len(view.head.suites)


def _rows(report: CaseReport, suite: SuiteHead, key: str, *, several: bool) -> Iterator[CaseRow]:
    for lane in dict.fromkeys(group.in_arm("") for group in report.results):
        row = _row(report, suite, lane, key)
        yield row if several else replace(row, lane="")


def _row(report: CaseReport, suite: SuiteHead, lane: GroupKey, key: str) -> CaseRow:
    summaries = {group.arm: summary for group, summary in report.summaries.items() if group.in_arm("") == lane}
    judged = {arm: summary for arm, summary in summaries.items() if not suite.is_baseline(arm)} or summaries
    pairs = [pair for pair in report.pairs if pair.candidate.in_arm("") == lane]
    return CaseRow(
        case=key,
        id=report.case.id,
        name=report.case.name or "",
        suite=suite.id,
        group=lane,
        lane=" · ".join(filter(None, (lane.target_id, lane.model, lane.runner))),
        cells={arm: _cell(arm, summary) for arm, summary in summaries.items()},
        changes=tuple((points(pair.difference), outcome_text(pair.outcome)) for pair in pairs),
        is_changed=any(pair.outcome in _CHANGED for pair in pairs),
        is_bad=any(summary.outcome in _BAD for summary in judged.values()),
        reason=next(_reasons(report, lane, tuple(judged)), ""),
        cost_usd=_cost(report, lane),
    )


def _cost(report: CaseReport, lane: GroupKey) -> float | None:
    """The known cost of all sessions of a lane; `None` if none tells."""
    results = [result for group, repeats in report.results.items() if group.in_arm("") == lane for result in repeats]
    usages = [result.execution.usage for result in results]
    costs = [usage.cost_usd for usage in usages if usage and usage.cost_usd is not None]
    return sum(costs) if costs else None


def _cell(arm: str, summary: CaseSummary) -> Cell:
    apart = ", in quarantine" if summary.outcome is CaseOutcome.QUARANTINED else ""
    return Cell(arm, summary.outcome, f"{passed_text(summary.counts)}{apart}")


def _reasons(report: CaseReport, lane: GroupKey, arms: Sequence[str]) -> Iterator[str]:
    for verdict in (Verdict.FAIL, Verdict.ERROR):
        for arm in arms:
            for result in report.results.get(lane.in_arm(arm), ()):
                if result.verdict is verdict and (reason := reason_of(result)):
                    yield plain(reason, 300)


@dataclass(frozen=True)
class CaseFilter:
    """The cases to list.

    Args:
        show: `all`, `bad` (did not pass) or `changed` (the arms differ).
        words: a text that the row has to hold.
        page: which page, from 1.
    """

    show: str = "all"
    words: str = ""
    page: int = 1

    def rows(self, table: CaseTable) -> tuple[CaseRow, ...]:
        """The rows of a table that fit."""
        return tuple(row for row in table.rows if self._fits(row))

    def _fits(self, row: CaseRow) -> bool:
        is_shown = self.show == "all" or (row.is_bad if self.show == "bad" else row.is_changed)
        return is_shown and self.words.casefold() in row.words
