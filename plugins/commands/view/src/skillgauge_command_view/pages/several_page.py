"""The page of three to five runs beside each other: each against the one before it, and the cases that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from skillgauge.api.report import RunView, listed, moment
from skillgauge_run_comparisons import MAX_DROP, Report, Terms, compare
from skillgauge_run_pages.case_rows import CaseRow, Cell

from ..rows import RunRow
from .remarks import Remarks
from .run_cases import Cases
from .run_page import row_key

MOST = 5
"""Runs beside each other."""
LISTED = 500
"""Cases that are listed."""

_Key = tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """A run and the one before it."""

    before: RunRow
    after: RunRow
    verdict: str


@dataclass(frozen=True)
class CaseLine:
    """A case in one arm, run after run."""

    id: str
    suite: str
    arm: str
    lane: str
    """The skill, and engine and model where a run has several."""
    cells: tuple[tuple[str, Cell] | None, ...]
    """For each run the name of the case in addresses, and its outcome; `None` if the run does not have it."""

    @property
    def is_changed(self) -> bool:
        """True if it did not end alike in all runs that have it."""
        return len({(cell[1].outcome, cell[1].shown) for cell in self.cells if cell}) > 1 or None in self.cells


@dataclass(frozen=True)
class SeveralPage:
    """Several runs beside each other, the oldest first."""

    rows: tuple[RunRow, ...]
    notes: tuple[str, ...]
    """The remarks of plugins, each with the runs that it is of."""
    steps: tuple[Step, ...]
    lines: tuple[CaseLine, ...]
    """The cases that did not end alike in all runs, as many as are listed."""
    changed: int
    total: int


def several_page(runs: Sequence[tuple[RunRow, RunView]], cases: Cases, remarks: Remarks) -> SeveralPage:
    """Compare runs, the oldest first; reads the trials of all of them.

    Args:
        runs: each with its row in a list.
        cases: reads and keeps the cases of runs.
        remarks: those of plugins on runs.
    """
    lines = list(_lines(runs, cases))
    changed = [line for line in lines if line.is_changed]
    steps = tuple(_step(*pair) for pair in pairwise(runs))
    rows = tuple(row for row, _ in runs)
    return SeveralPage(rows, tuple(_notes(runs, remarks)), steps, tuple(changed[:LISTED]), len(changed), len(lines))


def _notes(runs: Sequence[tuple[RunRow, RunView]], remarks: Remarks) -> Iterator[str]:
    """Yield each remark once, with the moments of the runs that it is of, or without if it is of all."""
    moments: dict[str, list[str]] = {}
    for row, view in runs:
        for remark in remarks.on(view)[1]:
            moments.setdefault(remark, []).append(moment(row.started_at))
    for remark, of in moments.items():
        yield f"{'all runs' if len(of) == len(runs) else listed(of)}: {remark}"


def _step(before: tuple[RunRow, RunView], after: tuple[RunRow, RunView]) -> Step:
    first, second = (Report(view, moment(row.started_at), row.run_id) for row, view in (before, after))
    document = compare(first, second, Terms(max_drop=MAX_DROP, is_gate=False))
    return Step(before[0], after[0], document.verdict)


def _lines(runs: Sequence[tuple[RunRow, RunView]], cases: Cases) -> Iterator[CaseLine]:
    """Yield every case in every arm, in the order in which the runs bring them."""
    rows = [[row for table in cases.tables(*run) for row in table.rows] for run in runs]
    has_several = any(len({(row.suite_id, row.id, row.lane.target_id) for row in own}) < len(own) for own in rows)
    places: dict[_Key, list[tuple[CaseRow, Cell] | None]] = {}
    for number, own in enumerate(rows):
        for row in own:
            for arm, cell in row.cells.items():
                places.setdefault(_key(row, arm, has_several=has_several), [None] * len(runs))[number] = (row, cell)
    for (suite, case, arm, *lane), cells in places.items():
        shown = tuple(
            (row_key(cell[0], view), cell[1]) if cell else None for cell, (_, view) in zip(cells, runs, strict=True)
        )
        yield CaseLine(case, suite, arm, " · ".join(filter(None, lane)), shown)


def _key(row: CaseRow, arm: str, *, has_several: bool) -> _Key:
    """The words that tell a case in an arm from others in all runs: engine and model only where a run has several."""
    group = row.lane
    key = (row.suite_id, row.id, arm, group.target_id or "")
    return (*key, group.model or "", group.runner) if has_several else key
