"""Adds up the cases of a comparison for `lift`."""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from skillgauge.stats._pairs import Pair
from skillgauge.stats.lift import Evidence, weigh
from skillgauge.stats.paired import PairedDifference
from skillgauge.stats.repeats import Repeats


class Tried(Protocol):
    """The number of trials of one case in one arm, by how they ended."""

    @property
    def passed(self) -> int:
        """Trials that passed."""

    @property
    def failed(self) -> int:
        """Trials that failed."""

    @property
    def errors(self) -> int:
        """Trials that ended in an error, which count neither way, and in the bounds both ways."""


class LiftTally:
    """Adds up the cases of a comparison, of which it keeps nothing but how many there are of each kind."""

    def __init__(self) -> None:
        self._pairs: Counter[Pair] = Counter()
        self._clusters: dict[str, Counter[Pair]] = {}
        self._earlier: list[Counter[Pair]] = []
        self._worst, self._best = PairedDifference(), PairedDifference()
        self._errors = 0

    def add(
        self, candidate: Tried, baseline: Tried, cluster: str = "", earlier: Sequence[tuple[Tried, Tried]] = ()
    ) -> None:
        """Take one more case.

        Args:
            candidate: its trials in the candidate arm.
            baseline: those in the baseline arm.
            cluster: the cluster that it names, if any.
            earlier: the trials of both arms that there were at each earlier look, the oldest look first.
        """
        pair = _pair(candidate, baseline)
        if pair:
            self._pairs[pair] += 1
            if cluster:
                self._clusters.setdefault(cluster, Counter())[pair] += 1
        for look, tried in enumerate(earlier):
            if look == len(self._earlier):
                self._earlier.append(Counter())
            before = _pair(*tried)
            if before:
                self._earlier[look][before] += 1
        self._add_bounds(candidate, baseline)

    def _add_bounds(self, candidate: Tried, baseline: Tried) -> None:
        """Count errors both ways."""
        ran = [tried.passed + tried.failed + tried.errors for tried in (candidate, baseline)]
        if all(ran):
            self._errors += candidate.errors + baseline.errors
            self._worst.add(candidate.passed / ran[0], (baseline.passed + baseline.errors) / ran[1])
            self._best.add((candidate.passed + candidate.errors) / ran[0], baseline.passed / ran[1])

    @property
    def evidence(self) -> Evidence | None:
        """The evidence of the cases with a graded trial in both arms; `None` without one."""
        return weigh(self._pairs, list(self._clusters.values()), self._earlier)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The lift if all errors had gone against the candidate, and if all had gone for it; `None` without errors."""
        worst, best = self._worst.mean, self._best.mean
        return (worst, best) if self._errors and worst is not None and best is not None else None


def _pair(candidate: Tried, baseline: Tried) -> Pair | None:
    """The graded repeats of both arms; `None` if an arm has none."""
    graded = candidate.passed + candidate.failed, baseline.passed + baseline.failed
    if not all(graded):
        return None
    return Repeats(candidate.passed, graded[0]), Repeats(baseline.passed, graded[1])
