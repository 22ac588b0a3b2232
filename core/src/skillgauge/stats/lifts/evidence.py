"""The evidence of a difference between two arms over the same cases.

Two questions are kept apart. For *these very cases*: could run-to-run noise alone have made the arms this different?
For *cases like these*: would new cases of this kind show it, too? Each has an interval and a test of its own.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillgauge.stats.intervals import Interval
from skillgauge.stats.lifts._pairs import Pairs, mean_difference, scale_of, scaled
from skillgauge.stats.lifts.betting import Discordant, chance_at_any_time
from skillgauge.stats.lifts.clusters import cluster_interval, cluster_sign_chance
from skillgauge.stats.lifts.exact import chance_by_sign, chance_of_difference
from skillgauge.stats.lifts.intervals import interval_here, lift_interval
from skillgauge.stats.lifts.planning import RARE, smallest_detectable
from skillgauge.stats.lifts.several import level_of_look

MIN_NEW_CASES = 8
"""Fewest cases from which anything is said of new ones."""
LIFT_MARGIN = 0.05
"""Differences up to this, as a fraction, mean nothing to anybody."""


class Finding(StrEnum):
    """The finding of a comparison. Closed, and the strings are frozen."""

    HELPS = "helps"
    HURTS = "hurts"
    NO_DIFFERENCE = "no_difference"
    """Every difference that means anything is excluded."""
    UNDECIDED = "undecided"
    """Not enough data."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A difference over paired cases, with what is needed to trust it."""

    finding: Finding
    is_general: bool
    """Whether the finding holds for new cases of this kind, and not for these cases alone."""
    n: int
    """Cases compared."""
    estimate: float
    """Mean over the cases of the difference of their pass shares, candidate minus baseline, -1 to 1."""
    interval_here: Interval
    """Of the difference that these cases would show if they were run very often."""
    chance: float
    """How likely these cases come out at least this different if the arms are alike: exact, two-sided."""
    interval: Interval | None
    """Of the difference for new cases of this kind; from 8 cases on."""
    chance_new: float | None
    """How likely cases like these come out at least this different if the arms are alike; from 8 cases on."""
    strict_here: Interval
    """`interval_here` at the level that this comparison has among all of the run; gates ask it."""
    strict: Interval | None
    """The same of `interval`."""
    detectable: float | None
    """Smallest difference that would be found four times out of five; `None` if none could be."""
    always: int = 0
    """Cases that pass every time in both arms, and so leave no room for a difference."""
    never: int = 0
    """Cases that fail every time in both arms."""
    clusters: int | None = None
    """Clusters that the cases fall into; `None` if every case stands for itself."""
    comparisons: int = 1
    """Comparisons of the run, this one included, that the level allows for."""
    look: int = 1
    """Number of this look at these cases: 1, and one more each time that further repeats are added."""
    level: float = RARE
    """Chance that counts as evidence if it is not exceeded; later looks and further comparisons have less of it."""
    next_level: float | None = None
    """The same of one more look, after further repeats."""
    discordant: Discordant | None = None
    """Pairs of repeats that came out differently, if the run stops once it is decided: then `chance` holds at any
    moment, and no look costs anything."""

    @property
    def is_found(self) -> bool:
        """True if a difference is beyond chance."""
        return self.finding in (Finding.HELPS, Finding.HURTS)


