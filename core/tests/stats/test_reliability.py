"""pass@k, pass^k, flip rate, consistency and variance parts against known answers and brute force."""

import math
import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.stats import (
    ReliabilityTally,
    VarianceParts,
    consistency,
    flip_rate,
    pass_at_k,
    pass_hat_k,
    variance_parts,
)

RATES = st.lists(st.floats(0, 1), min_size=1, max_size=40)
SCORES = st.floats(0, 1)
SUITES = st.lists(st.lists(SCORES, min_size=1, max_size=6), min_size=2, max_size=12)


@st.composite
def tallies(draw: st.DrawFn, most: int = 40) -> tuple[int, int]:
    """Draw the number of repeats of a case and how many passed."""
    repeats = draw(st.integers(1, most))
    return repeats, draw(st.integers(0, repeats))


@pytest.mark.parametrize(
    ("repeats", "passes", "k", "expected", "plug_in"),
    [(5, 4, 2, 0.6, 0.64), (5, 4, 3, 0.4, 0.512), (10, 9, 4, 0.6, 0.6561)],
)
def test_pass_hat_k_gives_the_known_answers(repeats: int, passes: int, k: int, expected: float, plug_in: float) -> None:
    """The answers of statistics.md section 5 are exact, and differ from the biased plug-in's."""
    assert pass_hat_k(repeats, passes, k) == expected
    assert (passes / repeats) ** k == pytest.approx(plug_in)


@given(tallies(most=7), st.integers(1, 7))
def test_both_estimates_equal_enumeration(tally: tuple[int, int], k: int) -> None:
    """Both are the share of all k-subsets of the runs with some pass, or with passes only."""
    repeats, passes = tally
    subsets = list(combinations([True] * passes + [False] * (repeats - passes), k))
    if not subsets:
        assert pass_at_k(repeats, passes, k) is None
        assert pass_hat_k(repeats, passes, k) is None
    else:
        assert pass_at_k(repeats, passes, k) == sum(map(any, subsets)) / len(subsets)
        assert pass_hat_k(repeats, passes, k) == sum(map(all, subsets)) / len(subsets)


@given(tallies())
def test_one_try_is_the_pass_rate(tally: tuple[int, int]) -> None:
    """pass@1 and pass^1 are both c / K, the headline rate of the case."""
    repeats, passes = tally
    assert pass_at_k(repeats, passes, 1) == pass_hat_k(repeats, passes, 1) == passes / repeats


@given(tallies())
def test_more_tries_help_the_one_and_hurt_the_other(tally: tuple[int, int]) -> None:
    """As k grows pass@k never falls, pass^k never rises, and both stay in [0, 1]."""
    repeats, passes = tally
    at = [pass_at_k(repeats, passes, k) or 0.0 for k in range(1, repeats + 1)]
    hat = [pass_hat_k(repeats, passes, k) or 0.0 for k in range(1, repeats + 1)]
    assert at == sorted(at)
    assert hat == sorted(hat, reverse=True)
    assert all(0.0 <= low <= high <= 1.0 for low, high in zip(hat, at, strict=True))


@given(tallies(), st.integers(1, 40))
def test_the_two_estimates_are_complementary(tally: tuple[int, int], k: int) -> None:
    """All of k runs fail exactly when none passes: pass^k of the failures is 1 - pass@k."""
    repeats, passes = tally
    at, hat = pass_at_k(repeats, passes, k), pass_hat_k(repeats, repeats - passes, k)
    assert (at is None) == (hat is None) == (k > repeats)
    if at is not None and hat is not None:
        assert at == pytest.approx(1 - hat)


@pytest.mark.parametrize("k", [2, 3])
def test_pass_hat_k_is_unbiased(k: int) -> None:
    """Weighted with the binomial chances of every c, the estimate is the true p to the k."""
    p, repeats = 0.7, 6
    chances = [math.comb(repeats, c) * p**c * (1 - p) ** (repeats - c) for c in range(repeats + 1)]
    estimates = [pass_hat_k(repeats, c, k) or 0.0 for c in range(repeats + 1)]
    expected = math.fsum(chance * value for chance, value in zip(chances, estimates, strict=True))
    assert expected == pytest.approx(p**k)


