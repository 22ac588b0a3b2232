"""Looking again: what a look may spend, what all looks together spend, and intervals of results that grew."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillgauge.stats import (
    Finding,
    RateInterval,
    Repeats,
    attainable_size,
    chance_of_difference,
    chance_of_worse,
    least_change,
    level_of_look,
    rate_interval,
    repeats_for,
    weigh,
    widened,
)

ONE, NONE = Repeats(1, 1), Repeats(0, 1)


@st.composite
def compared(draw: st.DrawFn) -> Counter[tuple[Repeats, Repeats]]:
    """A few cases with up to three repeats."""
    graded = draw(st.integers(1, 3))
    repeats = st.integers(0, graded).map(lambda passed: Repeats(passed, graded))
    return Counter(draw(st.lists(st.tuples(repeats, repeats), min_size=1, max_size=4)))


def dealt(pairs: Counter[tuple[Repeats, Repeats]], level: float, *, two_sided: bool) -> float:
    """The size of the test by dealing all passes of every case to the arms in every way there is."""
    ways = []
    for (ours, theirs), cases in pairs.items():
        runs = [1] * (ours.passed + theirs.passed) + [0] * (ours.graded + theirs.graded - ours.passed - theirs.passed)
        hands = [
            (
                Repeats(sum(runs[i] for i in hand), ours.graded),
                Repeats(sum(runs) - sum(runs[i] for i in hand), theirs.graded),
            )
            for hand in itertools.combinations(range(len(runs)), ours.graded)
        ]
        ways += [hands] * cases
    test = chance_of_difference if two_sided else chance_of_worse
    chances = [test(Counter(hand)) for hand in itertools.product(*ways)]
    return sum(chance <= level + 1e-12 for chance in chances) / len(chances)


@example(
    pairs=Counter({(Repeats(0, 3), Repeats(2, 3)): 1, (Repeats(0, 3), Repeats(3, 3)): 1}), level=0.01, two_sided=False
)
@given(pairs=compared(), level=st.sampled_from([0.01, 0.05, 0.2, 0.5]), two_sided=st.booleans())
def test_the_size_of_a_test_is_how_often_it_comes_out(
    pairs: Counter[tuple[Repeats, Repeats]], level: float, two_sided: bool
) -> None:
    """Dealing the passes by hand gives the same share of outcomes that count as evidence."""
    if sum(pairs.values()) * max(ours.graded for ours, _ in pairs) > 8:
        pairs = Counter(dict(list(pairs.items())[:1]))
    expected = dealt(pairs, level, two_sided=two_sided)
    assert attainable_size(pairs, level, two_sided=two_sided) == pytest.approx(expected, abs=1e-9)


def test_known_sizes() -> None:
    """Six flips can reach 1/32 at 5 %, five can reach nothing, and cases that cannot differ never do."""
    assert attainable_size({(ONE, NONE): 6}, 0.05, two_sided=True) == pytest.approx(2 / 64)
    assert attainable_size({(ONE, NONE): 5}, 0.05, two_sided=True) == 0.0
    assert attainable_size({(ONE, NONE): 5}, 0.05, two_sided=False) == pytest.approx(1 / 32)
    assert attainable_size({(ONE, ONE): 9}, 0.05, two_sided=True) == 0.0


@given(looks=st.lists(compared(), max_size=6), two_sided=st.booleans())
def test_all_looks_together_spend_the_level_at_most(
    looks: list[Counter[tuple[Repeats, Repeats]]], two_sided: bool
) -> None:
    """However many looks there are, what their tests can spend adds up to no more than the level."""
    spent = 0.0
    for place, pairs in enumerate(looks):
        level = level_of_look(looks[:place], 0.05, two_sided=two_sided)
        assert 0.0 < level <= 0.05
        spent += attainable_size(pairs, level, two_sided=two_sided)
    assert spent <= 0.05 + 1e-9


def test_a_later_look_asks_for_more() -> None:
    """What is beyond chance at the first look can be open at the second, which says what would decide."""
    pairs = {(Repeats(3, 5), Repeats(0, 5)): 2, (Repeats(3, 5), Repeats(2, 5)): 2}
    first = weigh(pairs)
    again = weigh(pairs, (), [{(Repeats(2, 3), Repeats(1, 3)): 4}])
    assert first is not None
    assert again is not None
    assert (first.finding, first.look, first.level) == (Finding.HELPS, 1, pytest.approx(0.05))
    assert again.look == 2
    assert again.level < first.chance < 0.05
    assert again.finding is Finding.UNDECIDED
    assert again.chance == first.chance
    assert first.next_level is not None
    assert first.next_level < 0.05


def test_the_interval_of_a_later_look_agrees_with_its_finding() -> None:
    """It has the confidence that the look asks for, so that it is wider."""
    pairs = {(ONE, NONE): 8, (ONE, ONE): 4}
    first, again = weigh(pairs), weigh(pairs, (), [{(ONE, NONE): 7, (NONE, ONE): 1, (ONE, ONE): 4}])
    assert first is not None
    assert first.interval is not None
    assert again is not None
    assert again.interval is not None
    assert again.interval.level == pytest.approx(1 - again.level)
    assert again.interval.lower < first.interval.lower


def test_repeats_that_are_there_count() -> None:
    """Fewer further repeats are needed than repeats, and more where the level is smaller."""
    assert repeats_for(4, 0.5) == 5
    assert repeats_for(4, 0.5, present=3) == 2
    assert repeats_for(4, 0.5, present=3, level=0.01) == 3
    with pytest.raises(ValueError, match="present must be at least 0"):
        repeats_for(4, 0.5, present=-1)


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "repeats"), [(4, 3), (10, 1)])
def test_looking_on_until_something_is_found_finds_nothing_that_is_not_there(cases: int, repeats: int) -> None:
    """Equal arms, up to four looks: a skill is said to help or to hurt in 5 % of suites at most (300 suites)."""
    draw = random.Random(f"{cases} {repeats}")
    wrong = sum(_finds(draw, cases, repeats, looks=4) for _ in range(300))
    assert wrong / 300 <= 0.05


def _finds(draw: random.Random, cases: int, repeats: int, *, looks: int) -> bool:
    passed, graded = [[0, 0] for _ in range(cases)], 0
    earlier: list[Counter[tuple[Repeats, Repeats]]] = []
    for look in range(looks):
        times = 5 if look else repeats
        graded += times
        for case in passed:
            for arm in range(2):
                case[arm] += sum(draw.random() < 0.5 for _ in range(times))
        pairs = Counter((Repeats(ours, graded), Repeats(theirs, graded)) for ours, theirs in passed)
        evidence = weigh(pairs, (), earlier)
        if evidence is not None and evidence.finding is not Finding.UNDECIDED:
            return True
        earlier.append(pairs)
    return False


def test_widened_levels() -> None:
    """By Student's quantiles of a table: t(9) = 2.2622, t(19) = 2.0930; many cases need nothing."""
    assert widened(0.95, 10) == pytest.approx(0.9829, abs=1e-4)
    assert widened(0.95, 20) == pytest.approx(0.9682, abs=1e-4)
    assert widened(0.95, 10_000) == pytest.approx(0.95, abs=1e-4)
    with pytest.raises(ValueError, match="n must be at least 2"):
        widened(0.95, 1)


