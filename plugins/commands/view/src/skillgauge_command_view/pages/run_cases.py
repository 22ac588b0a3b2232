"""The cases of runs, arm beside arm: read once of a run that has ended, and as they come of one that goes on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

from skillgauge.api import Followed, Kept, SuiteHead, TrialResult, Verdict, plain
from skillgauge.api.report import (
    CaseOutcome,
    CaseReport,
    CaseSummary,
    GroupKey,
    Outcome,
    RunState,
    RunView,
    case_by_case,
    passed_text,
    points,
    reason_of,
)
from skillgauge_run_pages.efforts import Efforts
from skillgauge_run_views import outcome_text

from ..rows import RunRow

_KEPT = 4
"""Runs whose cases stay in memory, so that a filter does not read all trials again."""
_FOLLOWED = 2
"""Runs under way whose results stay in memory, without their sessions."""
_MOST_FOLLOWED = 20_000
"""Trials of the largest run whose results stay in memory; a kilobyte or two each."""
_BAD = frozenset({CaseOutcome.FAILED, CaseOutcome.ERROR})
_CHANGED = frozenset({Outcome.FLIP_TO_PASS, Outcome.FLIP_TO_FAIL})
_Place = tuple[str, int]
"""A case: its suite, and its index there."""


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


class Cases:
    """The cases of runs, of which the last few stay in memory; safe to be asked from several threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[object, RunCases] = OrderedDict()
        self._followed: OrderedDict[str, _FollowedCases] = OrderedDict()
        self._lock = Lock()

    def of(self, row: RunRow, view: RunView) -> RunCases:
        """The cases of a run, and what its sessions took."""
        if view.run.state is RunState.RUNNING:
            return self._so_far(row, view)
        place = (row.key, view.run, view.summary.counts)
        with self._lock:
            if place in self._known:
                self._known.move_to_end(place)
                return self._known[place]
        cases = cases_of(view)
        with self._lock:
            self._known[place] = cases
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return cases

    def tables(self, row: RunRow, view: RunView) -> tuple[CaseTable, ...]:
        """The cases of a run, suite by suite; those that did not pass first."""
        return self.of(row, view).tables

    def _so_far(self, row: RunRow, view: RunView) -> RunCases:
        """The cases of a run that goes on; where its store can tell, only new results are read."""
        source = view.source
        if not isinstance(source, Followed) or view.head.trial_count > _MOST_FOLLOWED:
            return cases_of(view)
        with self._lock:
            followed = self._followed.pop(row.key, None) or _FollowedCases()
            self._followed[row.key] = followed
            while len(self._followed) > _FOLLOWED:
                self._followed.popitem(last=False)
        return followed.go_on(view, source)


def cases_of(view: RunView) -> RunCases:
    """Return what the trials of a run tell; results are read once, and of each case a row is kept."""
    efforts = Efforts()
    rows: list[CaseRow] = []
    for report in case_by_case(view):
        for results in report.results.values():
            efforts.add(results)
        rows += _rows(report, view)
    return RunCases(_tables(view, rows), efforts)


@dataclass
class _FollowedCases:
    """The results of a run that were committed so far, without their sessions, and the rows that they make."""

    results: dict[_Place, dict[int, TrialResult]] = field(default_factory=dict)
    rows: dict[_Place, tuple[CaseRow, ...]] = field(default_factory=dict)
    _cursor: int = 0
    _stale: set[_Place] = field(default_factory=set)
    """Cases with a result that their rows do not have yet."""
    _lock: Lock = field(default_factory=Lock)

    def go_on(self, view: RunView, source: Followed) -> RunCases:
        """Read the results that are new, and return the cases."""
        with self._lock:
            for cursor, result in source.results_since(self._cursor):
                place = result.suite_id, result.case_index
                self.results.setdefault(place, {})[result.ordinal] = _without_session(result)
                self._stale.add(place)
                self._cursor = cursor
            self._renew(view)
            efforts = Efforts()
            for place in sorted(self.results):
                efforts.add(self._results(place))
            rows = [row for place in sorted(self.rows) for row in self.rows[place]]
        return RunCases(_tables(view, rows), efforts)

    def _renew(self, view: RunView) -> None:
        """Make the rows of those cases anew that have new results."""
        if not self._stale:
            return
        results = [result for place in self._stale for result in self._results(place)]
        heads = [head for head in view.cases() if (head.suite_id, head.index) in self._stale]
        for report in case_by_case(replace(view, source=Kept(lambda: results, heads))):
            self.rows[report.case.suite_id, report.case.index] = tuple(_rows(report, view))
        self._stale.clear()

    def _results(self, place: _Place) -> list[TrialResult]:
        return [result for _, result in sorted(self.results[place].items())]


def _without_session(result: TrialResult) -> TrialResult:
    """The same result without what is long and stands in no list."""
    execution, trajectory = result.execution, result.execution.trajectory
    texts = {"output": None, "text": None, "answers": (), "stdout": None, "stderr": None, "files": ()}
    bare = trajectory and trajectory.model_copy(update={"events": (), "raw": None})
    return result.model_copy(
        update={
            "execution": execution.model_copy(update={**texts, "trajectory": bare, "turn_facts": ()}),
            "scores": tuple(score.model_copy(update={"evidence": None}) for score in result.scores),
        }
    )


def _tables(view: RunView, rows: Iterable[CaseRow]) -> tuple[CaseTable, ...]:
    """The tables of all suites; what tells the rows of a case apart stands only where a suite has several."""
    suites = view.head.suites_by_id
    by_suite: dict[str, list[CaseRow]] = {suite_id: [] for suite_id in suites}
    for row in rows:
        by_suite[row.suite].append(row)
    has_several = len({row.group for own in by_suite.values() for row in own}) > len(by_suite)
    return tuple(
        _table(suite, by_suite[suite.id], has_several=has_several) for suite in view.head.suites_by_id.values()
    )


def _table(suite: SuiteHead, rows: Sequence[CaseRow], *, has_several: bool) -> CaseTable:
    arms = tuple(arm for arm in suite.arms if any(arm in row.cells for row in rows)) or suite.arms
    against = tuple(one.baseline for one in suite.compared)
    shown = rows if has_several else [replace(row, lane="") for row in rows]
    return CaseTable(suite, arms, against, tuple(sorted(shown, key=lambda row: not row.is_bad)))


def _rows(report: CaseReport, view: RunView) -> Iterator[CaseRow]:
    """Yield the rows of a case; none if the run does not know its suite."""
    suites = view.head.suites_by_id
    suite = suites.get(report.case.suite_id)
    if suite is None:
        return
    key = f"{list(suites).index(suite.id)}-{report.case.index}"
    for lane in dict.fromkeys(group.in_arm("") for group in report.results):
        yield _row(report, suite, lane, key)


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
