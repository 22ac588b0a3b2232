"""The cases of runs, arm beside arm: read once of a run that has ended, and as they come of one that goes on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from threading import Lock

from skillgauge.api import Followed, Kept, TrialResult, plain
from skillgauge.api.report import CaseReport, RunState, RunView, case_by_case
from skillgauge_run_pages.case_rows import CaseRow, CaseTable, case_row, case_table, lanes_of
from skillgauge_run_pages.efforts import Efforts
from skillgauge_run_pages.notices import Notices

from ..rows import RunRow
from .last_few import LastFew

_KEPT = 4
"""Runs whose cases stay in memory, so that a filter does not read all trials again."""
_FOLLOWED = 2
"""Runs under way whose results stay in memory, without their sessions."""
_MOST_FOLLOWED = 20_000
"""Trials of the largest run whose results stay in memory; a kilobyte or two each."""
_REASON = 300
"""Characters of the reason of a case that stay in memory."""
_Place = tuple[str, int]
"""A case: its suite, and its index there."""


@dataclass(frozen=True)
class TrialName:
    """The words that tell a trial from the others of its run."""

    case: str
    lane: str
    """Its target, model and engine; empty if all trials of its suite have the same."""
    arm: str
    repeat: int


@dataclass(frozen=True)
class RunCases:
    """All that a run's trials tell its page."""

    tables: tuple[CaseTable, ...]
    """The cases of each suite; those that did not always pass first."""
    efforts: Efforts
    notices: tuple[tuple[str, str], ...]
    """Title and text of each remark on the whole run."""

    def trial_names(self, ordinals: Container[int]) -> dict[int, TrialName]:
        """Return the names of trials, by their places in the plan."""
        return {
            ordinal: TrialName(row.name or row.id, row.lane_text if table.has_lanes else "", arm, repeat)
            for table in self.tables
            for row in table.rows
            for arm, cell in row.cells.items()
            for repeat, ordinal in cell.trials
            if ordinal in ordinals
        }


class Cases:
    """The cases of runs, of which the last few stay in memory; safe to be asked from several threads."""

    def __init__(self) -> None:
        self._known: LastFew[RunCases] = LastFew(_KEPT)
        self._followed: OrderedDict[str, _FollowedCases] = OrderedDict()
        self._lock = Lock()

    def of(self, row: RunRow, view: RunView) -> RunCases:
        """The cases of a run, and what its sessions took."""
        if view.run.state is RunState.RUNNING:
            return self._so_far(row, view)
        return self._known.of((row.key, view.run, view.summary.counts), lambda: cases_of(view))

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
    efforts, notices = Efforts(), Notices()
    rows: list[CaseRow] = []
    for report in case_by_case(view, is_abridged=True):
        for results in report.results.values():
            efforts.add(results)
            notices.add(results)
        rows += _rows(report, view)
    return RunCases(_tables(view, rows), efforts, tuple(notices.lines()))


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
                self.results.setdefault(place, {})[result.ordinal] = _without_texts(result)
                self._stale.add(place)
                self._cursor = cursor
            self._renew(view)
            efforts, notices = Efforts(), Notices()
            for place in sorted(self.results):
                efforts.add(self._results(place))
                notices.add(self._results(place))
            rows = [row for place in sorted(self.rows) for row in self.rows[place]]
        return RunCases(_tables(view, rows), efforts, tuple(notices.lines()))

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


def _without_texts(result: TrialResult) -> TrialResult:
    """The same result without what is long and stands in no list."""
    texts = {"output": None, "text": None, "answers": (), "stdout": None, "stderr": None, "files": ()}
    return result.model_copy(
        update={
            "execution": result.execution.model_copy(update={**texts, "turn_facts": ()}),
            "scores": tuple(score.model_copy(update={"evidence": None}) for score in result.scores),
        }
    )


def _tables(view: RunView, rows: Iterable[CaseRow]) -> tuple[CaseTable, ...]:
    by_suite: dict[str, list[CaseRow]] = {suite.id: [] for suite in view.head.suites}
    for row in rows:
        by_suite[row.suite_id].append(row)
    return tuple(case_table(suite, by_suite[suite.id]) for suite in view.head.suites)


def _rows(report: CaseReport, view: RunView) -> Iterator[CaseRow]:
    """Yield the rows of a case with short reasons, as they stay in memory; none if the run does not know its suite."""
    suite = view.head.suites_by_id.get(report.case.suite_id)
    if suite is None:
        return
    for lane in lanes_of(report):
        row = case_row(report, suite, lane)
        yield replace(row, reason=plain(row.reason, _REASON))
