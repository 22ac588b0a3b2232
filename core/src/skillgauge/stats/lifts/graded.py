"""The evidence of a difference of scores: partial credit, which passing and failing alone throws away."""

import math
from collections import Counter
from dataclasses import dataclass, field

from skillgauge.stats.intervals import Interval
from skillgauge.stats.lifts.clusters import cluster_sign_chance
from skillgauge.stats.lifts.evidence import MIN_NEW_CASES
from skillgauge.stats.lifts.intervals import difference_interval

_PARTS = 10_000
"""Parts of a whole score, to which differences are rounded, so that sums of them are exact."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class GradedEvidence:
    """A difference of mean scores over paired cases."""

    n: int
    """Cases compared."""
    estimate: float
    """Mean over the cases of the difference of their mean scores, candidate minus baseline, -1 to 1."""
    interval: Interval | None
    """For new cases of this kind; from 8 cases on."""
    chance_new: float | None
    """How likely cases like these come out at least this different if the arms are alike; from 8 cases on."""


@dataclass(slots=True)
class GradedTally:
    """Adds up the scores of the cases of a comparison."""

    _differences: Counter[int] = field(default_factory=Counter)
    _is_graded: bool = False

    def add(self, candidate: tuple[float, float], baseline: tuple[float, float]) -> None:
        """Take one more case.

        Args:
            candidate: its mean score in the candidate arm, 0 to 1, and the share of its repeats that passed.
            baseline: the same in the baseline arm.
        """
        self._differences[round((candidate[0] - baseline[0]) * _PARTS)] += 1
        self._is_graded |= any(abs(score - share) > _ROUNDING for score, share in (candidate, baseline))

    @property
    def evidence(self) -> GradedEvidence | None:
        """The evidence; `None` without a case, or where every score is the share that passed.

        Source: the sign-flip permutation test, E. S. Edgington, P. Onghena, *Randomization Tests* (2007), and the
        interval of Agresti and Min; docs/statistics.md, "Partial credit".
        """
        n = sum(self._differences.values())
        if n == 0 or not self._is_graded:
            return None
        estimate = math.fsum(parts * cases for parts, cases in self._differences.items()) / _PARTS / n
        if n < MIN_NEW_CASES:
            return GradedEvidence(n, estimate, None, None)
        interval = difference_interval([(parts / _PARTS, cases) for parts, cases in self._differences.items()])
        return GradedEvidence(n, estimate, interval, cluster_sign_chance(list(self._differences.elements())))
