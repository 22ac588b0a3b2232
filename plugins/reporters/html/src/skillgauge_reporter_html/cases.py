"""The cases of an agent suite that a page has room for: those that did not pass first, each with its trials."""

from __future__ import annotations

from dataclasses import dataclass, field

from skillgauge.api import SuiteHead
from skillgauge.api.report import CaseReport, GroupKey
from skillgauge_run_pages.case_rows import CaseRow, CaseTable, case_row, case_table
from skillgauge_run_pages.trials import Repeat, question_of, repeats_of
from skillgauge_run_views.transcripts import Excerpt, Room


@dataclass(frozen=True)
class Trials:
    """The prompt of a case, and its trials."""

    question: Excerpt | None
    repeats: tuple[Repeat, ...]

    @property
    def size(self) -> int:
        """Characters of the transcripts."""
        return sum(side.shown.size for repeat in self.repeats for side in repeat.sides)


@dataclass(frozen=True)
class CasesByArm:
    """The cases of one target, runner and model."""

    lane: GroupKey
    """Its arm says nothing."""
    table: CaseTable
    trials: dict[int, Trials]
    """By the place of the case in its suite; of those that there was room for."""


@dataclass
class Lane:
    """Collects the cases of one target, runner and model, as many as a page has room for.

    Args:
        suite: whose cases they are.
        key: the lane; its arm says nothing.
        limit: most cases that are kept.
        room: most characters of transcripts that are kept.
    """

    suite: SuiteHead
    key: GroupKey
    limit: int
    room: int
    _rows: dict[bool, list[CaseRow]] = field(default_factory=lambda: {True: [], False: []})
    """Those that did not always pass, and the others."""
    _trials: dict[int, Trials] = field(default_factory=dict)
    _left: dict[bool, int] = field(default_factory=dict)
    _total: int = 0

    def add(self, report: CaseReport) -> None:
        """Count a case, and keep it while there is room."""
        self._total += 1
        row = case_row(report, self.suite, self.key)
        if len(self._rows[row.is_bad]) == self.limit:
            return
        self._rows[row.is_bad].append(row)
        remaining = self._left.get(row.is_bad, self.room)
        if remaining <= 0:
            return
        trials = Trials(question_of(report.case), tuple(repeats_of(report, self.key, Room(), has_times=False)))
        self._left[row.is_bad] = remaining - trials.size if trials.size <= remaining else 0
        if trials.size <= remaining:
            self._trials[row.index] = trials

    def cases(self) -> CasesByArm:
        """The kept cases, the worst first; transcripts of cases that passed have the room that the others left."""
        bad, good = self._rows[True], self._rows[False]
        good = good[: self.limit - len(bad)]
        remaining = self._left.get(True, self.room)
        kept = {row.index: self._trials[row.index] for row in bad if row.index in self._trials}
        for row in good:
            trials = self._trials.get(row.index)
            if trials is None or trials.size > remaining:
                break  # none after the first that does not fit
            kept[row.index] = trials
            remaining -= trials.size
        return CasesByArm(self.key, case_table(self.suite, (*bad, *good), self._total), kept)