def weigh(
    pairs: Pairs,
    clusters: Sequence[Pairs] = (),
    earlier: Sequence[Pairs] = (),
    allowed: float = RARE,
    discordant: Discordant | None = None,
) -> Evidence | None:
    """Weigh a comparison of two arms over the same cases.

    >>> from skillgauge.stats import Repeats
    >>> steady = (Repeats(3, 3), Repeats(0, 3))
    >>> evidence = weigh({steady: 4})
    >>> evidence.finding.value, evidence.estimate, evidence.chance < 0.001, evidence.interval
    ('helps', 1.0, True, None)

    Args:
        pairs: the cases with a graded repeat in both arms.
        clusters: those of them that name a cluster, cluster by cluster; they count as one, as far as new cases go.
        earlier: the same cases as they were at each earlier look, if repeats were added; the oldest look first.
        allowed: significance level of this comparison over all its looks, strictly between 0 and 1.
        discordant: the pairs of repeats that came out differently, in a run that stops once these decide.

    Returns:
        The evidence, or ``None`` without any case.

    Raises:
        Nothing: `Repeats` refuses what no case can have.

    Source: docs/statistics.md, "Lift" and "Looking again"; each test names its own.
    """
    if not sum(pairs.values()):
        return None
    estimate = mean_difference(pairs)
    chance = _chance_of_bet(discordant, estimate) if discordant else chance_of_difference(pairs)
    level, alone = level_of_look(earlier, allowed), level_of_look(earlier, RARE)
    here, strict_here = (interval_here(pairs, 1.0 - each, chance) for each in (alone, level))
    shared, interval, chance_new = _of_new_cases(pairs, clusters, alone)
    _, strict, _ = _of_new_cases(pairs, clusters, level)
    is_new = _is_new(strict, chance_new, level) and not (discordant and chance > level)
    finding = _finding(estimate, strict_here, is_proven=is_new or chance <= level)
    return Evidence(
        finding=finding,
        is_general=_is_equivalent(strict) if finding is Finding.NO_DIFFERENCE else is_new,
        n=sum(pairs.values()),
        estimate=estimate,
        interval_here=here,
        chance=chance,
        interval=interval,
        chance_new=chance_new,
        strict_here=strict_here,
        strict=strict,
        detectable=smallest_detectable(sum(pairs.values()), _mean_repeats(pairs), level),
        always=_cases_with(pairs, 1.0),
        never=_cases_with(pairs, 0.0),
        clusters=shared,
        look=len(earlier) + 1,
        level=level,
        next_level=level if discordant else level_of_look([*earlier, pairs], allowed),
        discordant=discordant,
    )


def _mean_repeats(pairs: Pairs) -> float:
    """Repeats of a case in each arm, on average."""
    total = sum(min(ours.graded, theirs.graded) * cases for (ours, theirs), cases in pairs.items())
    return total / sum(pairs.values())


def _chance_of_bet(discordant: Discordant, estimate: float) -> float:
    """The chance of the pairs that came out differently; 1 if unequal repeats make the lift point the other way."""
    return chance_at_any_time(discordant) if (discordant.won - discordant.lost) * estimate > 0 else 1.0


def _is_new(interval: Interval | None, chance: float | None, level: float) -> bool:
    """Tell whether a difference holds for new cases: both interval and test say so, which allow for one look only."""
    if interval is None or chance is None:
        return False
    return chance <= level and not interval.lower <= 0.0 <= interval.upper


def _is_equivalent(interval: Interval | None) -> bool:
    return interval is not None and interval.lower >= -LIFT_MARGIN and interval.upper <= LIFT_MARGIN


def _finding(estimate: float, here: Interval, *, is_proven: bool) -> Finding:
    if is_proven:
        return Finding.HELPS if estimate > 0 else Finding.HURTS
    if _is_equivalent(here):
        return Finding.NO_DIFFERENCE
    return Finding.UNDECIDED


def _cases_with(pairs: Pairs, share: float) -> int:
    """Count the cases of which the same share passes in both arms."""
    return sum(cases for (ours, theirs), cases in pairs.items() if ours.share == theirs.share == share)


def _of_new_cases(
    pairs: Pairs, clusters: Sequence[Pairs], level: float
) -> tuple[int | None, Interval | None, float | None]:
    """The number of clusters, if cases share one, and interval and chance for new cases, if there are enough."""
    n, scale, confidence = sum(pairs.values()), scale_of(pairs), 1.0 - level
    groups = _groups(pairs, clusters, scale) if clusters else []
    shared = len(groups) if groups and len(groups) < n else None
    if (shared or n) < MIN_NEW_CASES:
        return shared, None, None
    if shared:
        chance = cluster_sign_chance([total for total, _ in groups])
        return shared, cluster_interval(groups, scale, confidence), chance
    return None, lift_interval(pairs, confidence), chance_by_sign(pairs)


def _groups(pairs: Pairs, clusters: Sequence[Pairs], scale: int) -> list[tuple[int, int]]:
    """Sum of the differences and number of cases of each cluster; a case without one stands for itself."""
    rest = Counter(pairs)
    for cluster in clusters:
        rest.subtract(cluster)
    alone = [(scaled(pair, scale), 1) for pair, cases in rest.items() for _ in range(cases)]
    shared = [(sum(scaled(pair, scale) * cases for pair, cases in one.items()), sum(one.values())) for one in clusters]
    return [*shared, *alone]