def test_undefined_estimates_are_none_and_not_zero() -> None:
    """More tries than runs, and a case without runs, have no estimate."""
    assert pass_at_k(3, 3, 4) is None
    assert pass_hat_k(3, 0, 4) is None
    assert pass_at_k(0, 0, 1) is None
    assert pass_hat_k(0, 0, 1) is None
    assert pass_hat_k(3, 0, 3) == 0.0


def test_thousands_of_repeats_do_not_overflow() -> None:
    """The binomial coefficients exceed the range of float, their ratio does not."""
    assert pass_at_k(4_000, 2_000, 2_000) == pytest.approx(1.0)
    assert pass_hat_k(4_000, 3_999, 2_000) == 0.5


def test_flip_rate_gives_the_known_answers() -> None:
    """K = 5 gives 0, .4, .6, .6, .4, 0 for c = 0 to 5, as statistics.md section 5 prints."""
    assert [flip_rate(5, passes) for passes in range(6)] == [0.0, 0.4, 0.6, 0.6, 0.4, 0.0]


@given(tallies(most=8).filter(lambda tally: tally[0] >= 2))
def test_flip_rate_equals_enumeration(tally: tuple[int, int]) -> None:
    """It is the share of disagreeing pairs of runs."""
    repeats, passes = tally
    pairs = list(combinations([True] * passes + [False] * (repeats - passes), 2))
    assert flip_rate(repeats, passes) == sum(first != second for first, second in pairs) / len(pairs)


@pytest.mark.parametrize(("repeats", "passes"), [(0, 0), (1, 0), (1, 1)])
def test_flip_rate_needs_two_runs(repeats: int, passes: int) -> None:
    """A single run cannot disagree with itself: None, not a reassuring 0."""
    assert flip_rate(repeats, passes) is None


@pytest.mark.parametrize(
    ("repeats", "passes", "k", "message"),
    [
        (-1, 0, 1, "repeats must not be negative"),
        (3, 4, 1, "passes must lie between 0 and repeats = 3"),
        (3, -1, 1, "passes must lie between 0 and repeats = 3"),
        (3, 2, 0, "k must be at least 1"),
    ],
)
def test_impossible_counts_are_refused(repeats: int, passes: int, k: int, message: str) -> None:
    """Swapped or negative counts raise, which also catches arguments in the wrong order."""
    with pytest.raises(ValueError, match=message):
        pass_at_k(repeats, passes, k)
    with pytest.raises(ValueError, match=message):
        pass_hat_k(repeats, passes, k)


def test_flip_rate_refuses_impossible_counts() -> None:
    """More passes than runs raise."""
    with pytest.raises(ValueError, match="passes must lie between"):
        flip_rate(4, 5)


@pytest.mark.parametrize(
    ("rates", "expected"), [([0.8], 1.0), ([0.7, 0.7, 0.7], 1.0), ([0.5, 1.0], 0.75), ([0.0, 1.0], 0.5)]
)
def test_consistency_gives_the_known_answers(rates: list[float], expected: float) -> None:
    """A single run is fully consistent, and the deviation is the population's (divisor n)."""
    assert consistency(rates) == pytest.approx(expected, abs=1e-15)


@given(RATES)
def test_consistency_equals_numpy(rates: list[float]) -> None:
    """It is 1 minus numpy's population deviation, with the floor of the definition never reached."""
    value = consistency(rates)
    assert value == pytest.approx(max(0.0, 1 - float(np.std(rates))), abs=1e-12)
    assert value is not None
    assert 0.5 - 1e-12 <= value <= 1.0


def test_consistency_without_runs_is_undefined() -> None:
    """No run is not a perfectly consistent run."""
    assert consistency([]) is None


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_consistency_refuses_rates_outside_zero_and_one(bad: float) -> None:
    """A percent value or NaN is an error."""
    with pytest.raises(ValueError, match="run_rates must all lie in"):
        consistency([0.5, bad])


@given(st.integers(2, 12), st.integers(2, 6), st.data())
def test_parts_add_up_to_the_variance_of_the_mean(n: int, repeats: int, data: st.DataObject) -> None:
    """With K runs of every case (between + within / K) / n is `of_mean`, or more if floored."""
    run_lists = st.lists(SCORES, min_size=repeats, max_size=repeats)
    parts = variance_parts(data.draw(st.lists(run_lists, min_size=n, max_size=n)))
    assert parts.between is not None
    assert parts.within is not None
    assert parts.of_mean is not None
    combined = (parts.between + parts.within / repeats) / n
    assert combined >= parts.of_mean - 1e-12
    if parts.between > 0:
        assert combined == pytest.approx(parts.of_mean)


