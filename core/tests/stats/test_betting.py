"""Evidence that may be looked at after every pair: known answers, what it is worth, and how rarely it is wrong."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.stats import (
    RARE,
    Discordant,
    Finding,
    Repeats,
    chance_at_any_time,
    chance_to_decide,
    e_value,
    rounds_for,
    weigh,
)

COUNTS = st.integers(min_value=0, max_value=60)


@pytest.mark.parametrize(
    ("won", "lost", "value"),
    [(0, 0, 1.0), (1, 0, 1.0), (7, 0, 20.117546), (0, 7, 20.117546), (9, 1, 11.620099), (4, 4, 0.220605)],
)
def test_known_answers(won: int, lost: int, value: float) -> None:
    """Half of a Krichevsky-Trofimov bet, a quarter each of 1.6 to the wins and 0.4 to the losses and the opposite."""
    learning = 2.0 ** (won + lost) * math.exp(
        math.lgamma(won + 0.5) + math.lgamma(lost + 0.5) - math.lgamma(won + lost + 1.0) - math.log(math.pi)
    )
    by_hand = learning / 2 + (1.6**won * 0.4**lost + 1.6**lost * 0.4**won) / 4
    assert e_value(Discordant(won, lost)) == pytest.approx(by_hand)
    assert e_value(Discordant(won, lost)) == pytest.approx(value, rel=1e-4)


@given(COUNTS, COUNTS)
def test_a_fair_coin_makes_no_money(won: int, lost: int) -> None:
    """Whatever came before, the next pair leaves the evidence as it is on average: nothing is won by going on."""
    after = (e_value(Discordant(won + 1, lost)) + e_value(Discordant(won, lost + 1))) / 2
    assert after == pytest.approx(e_value(Discordant(won, lost)))


@given(COUNTS, COUNTS)
def test_both_arms_are_treated_alike(won: int, lost: int) -> None:
    """Evidence tells nothing of the direction, and its chance is a probability."""
    assert e_value(Discordant(won, lost)) == pytest.approx(e_value(Discordant(lost, won)))
    assert 0.0 < chance_at_any_time(Discordant(won, lost)) <= 1.0


def test_evidence_beyond_all_measure_is_a_number() -> None:
    """A thousand wins and more do not overflow."""
    assert math.isfinite(e_value(Discordant(5_000, 0)))
    assert 0.0 < chance_at_any_time(Discordant(5_000, 0)) < 1e-100
    assert 0.0 <= chance_to_decide(Discordant(600, 580), 2_000, 4_000) <= 1.0


@pytest.mark.slow
def test_looking_after_every_pair_is_rarely_wrong() -> None:
    """Two arms that are alike, looked at after each of 300 pairs: at most 5 % are ever called different."""
    chance = random.Random(1)
    wrong = 0
    for _ in range(2_000):
        won = lost = 0
        for _pair in range(300):
            if chance.random() < 0.5:
                won += 1
            else:
                lost += 1
            if chance_at_any_time(Discordant(won, lost)) <= RARE:
                wrong += 1
                break
    assert 0 < wrong <= 100


@pytest.mark.parametrize(
    ("won", "lost", "pairs", "left"), [(4, 1, 10, 40), (0, 0, 8, 30), (3, 3, 12, 12), (9, 4, 20, 9)]
)
def test_the_chance_to_decide_is_that_of_trying_it_out(won: int, lost: int, pairs: int, left: int) -> None:
    """Against shares drawn from what the pairs so far make likely, and as many further pairs."""
    chance = random.Random(2)
    further = round((won + lost + 0.5) / (pairs + 1) * left)
    tries, decided = 4_000, 0
    for _ in range(tries):
        share = chance.betavariate(won + 1, lost + 1)
        wins = sum(chance.random() < share for _ in range(further))
        decided += e_value(Discordant(won + wins, lost + further - wins)) >= 20
    expected = chance_to_decide(Discordant(won, lost), pairs, left)
    assert decided / tries == pytest.approx(expected, abs=0.03)


@given(COUNTS, COUNTS, st.integers(min_value=0, max_value=40), st.integers(min_value=0, max_value=200))
def test_the_chance_to_decide_is_a_chance(won: int, lost: int, alike: int, left: int) -> None:
    """Between 0 and 1; with no pair left it is certain of what is decided already, and 0 otherwise."""
    discordant = Discordant(won, lost)
    assert 0.0 <= chance_to_decide(discordant, won + lost + alike, left) <= 1.0 + 1e-9
    at_once = chance_to_decide(discordant, won + lost + alike, 0)
    assert at_once == pytest.approx(1.0 if e_value(discordant) >= 20 else 0.0)


def test_arguments_that_make_no_sense_are_refused() -> None:
    """Fewer pairs than came out differently, a negative rest, a level that is none."""
    for pairs, left, level in ((4, 1, 0.05), (9, -1, 0.05), (9, 1, 0.0), (9, 1, 1.0)):
        with pytest.raises(ValueError, match="must be"):
            chance_to_decide(Discordant(3, 2), pairs, left, level)


def test_discordant_pairs_decide_in_the_place_of_the_exact_test() -> None:
    """The same results, once looked at whenever one liked: the bet asks for more, and spends no level on looks."""
    pairs = Counter({(Repeats(3, 3), Repeats(1, 3)): 3})
    fixed, any_time = weigh(pairs), weigh(pairs, discordant=Discordant(6, 0))
    assert fixed is not None
    assert any_time is not None
    assert fixed.finding is Finding.HELPS
    assert any_time.finding is Finding.UNDECIDED
    assert any_time.chance == pytest.approx(chance_at_any_time(Discordant(6, 0)))
    assert any_time.interval_here.lower <= 0.0 < fixed.interval_here.lower
    assert any_time.next_level == any_time.level == RARE
    decided = weigh(pairs, discordant=Discordant(7, 0))
    assert decided is not None
    assert (decided.finding, decided.is_general) == (Finding.HELPS, False)
    assert decided.interval_here.lower > 0.0


def test_new_cases_are_spoken_of_only_where_the_bet_is_won() -> None:
    """The test of new cases allows for one look, so that it cannot decide alone."""
    pairs = Counter({(Repeats(1, 1), Repeats(0, 1)): 6, (Repeats(1, 1), Repeats(1, 1)): 4})
    strong = Counter({(Repeats(2, 2), Repeats(0, 2)): 10})
    for counted, discordant, finding in (
        (pairs, Discordant(6, 0), Finding.UNDECIDED),
        (strong, Discordant(20, 0), Finding.HELPS),
    ):
        evidence = weigh(counted, discordant=discordant)
        assert evidence is not None
        assert (evidence.finding, evidence.is_general) == (finding, finding is Finding.HELPS)


def test_a_lift_that_points_the_other_way_than_its_pairs_shows_nothing() -> None:
    """Cases with unequal repeats may do that."""
    evidence = weigh(
        Counter({(Repeats(0, 1), Repeats(1, 1)): 2, (Repeats(9, 9), Repeats(1, 9)): 1}), discordant=Discordant(9, 0)
    )
    assert evidence is not None
    assert evidence.estimate < 0
    assert (evidence.finding, evidence.chance) == (Finding.UNDECIDED, 1.0)


def test_the_rounds_are_bounded() -> None:
    """By three times the repeats of a run that does not stop, or there is no number."""
    assert (rounds_for(10, 0.3), rounds_for(4, 0.5), rounds_for(4, 0.05)) == (15, 15, None)
