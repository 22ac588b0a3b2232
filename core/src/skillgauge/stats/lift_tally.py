"""Adds up the cases of a comparison for `lift`."""

from collections import Counter
from typing import Protocol

from skillgauge.stats.lift import Evidence, Repeats, weigh
from skillgauge.stats.paired import PairedDifference


class Tried(Protocol):
    """What became of the trials of one case in one arm."""

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
        self._pairs: Counter[tuple[Repeats, Repeats]] = Counter()
        self._clusters: dict[str, Counter[tuple[Repeats, Repeats]]] = {}
        self._worst, self._best = PairedDifference(), PairedDifference()
        self._errors = 0

    def add(self, candidate: Tried, baseline: Tried, cluster: str = "") -> None:
        """Take one more case, of a cluster if it names one."""
        graded = candidate.passed + candidate.failed, baseline.passed + baseline.failed
        ran = graded[0] + candidate.errors, graded[1] + baseline.errors
        if all(graded):
            pair = Repeats(candidate.passed, graded[0]), Repeats(baseline.passed, graded[1])
            self._pairs[pair] += 1
            if cluster:
                self._clusters.setdefault(cluster, Counter())[pair] += 1
        if all(ran):
            self._errors += candidate.errors + baseline.errors
            self._worst.add(candidate.passed / ran[0], (baseline.passed + baseline.errors) / ran[1])
            self._best.add((candidate.passed + candidate.errors) / ran[0], baseline.passed / ran[1])

    @property
    def evidence(self) -> Evidence | None:
        """What the cases with a graded trial in both arms prove; `None` without one."""
        return weigh(self._pairs, list(self._clusters.values()))

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The lift if all errors had gone against the candidate, and if all had gone for it; `None` without errors."""
        worst, best = self._worst.mean, self._best.mean
        return (worst, best) if self._errors and worst is not None and best is not None else None