@given(SUITES)
def test_parts_equal_numpy(suite: list[list[float]]) -> None:
    """Within is the mean sample variance of repeated cases, of_mean the variance of case means over n."""
    parts = variance_parts(suite)
    repeated = [float(np.var(scores, ddof=1)) for scores in suite if len(scores) > 1]
    means = [float(np.mean(scores)) for scores in suite]
    assert parts.of_mean == pytest.approx(float(np.var(means, ddof=1)) / len(suite), abs=1e-12)
    assert parts.within == (pytest.approx(float(np.mean(repeated)), abs=1e-12) if repeated else None)


def test_parts_recover_a_known_world() -> None:
    """Simulated with difficulty variance .04 and noise variance .09, over uneven repeats, both come back."""
    world = random.Random(4)
    suite = []
    for index in range(20_000):
        truth = world.gauss(0.5, 0.2)
        suite.append([world.gauss(truth, 0.3) for _ in range(1 + index % 4)])
    parts = variance_parts(suite)
    assert parts.between == pytest.approx(0.04, rel=0.06)
    assert parts.within == pytest.approx(0.09, rel=0.03)


def test_noise_follows_each_case_and_its_number_of_runs() -> None:
    """A noisy case that ran often and a quiet one that ran twice are taken off with their own weights."""
    parts = variance_parts([[0.0, 1.0, 0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.5]])
    # Variances 1/3, 0, 0 and for the single run their mean 1/9; means .5, 0, 1, .5 with variance 1/6.
    assert parts.within == pytest.approx(1 / 9)
    assert parts.between == pytest.approx(1 / 6 - (1 / 12 + 1 / 9) / 4)
    assert parts.of_mean == pytest.approx(1 / 24)


def test_noise_above_the_spread_of_the_means_leaves_no_difficulty() -> None:
    """Cases that all waver around one half differ in nothing: between is 0, not negative."""
    parts = variance_parts([[0.0, 1.0]] * 4)
    assert parts == VarianceParts(between=0.0, within=0.5, of_mean=0.0)
    assert parts.worthwhile_repeats is None


@pytest.mark.parametrize(
    ("suite", "expected"),
    [
        ([], VarianceParts(None, None, None)),
        ([[0.5]], VarianceParts(None, None, None)),
        ([[0.0, 1.0]], VarianceParts(None, 0.5, None)),
        ([[0.0], [1.0]], VarianceParts(None, None, 0.25)),
    ],
)
def test_parts_that_the_data_cannot_tell_are_none(suite: list[list[float]], expected: VarianceParts) -> None:
    """One case shows no difficulty, single runs show no noise; neither is reported as 0."""
    assert variance_parts(suite) == expected
    assert expected.worthwhile_repeats is None


def test_worthwhile_repeats_is_the_ratio_of_the_parts() -> None:
    """The advice of section 5: past within / between repeats, buy new cases."""
    assert VarianceParts(between=0.02, within=0.1, of_mean=0.01).worthwhile_repeats == pytest.approx(5.0)
    assert variance_parts([[0.0, 0.0], [1.0, 1.0]]).worthwhile_repeats == 0.0


def test_parts_refuse_empty_cases_and_scores_that_are_not_numbers() -> None:
    """A case whose runs all errored must be left out by the caller, who also reports it."""
    with pytest.raises(ValueError, match="case without runs"):
        variance_parts([[1.0], []])
    with pytest.raises(ValueError, match="case_scores must all be finite"):
        variance_parts([[1.0], [math.nan]])


def test_what_repeats_tell_of_a_suite() -> None:
    """Over all cases that ran twice, with the largest k that each of them has; single runs say nothing."""
    tally = ReliabilityTally()
    assert tally.reliability is None
    tally.add(1, 1)
    assert tally.reliability is None
    for passes in (3, 3, 1, 0):
        tally.add(3, passes)
    tally.add(2, 1)  # one of its runs ended in an error
    found = tally.reliability
    assert found is not None
    assert (found.cases, found.flaky, found.k, found.pass_hat_k) == (5, 2, 2, 0.4)
    assert found.flip_rate == pytest.approx((2 / 3 + 1) / 5)
    tally.add(7, 0)  # a single case that was run on does not decide k
    assert tally.reliability is not None
    assert (tally.reliability.cases, tally.reliability.k) == (6, 2)
