"""Evidence that may be looked at after every result: a bet on which arm wins the pairs that come out differently.

If the arms are alike on a case, a pair of its repeats in which one arm passes and the other fails is a fair coin. A
gambler who bets on such coins, and sets each stake by the earlier results alone, multiplies the money by 20 with a
chance of at most 5 %, however long the game goes on and whenever it stops. The factor by which the money has grown is
the evidence that the coins are not fair.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

from skillgauge.stats._checks import require_level
from skillgauge.stats.lifts.planning import RARE

_LIKELY_SHARE = 0.8
"""Share of the discordant pairs that a clear effect wins; two of the bets are on that and on its opposite."""
PROSPECT = 0.2
"""A comparison that the rest of its rounds would decide less often than that is given up."""


@dataclass(frozen=True, slots=True)
class Discordant:
    """Pairs of repeats, one in each arm, that came out differently."""

    won: int = 0
    """Those in which the candidate passed and the baseline failed."""
    lost: int = 0
    """Those in which it was the other way round."""

    def __add__(self, other: "Discordant") -> "Discordant":
        """The pairs of both."""
        return Discordant(self.won + other.won, self.lost + other.lost)

    @property
    def total(self) -> int:
        """Pairs that came out differently, either way."""
        return self.won + self.lost


def e_value(discordant: Discordant) -> float:
    """Return the evidence that the arms differ: the factor by which money on these pairs has grown.

    If the arms are alike on every case, it ever reaches a number ``n`` with a chance of at most ``1 / n``, whatever is
    run next because of what was seen. So the least of 1 and its inverse is a p value at any moment.

    Half of the money is on a bet that learns the share from the pairs before; a quarter each is on one arm winning four
    pairs out of five, which is sooner convinced of a clear effect.

    >>> round(e_value(Discordant(7, 0)), 2), round(e_value(Discordant(4, 4)), 2)
    (20.12, 0.22)

    Args:
        discordant: all pairs that came out differently so far.

    Returns:
        A number of at least 0; 1 before any pair.

    Raises:
        Nothing.

    Source: A. Ramdas et al., Game-theoretic statistics and safe anytime-valid inference, Statistical Science 38 (2023)
    576-601; the bet that learns is that of R. Krichevsky, V. Trofimov, IEEE Transactions on Information Theory 27
    (1981) 199-207.
    """
    return _e_value(discordant.won, discordant.lost)


@lru_cache(maxsize=65_536)
def _e_value(won: int, lost: int) -> float:
    pairs = won + lost
    learning = pairs * math.log(2.0) + _log_beta(won + 0.5, lost + 0.5) - _log_beta(0.5, 0.5)
    high, low = math.log(2.0 * _LIKELY_SHARE), math.log(2.0 * (1.0 - _LIKELY_SHARE))
    return _exp(learning) / 2 + (_exp(won * high + lost * low) + _exp(lost * high + won * low)) / 4


def _exp(logarithm: float) -> float:
    """Evidence beyond all measure stays a number."""
    return math.exp(min(logarithm, 700.0))


def _log_beta(first: float, second: float) -> float:
    return math.lgamma(first) + math.lgamma(second) - math.lgamma(first + second)


def chance_at_any_time(discordant: Discordant) -> float:
    """Return the p value of a difference that holds at any moment, two-sided.

    >>> round(chance_at_any_time(Discordant(7, 0)), 3), chance_at_any_time(Discordant(1, 1))
    (0.05, 1.0)

    Args:
        discordant: all pairs that came out differently so far.

    Returns:
        A probability above 0 and at most 1.

    Raises:
        Nothing.

    Source: as `e_value`; that the inverse is a p value is J. Ville's inequality.
    """
    return min(1.0, 1.0 / max(e_value(discordant), 1.0))


def chance_to_decide(discordant: Discordant, pairs: int, left: int, level: float = RARE) -> float:
    """Return how likely further pairs are to decide a comparison, if it goes on as it has begun.

    As many of them will come out differently as did so far, and the share of these that the candidate wins is as likely
    as the pairs so far make it, every share having been as likely as any other before.

    >>> round(chance_to_decide(Discordant(4, 1), pairs=10, left=40), 2), chance_to_decide(Discordant(5, 5), 20, 20)
    (0.43, 0.0)

    Args:
        discordant: the pairs so far that came out differently.
        pairs: all pairs so far, at least as many.
        left: pairs that may still be run, at least 0.
        level: chance that counts as evidence, strictly between 0 and 1.

    Returns:
        A probability, 0 to 1.

    Raises:
        ValueError: an argument is outside its range.

    Source: the predictive probability of M. A. Proschan, K. K. G. Lan, J. T. Wittes, *Statistical Monitoring of
    Clinical Trials* (2006), chapter 3, with a beta-binomial distribution of the wins.
    """
    require_level(level)
    if pairs < discordant.total or left < 0:
        raise ValueError(f"pairs must be at least {discordant.total} and left at least 0; got {pairs!r} and {left!r}")
    further = round((discordant.total + 0.5) / (pairs + 1) * left)
    return math.fsum(
        _chance_of_wins(discordant, wins, further)
        for wins in range(further + 1)
        if _e_value(discordant.won + wins, discordant.lost + further - wins) >= 1.0 / level
    )


def _chance_of_wins(discordant: Discordant, wins: int, further: int) -> float:
    """The chance that the candidate wins so many of further pairs that come out differently: beta-binomial."""
    won, lost = discordant.won + 1, discordant.lost + 1
    ways = -math.log(further + 1) - _log_beta(wins + 1, further - wins + 1)
    return math.exp(ways + _log_beta(won + wins, lost + further - wins) - _log_beta(won, lost))
