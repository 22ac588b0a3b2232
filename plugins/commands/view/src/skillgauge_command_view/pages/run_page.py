"""The page of a run: its answer, its groups, and its cases, arm beside arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from skillgauge.api import CaseHead, EventKind, UnderWay, Verdict, plain
from skillgauge.api.report import (
    GroupKey,
    Opening,
    PairSummary,
    Progress,
    Ranking,
    RunState,
    RunView,
    SuiteValidity,
    compared,
    judge_notes,
    opening,
    progress_of,
    rankings,
    run_notes,
)
from skillgauge_run_pages.case_rows import CaseRow, CaseTable
from skillgauge_run_pages.skills import Skills, skills_of
from skillgauge_run_pages.summary import SuiteFigures, rate_of, suites_of

from ..links import Links
from ..rows import RunRow

PAGE = 200
"""Cases on a page."""
SESSIONS = 50
"""Sessions under way on a page."""
_SO_FAR = {Verdict.PASS: "passed", Verdict.FAIL: "failed", Verdict.ERROR: "ended in an error"}


@dataclass(frozen=True)
class RunPage:
    """All that the page of a run shows but its cases."""

    row: RunRow
    view: RunView
    now: float = 0.0
    """Seconds since the epoch, for a run that is under way."""
    downloads: tuple[str, ...] = ()
    """Reporters that it can be downloaded by."""
    remarks: tuple[str, ...] = ()
    """Those of plugins on the whole of it."""

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

    @property
    def rate(self) -> str:
        """The answer of a run that compares nothing."""
        return rate_of(self.view)

    def skills(self, links: Links) -> Skills | None:
        """Return its skills side by side, those that hurt first; `None` if there are not several."""

        def address(group: GroupKey) -> str:
            is_listed = links.has_list and group.target_id in self.row.targets
            return links.history(group.target_id) if is_listed and group.target_id else ""

        return skills_of(self.opening.skills, address) if self.opening.skills else None

    def address_in(self, links: Links) -> Callable[[CaseRow], str]:
        """Return the function that gives the address of the page of a case."""
        return lambda row: links.case(self.row.key, row_key(row, self.view))

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
        return (*run_notes(self.view), *judge_notes(self.view), *self.remarks)

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
    def suites(self) -> tuple[SuiteFigures, ...]:
        """Its suites with the figures of their groups."""
        return suites_of(self.view)


_STEPS = {
    EventKind.MESSAGE.value: "a message",
    EventKind.REASONING.value: "reasoning",
    EventKind.TOOL_CALL.value: "calls",
    EventKind.TOOL_RESULT.value: "the result of a tool",
    EventKind.NOTICE.value: "a notice",
    EventKind.USER.value: "a turn of the user",
}


def step_text(last_step: str) -> str:
    """The last step of a session for people.

    >>> step_text("tool_call Bash"), step_text("message")
    ('calls Bash', 'a message')
    """
    kind, _, name = last_step.partition(" ")
    return plain(f"{_STEPS.get(kind, kind)} {name}".strip(), 80)


def case_key(case: CaseHead, view: RunView) -> str:
    """The name of a case in addresses: the place of its suite in the plan, and its own in the suite."""
    return _key(case.suite_id, case.index, view)


def row_key(row: CaseRow, view: RunView) -> str:
    """The same name of the case of a row."""
    return _key(row.suite_id, row.index, view)


def _key(suite_id: str, index: int, view: RunView) -> str:
    suites = list(view.head.suites_by_id)
    place = suites.index(suite_id) if suite_id in suites else len(suites)
    return f"{place}-{index}"


@dataclass(frozen=True)
class CaseFilter:
    """The cases to list.

    Args:
        show: `all`, `bad` (did not always pass) or `changed` (the arms differ).
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
