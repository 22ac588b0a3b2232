"""From the answers of one judge or several to one verdict: what most of all seats say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from .reading import Answer


@dataclass(frozen=True)
class Split:
    """The votes of the judges on one thing."""

    yes: int
    no: int
    seats: int
    """Judges that were asked; those that did not answer have no vote."""

    @property
    def verdict(self) -> bool | None:
        """The verdict of more than half of all seats, so that no missing vote could change it; else `None`."""
        if 2 * self.yes > self.seats:
            return True
        return False if 2 * self.no > self.seats else None

    def document(self) -> dict[str, int]:
        """For the evidence of a score."""
        return {"yes": self.yes, "no": self.no, "missing": self.seats - self.yes - self.no}


@dataclass(frozen=True)
class Decision:
    """The decision of a panel."""

    value: float
    """From 0 to 1: the median of the numbers, or the share of the statements that hold."""
    splits: tuple[Split, ...]
    """One for each statement, or one on whether the number passes."""

    @property
    def is_decided(self) -> bool:
        """True if there is a majority for every one of them."""
        return all(split.verdict is not None for split in self.splits)

    @property
    def passes(self) -> bool:
        """True if all of them hold."""
        return all(split.verdict for split in self.splits)

    @property
    def holding(self) -> int:
        """The number of them that hold."""
        return sum(bool(split.verdict) for split in self.splits)


def decide(answers: Sequence[Answer], seats: int, passes_at: float) -> Decision:
    """The decision of a panel; undecided if too many judges did not answer.

    Args:
        answers: what those who answered said; all of the same shape.
        seats: how many were asked.
        passes_at: least number that passes.
    """
    if not answers:
        return Decision(0.0, (Split(0, 0, seats),))
    if answers[0].findings:
        columns = zip(*(answer.findings for answer in answers), strict=True)
        splits = tuple(_split([finding.holds for finding in column], seats) for column in columns)
        return Decision(sum(bool(split.verdict) for split in splits) / len(splits), splits)
    values = [answer.value for answer in answers]
    # An odd number's median passes exactly if most of its members do.
    return Decision(median(values), (_split([value >= passes_at for value in values], seats),))


def _split(votes: Sequence[bool], seats: int) -> Split:
    return Split(sum(votes), len(votes) - sum(votes), seats)
