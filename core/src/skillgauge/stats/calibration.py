"""The agreement of a judge with people, and the rate that it reports once its errors are allowed for.

A label is what a person says of one thing that the judge has passed or failed. People are taken to be right: labels of
several people are settled before they come here.
"""

from dataclasses import dataclass

from skillgauge.stats._checks import require_rates
from skillgauge.stats.intervals import Interval, wilson

MIN_LABELS = 50
"""Fewest labels from which a judge may be more than advisory."""
MIN_KAPPA = 0.6
"""Least kappa with which a judge may be more than advisory."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """Things that a judge and people have decided, counted by what each of them said."""

    both_pass: int
    only_judge_passes: int
    only_people_pass: int
    neither_passes: int

    def __post_init__(self) -> None:
        """Raises `ValueError` for numbers that nothing can be counted to."""
        counts = (self.both_pass, self.only_judge_passes, self.only_people_pass, self.neither_passes)
        if min(counts) < 0:
            raise ValueError(f"counts must not be negative; got {counts!r}")

    @property
    def n(self) -> int:
        """All of them."""
        return self.people_pass + self.people_fail

    @property
    def people_pass(self) -> int:
        """Those that people pass."""
        return self.both_pass + self.only_people_pass

    @property
    def people_fail(self) -> int:
        """Those that people fail."""
        return self.only_judge_passes + self.neither_passes

    @property
    def judge_passes(self) -> int:
        """Those that the judge passes."""
        return self.both_pass + self.only_judge_passes


def agreement(labelled: Labelled) -> float | None:
    """Share of which judge and people say the same.

    >>> agreement(Labelled(40, 10, 5, 45))
    0.85

    Args:
        labelled: what was counted.

    Returns:
        A fraction from 0 to 1, or ``None`` without labels.

    Raises:
        Nothing: `Labelled` refuses what cannot be counted.

    Source: the definition.
    """
    return (labelled.both_pass + labelled.neither_passes) / labelled.n if labelled.n else None


def cohens_kappa(labelled: Labelled) -> float | None:
    """Agreement beyond that of a judge who passes as often, but at random.

    >>> cohens_kappa(Labelled(40, 10, 5, 45))
    0.7

    Args:
        labelled: what was counted.

    Returns:
        At most 1, and 0 for what chance explains. ``None`` without labels, and where judge and people say one and the
        same of everything, so that chance would agree as well.

    Raises:
        Nothing: `Labelled` refuses what cannot be counted.

    Source: J. Cohen, Educational and Psychological Measurement 20 (1960) 37-46.
    """
    # In whole numbers up to the last step: what is exact in theory is then exact here, 0.7 as well as 0.
    n = labelled.n
    agreed = n * (labelled.both_pass + labelled.neither_passes)
    by_chance = labelled.judge_passes * labelled.people_pass + (n - labelled.judge_passes) * labelled.people_fail
    return (agreed - by_chance) / (n * n - by_chance) if n * n > by_chance else None


def gwets_ac1(labelled: Labelled) -> float | None:
    """Agreement beyond chance that does not collapse where nearly everything passes, as kappa does.

    >>> round(gwets_ac1(Labelled(40, 10, 5, 45)), 6)
    0.700748

    Args:
        labelled: what was counted.

    Returns:
        From -1 to 1, or ``None`` without labels.

    Raises:
        Nothing: `Labelled` refuses what cannot be counted.

    Source: K. L. Gwet, British Journal of Mathematical and Statistical Psychology 61 (2008) 29-48.
    """
    n = labelled.n
    if n == 0:
        return None
    passes = labelled.judge_passes + labelled.people_pass
    agreed = 2 * n * (labelled.both_pass + labelled.neither_passes)
    by_chance = passes * (2 * n - passes)
    return (agreed - by_chance) / (2 * n * n - by_chance)


def sensitivity(labelled: Labelled) -> tuple[float, Interval] | None:
    """Share of what people pass that the judge passes, too.

    >>> share, interval = sensitivity(Labelled(40, 10, 5, 45))
    >>> f"{share:.3f}: {interval.lower:.3f} .. {interval.upper:.3f}"
    '0.889: 0.765 .. 0.952'

    Args:
        labelled: what was counted.

    Returns:
        The share with Wilson's interval, or ``None`` if people pass nothing.

    Raises:
        Nothing: `Labelled` refuses what cannot be counted.

    Source: the definition; `wilson`.
    """
    return _share(labelled.both_pass, labelled.people_pass)


def specificity(labelled: Labelled) -> tuple[float, Interval] | None:
    """Share of what people fail that the judge fails, too.

    >>> share, interval = specificity(Labelled(40, 10, 5, 45))
    >>> f"{share:.3f}: {interval.lower:.3f} .. {interval.upper:.3f}"
    '0.818: 0.697 .. 0.898'

    Args:
        labelled: what was counted.

    Returns:
        The share with Wilson's interval, or ``None`` if people fail nothing.

    Raises:
        Nothing: `Labelled` refuses what cannot be counted.

    Source: the definition; `wilson`.
    """
    return _share(labelled.neither_passes, labelled.people_fail)


def corrected_rate(rate: float, sensitive: float, specific: float) -> float | None:
    """The rate that people would have found, from the one that a judge has.

    >>> round(corrected_rate(0.8, 0.9, 0.85), 6)
    0.866667

    Args:
        rate: Share that the judge passes.
        sensitive: Its `sensitivity`.
        specific: Its `specificity`.

    Returns:
        A fraction, cut to [0, 1]. ``None`` if sensitivity and specificity are together no more than 1: the judge then
        passes what is good no more often than what is bad, and says nothing about the rate.

    Raises:
        ValueError: An argument is outside [0, 1].

    Source: W. J. Rogan, B. Gladen, American Journal of Epidemiology 107 (1978) 71-76.
    """
    require_rates("rate, sensitivity and specificity", (rate, sensitive, specific))
    informed = sensitive + specific - 1.0
    return min(1.0, max(0.0, (rate + specific - 1.0) / informed)) if informed > 0.0 else None


def _share(right: int, n: int) -> tuple[float, Interval] | None:
    return (right / n, wilson(right, n)) if n else None