def test_the_interval_of_a_rate_is_wider_when_it_was_looked_at_before() -> None:
    """The bootstrap's is; Wilson's over few cases is wide enough, and the level that is said stays."""
    shares = [0.2, 0.4, 0.4, 0.6, 0.6, 0.6, 0.8, 0.8, 1.0, 1.0]
    first, again = (RateInterval.of(shares, repeats=5, seed=1, looks=looks) for looks in (1, 2))
    assert first.lower is not None
    assert first.upper is not None
    assert again.lower is not None
    assert again.upper is not None
    assert again.lower < first.lower < first.upper < again.upper
    assert again.level == first.level == 0.95
    few = [RateInterval.of(shares[:5], repeats=5, seed=1, looks=looks) for looks in (1, 2)]
    assert few[0] == few[1]
    assert (first.lower, first.upper) == (
        (plain := rate_interval(shares, repeats=5, seed=1)) and plain.lower,
        plain and plain.upper,
    )
    assert RateInterval.of(shares, repeats=5, seed=1).bare == RateInterval(first.rate, first.n)


def test_the_least_change_by_hand() -> None:
    """Agresti's and Caffo's bound: 9 of 10 against 5 of 10, one run each; a lift has four means."""
    after, before = [ONE] * 9 + [NONE], [ONE] * 5 + [NONE] * 5
    centre = 10 / 12 - 6 / 12
    variance = 10 / 12 * 2 / 12 / 12 + 6 / 12 * 6 / 12 / 12
    assert least_change([after], [before]) == pytest.approx(centre - 1.6448536 * variance**0.5)
    lift = least_change([after, before], [before, before])
    assert lift == pytest.approx(centre - 1.6448536 * (variance + 2 * 6 / 12 * 6 / 12 / 12) ** 0.5)
    assert least_change([before], [before]) < 0
    with pytest.raises(ValueError, match="at least one case"):
        least_change([[]], [before])


@pytest.mark.parametrize("rates", [(0.8, 0.75), (0.5, 0.45), (0.98, 0.93)])
def test_the_least_change_is_below_the_truth(rates: tuple[float, float]) -> None:
    """A loss of five points is excluded in 5 % of comparisons, as far as 400 tell, of alike and unlike cases."""
    for spread in (0.0, 0.02):
        draw = random.Random(f"{rates} {spread}")
        excluded = 0
        for _ in range(400):
            sides = [
                [Repeats(sum(draw.random() < rate + sign * spread for _ in range(20)), 20) for sign in (-1, 1) * 10]
                for rate in rates
            ]
            excluded += least_change([sides[1]], [sides[0]]) >= -0.05
        assert excluded <= 29  # 97.5 % of the binomial distribution with 5 %
