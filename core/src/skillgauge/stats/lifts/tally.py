"""Adds up the cases of a comparison, and weighs the comparisons of a run together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from skillgauge.stats.lifts._pairs import Pair
from skillgauge.stats.lifts.betting import Discordant
from skillgauge.stats.lifts.evidence import Evidence, weigh
from skillgauge.stats.lifts.planning import RARE
from skillgauge.stats.lifts.repeats import Repeats
from skillgauge.stats.paired import PairedDifference


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
        self._discordant: Discordant | None = None

    def add(
        self,
        candidate: Tried,
        baseline: Tried,
        cluster: str = "",
        earlier: Sequence[tuple[Tried, Tried]] = (),
        discordant: Discordant | None = None,
    ) -> None:
        """Take one more case.

        Args:
            candidate: its trials in the candidate arm.
            baseline: those in the baseline arm.
            cluster: the cluster that it names, if any.
            earlier: the trials of both arms that there were at each earlier look, the oldest look first.
            discordant: its pairs of repeats that came out differently, in a run that may stop after any round.
        """
        if discordant is not None:
            self._discordant = (self._discordant or Discordant()) + discordant
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
        return self.weighed(RARE)

    def weighed(self, allowed: float) -> Evidence | None:
        """The same at another level of significance than that of a single comparison."""
        return weigh(self._pairs, list(self._clusters.values()), self._earlier, allowed, self._discordant)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The lift if all errors had gone against the candidate, and if all had gone for it; `None` without errors."""
        worst, best = self._worst.mean, self._best.mean
        return (worst, best) if self._errors and worst is not None and best is not None else None


def weigh_together(tallies: Sequence[LiftTally]) -> list[Evidence | None]:
    """Weigh several comparisons, so that all findings on their cases together are wrong at most 5 % of the time.

    The comparison with the least chance has to be beyond chance for all of them, the next for all but one, and so on,
    until one is not; that one and all after it get the level at which it failed. Gates ask intervals of these levels.

    >>> from skillgauge.stats import Repeats
    >>> class Case:
    ...     def __init__(self, passed: int, failed: int) -> None:
    ...         self.passed, self.failed, self.errors = passed, failed, 0
    >>> strong, weak = LiftTally(), LiftTally()
    >>> for _ in range(4):
    ...     strong.add(Case(5, 0), Case(0, 5))
    ...     weak.add(Case(4, 1), Case(3, 2))
    >>> [(one.finding.value, one.comparisons, round(one.level, 3)) for one in weigh_together([strong, weak]) if one]
    [('helps', 2, 0.025), ('undecided', 2, 0.05)]

    Args:
        tallies: The comparisons of a run.

    Returns:
        The evidence of each, in the same order; ``None`` for one without any case.

    Raises:
        Nothing.

    Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65-70.
    """
    weighed = [tally.evidence for tally in tallies]
    places = [place for place, evidence in enumerate(weighed) if evidence is not None]
    places.sort(key=lambda place: _relative_chance(weighed[place]))
    open_comparisons = len(places)
    for place in places:
        evidence = tallies[place].weighed(RARE / open_comparisons)
        if evidence is None:
            continue
        weighed[place] = replace(evidence, comparisons=len(places))
        if evidence.chance <= evidence.level:
            open_comparisons -= 1
    return weighed


def _relative_chance(evidence: Evidence | None) -> float:
    """The chance of a difference in parts of the level that it has to keep to; later looks have less of it."""
    return evidence.chance / evidence.level if evidence else 1.0


def _pair(candidate: Tried, baseline: Tried) -> Pair | None:
    """The graded repeats of both arms; `None` if an arm has none."""
    graded = candidate.passed + candidate.failed, baseline.passed + baseline.failed
    if not all(graded):
        return None
    return Repeats(candidate.passed, graded[0]), Repeats(baseline.passed, graded[1])
