"""Remarks on a whole run that its trials give: recordings, and notes that every trial of an engine has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from skillgauge.api import TrialResult


@dataclass
class Notices:
    """What the trials of a run have in common, counted while they go by."""

    trials: int = 0
    replayed: int = 0
    notes: dict[str, frozenset[str]] = field(default_factory=dict)

    def add(self, results: Iterable[TrialResult]) -> None:
        """Take note of trials."""
        for result in results:
            self.trials += 1
            self.replayed += result.execution.replayed
            mine = frozenset(result.execution.notes)
            self.notes[result.runner] = self.notes.get(result.runner, mine) & mine

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield title and text of each remark."""
        if self.replayed:
            which = "all trials are" if self.replayed == self.trials else f"{self.replayed} of {self.trials} trials are"
            text = f"{which} recordings, graded now; times and costs are those of the recordings, and cost nothing now."
            yield "Replayed", text
        for runner, notes in self.notes.items():
            for note in sorted(notes):
                yield f"Engine {runner}", note
