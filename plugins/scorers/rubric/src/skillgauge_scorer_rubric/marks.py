"""The mark of outputs that speak to their judge, beside the rates of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from skillgauge.api import TrialResult, plain
from skillgauge.api.report import JUDGED, Figure, GroupKey, RunView, abridged_results, counted

SPEAKS = "speaks_to_judge"
"""Key in the evidence of a score: the signs of each part of what was judged."""
FIGURE = f"{JUDGED}_addressed"
_NAMED = 3
"""Cases that a note names."""


@dataclass
class _Tally:
    """The trials of a group that a judge was asked about."""

    judged: int = 0
    marked: int = 0
    cases: dict[str, None] = field(default_factory=dict)
    """Ids of the cases with a mark, each once, in their order."""

    def add(self, case_id: str, *, is_marked: bool) -> None:
        """Count a trial."""
        self.judged += 1
        self.marked += is_marked
        if is_marked:
            self.cases[case_id] = None

    def figure(self) -> Figure:
        """The share of them, with the names of cases in its note."""
        names = [plain(case_id) for case_id in list(self.cases)[:_NAMED]]
        more = len(self.cases) - len(names)
        named = ", ".join(names) + (f" and {more} more" if more else "")
        trials = counted(self.judged, "judged trial")
        note = f"in {self.marked} of {trials} the output speaks to the judge: read it before you believe the verdict"
        return Figure(
            name=FIGURE,
            label="Judged trials whose output speaks to the judge",
            value=self.marked / self.judged,
            unit="ratio",
            higher_is_better=False,
            n=self.judged,
            note=f"{note} ({named})",
        )


def remarks(view: RunView) -> Iterator[tuple[GroupKey, Figure]]:
    """Yield a figure for each group in which an output speaks to the judge; results are read once and not kept."""
    tallies: dict[GroupKey, _Tally] = {}
    for result in abridged_results(view.source):
        marks = list(_marks(result))
        if marks:
            tallies.setdefault(result.group, _Tally()).add(result.case_id, is_marked=any(marks))
    for group, tally in tallies.items():
        if tally.marked:
            yield group, tally.figure()


def _marks(result: TrialResult) -> Iterator[bool]:
    """Yield for each score of this scorer whether it has the mark."""
    for score in result.scores:
        if isinstance(score.evidence, Mapping) and "rubric" in score.evidence:
            yield SPEAKS in score.evidence
