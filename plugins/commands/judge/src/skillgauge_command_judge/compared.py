"""Count the words of judges about pairs of answers: wins, losses and ties, by pair, by case and over all. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgauge.stats import MIN_NEW_CASES, Repeats, chance_of_difference, difference_interval

from .documents import ComparedCase, ComparingJudge, DuelOutcome
from .duel import Better, Word

Words = tuple[Word, Word]
"""The words of a judge about one pair of answers: with the candidate shown first, and with the baseline shown first."""

_ONE_WON, _ONE_LOST = (Repeats(1, 1), Repeats(0, 1)), (Repeats(0, 1), Repeats(1, 1))
_OUTCOMES = {(Better.FIRST, Better.SECOND): DuelOutcome.WIN, (Better.SECOND, Better.FIRST): DuelOutcome.LOSS}


def outcome_of(words: Words) -> DuelOutcome | None:
    """The outcome by one judge: the same winner twice counts, else it is a tie; `None` if a word is missing."""
    first, swapped = words
    if first.better is None or swapped.better is None:
        return None
    return _OUTCOMES.get((first.better, swapped.better), DuelOutcome.TIE)


def majority(outcomes: Sequence[DuelOutcome | None]) -> DuelOutcome | None:
    """The outcome by a panel.

    Args:
        outcomes: by each judge; `None` if it gave no word.

    Returns:
        The outcome that more than half of all judges gave, else a tie; `None` if at most half of them gave any.
    """
    votes = Counter(outcome for outcome in outcomes if outcome is not None)
    if 2 * votes.total() <= len(outcomes):
        return None
    outcome, count = votes.most_common(1)[0]
    return outcome if 2 * count > len(outcomes) else DuelOutcome.TIE


def sign_chance(won: int, lost: int) -> float:
    """The chance of at least so different wins and losses if both are alike: exact two-sided test of signs."""
    return chance_of_difference({_ONE_WON: won, _ONE_LOST: lost})


def case_of(suite: str, case: str, pairs: Sequence[Sequence[Words]]) -> ComparedCase:
    """Count the pairs of answers of one case.

    Args:
        suite: id of its suite.
        case: its id.
        pairs: for each pair of answers the words of every judge.
    """
    outcomes = [majority([outcome_of(words) for words in of_judges]) for of_judges in pairs]
    counts = Counter(outcomes)
    wins, losses, ties = (counts[outcome] for outcome in (DuelOutcome.WIN, DuelOutcome.LOSS, DuelOutcome.TIE))
    outcome = None
    if wins + losses + ties:
        outcome = DuelOutcome.WIN if wins > losses else DuelOutcome.LOSS if losses > wins else DuelOutcome.TIE
    return ComparedCase(
        suite=suite,
        case=case,
        outcome=outcome,
        wins=wins,
        losses=losses,
        ties=ties,
        reason=next(_failures(of_judges for of_judges, word in zip(pairs, outcomes, strict=True) if word is None), ""),
    )


def _failures(pairs: Iterable[Sequence[Words]]) -> Iterator[str]:
    """Yield the reasons why words are missing."""
    for of_judges in pairs:
        for words in of_judges:
            yield from (word.failure for word in words if word.failure)


@dataclass(frozen=True)
class Net:
    """Wins minus losses over the cases that have a word."""

    cases: int
    mean: float | None
    """Mean over the cases of the share of a case's pairs that were won minus that of those lost; `None` without one."""
    lower: float | None = None
    """Its bounds for new cases, at 95 %; `None` for too few cases."""
    upper: float | None = None


def net_of(cases: Sequence[ComparedCase]) -> Net:
    """Average wins minus losses over cases; see `difference_interval` for the bounds."""
    shares = [
        (case.wins - case.losses) / (case.wins + case.losses + case.ties) for case in cases if case.outcome is not None
    ]
    if not shares:
        return Net(0, None)
    mean = math.fsum(shares) / len(shares)
    if len(shares) < MIN_NEW_CASES:
        return Net(len(shares), mean)
    bounds = difference_interval(sorted(Counter(shares).items()))
    return Net(len(shares), mean, bounds.lower, bounds.upper)


def judge_of(name: str, words: Sequence[Words]) -> ComparingJudge:
    """Sum up one judge: how often it gave the same word in both orders, and the place it prefers."""
    answered = [pair for pair in words if outcome_of(pair) is not None]
    by_word: Mapping[tuple[Better | None, Better | None], int] = Counter(
        (first.better, swapped.better) for first, swapped in answered
    )
    same_place = {place: by_word[place, place] for place in Better}
    consistent = same_place[Better.TIE] + sum(by_word[pair] for pair in _OUTCOMES)
    firsts, seconds = same_place[Better.FIRST], same_place[Better.SECOND]
    return ComparingJudge(
        judge=name,
        unanswered=len(words) - len(answered),
        consistent=consistent / len(answered) if answered else None,
        both_first=firsts,
        both_second=seconds,
        position_chance=sign_chance(firsts, seconds),
    )


def agreement(pairs: Sequence[Sequence[Words]]) -> float | None:
    """Share of the pairs of answers, of those with a word of every judge, on which all judges of a panel agree.

    `None` for a single judge, and without such a pair.
    """
    outcomes = [{outcome_of(words) for words in of_judges} for of_judges in pairs if len(of_judges) > 1]
    complete = [words for words in outcomes if None not in words]
    return sum(len(words) == 1 for words in complete) / len(complete) if complete else None
