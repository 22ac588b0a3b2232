"""Which interval a headline rate gets, and that it can be trusted."""

import math
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skillgauge.stats import (
    IntervalMethod,
    RateInterval,
    RateTally,
    RunRates,
    WeightedMean,
    bootstrap_interval,
    rate_interval,
    weighted_mean,
    wilson,
)

MEANS = st.lists(st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), min_size=1, max_size=30)
GRADED = [0.2, 0.9, 1.0, 0.4, 0.7, 1.0, 0.0, 0.6, 0.8]


def test_a_rate_is_the_mean_of_its_cases_with_the_interval_that_fits() -> None:
    """Also of cases that were never run, which have no rate."""
    interval = rate_interval(GRADED, repeats=2, seed=3)
    assert interval is not None
    assert RateInterval.of(GRADED, repeats=2, seed=3) == RateInterval(
        rate=math.fsum(GRADED) / 9,
        n=9,
        lower=interval.lower,
        upper=interval.upper,
        level=0.95,
        method="bootstrap-bca",
    )
    assert RateInterval.of([], repeats=0, seed=3) == RateInterval(rate=None, n=0)


@pytest.mark.parametrize(
    ("means", "repeats", "method"),
    [
        ([1.0, 0.0, 1.0], 1, IntervalMethod.WILSON),
        ([1.0, 0.0] * 20, 1, IntervalMethod.WILSON),
        ([1.0] * 20, 1, IntervalMethod.WILSON),
        (GRADED[:7], 1, IntervalMethod.WILSON_OVER_CASES),
        ([1.0, 0.0, 1.0], 3, IntervalMethod.WILSON_OVER_CASES),
        ([1.0] * 20, 3, IntervalMethod.WILSON_OVER_CASES),
        ([1.0, 0.5] * 499, 2, IntervalMethod.BOOTSTRAP_PERCENTILE),
        ([1.0, 0.5] * 500, 2, IntervalMethod.NORMAL),
        ([1.0] * 1000, 2, IntervalMethod.WILSON_OVER_CASES),
        ([0.6] * 10, 5, IntervalMethod.WILSON_OVER_CASES),
        (GRADED, 1, IntervalMethod.BOOTSTRAP_BCA),
        ([1.0, 0.0] * 5, 3, IntervalMethod.BOOTSTRAP_BCA),
        (GRADED * 3, 5, IntervalMethod.BOOTSTRAP_PERCENTILE),
    ],
)
def test_method_fits_the_data(means: list[float], repeats: int, method: IntervalMethod) -> None:
    """Binary single runs get Wilson; the rest the bootstrap, or Wilson over cases where that fails."""
    interval = rate_interval(means, repeats=repeats, seed=1)
    assert interval is not None
    assert interval.method == method


@pytest.mark.parametrize("repeats", [1, 3])
def test_wilson_counts_cases_and_not_runs(repeats: int) -> None:
    """Five perfect cases prove 57 %, whether each ran once or three times."""
    interval = rate_interval([1.0] * 5, repeats=repeats, seed=1)
    assert interval is not None
    assert (f"{interval.lower:.6f}", interval.upper) == ("0.565518", 1.0)


def test_fractional_means_are_summed_for_wilson() -> None:
    """Seven graded cases get Wilson's bounds for the sum of their means over seven."""
    interval = rate_interval(GRADED[:7], repeats=3, seed=1, level=0.9)
    expected = wilson(math.fsum(GRADED[:7]), 7, 0.9)
    assert interval is not None
    assert (interval.lower, interval.upper, interval.level) == (expected.lower, expected.upper, 0.9)


def test_bootstrap_arguments_reach_the_bootstrap() -> None:
    """Seed, resamples and level are those that the caller gave."""
    assert rate_interval(GRADED, repeats=3, seed=9, resamples=300, level=0.8) == bootstrap_interval(
        GRADED, seed=9, resamples=300, level=0.8
    )


def test_no_cases_have_no_interval() -> None:
    """Without a graded case there is None, not 0 .. 1."""
    assert rate_interval([], repeats=1, seed=1) is None


@settings(deadline=None)
@given(MEANS, st.integers(1, 5), st.integers(0, 2**32), st.floats(0.6, 0.98))
def test_interval_contains_the_rate_inside_zero_and_one(
    means: list[float], repeats: int, seed: int, level: float
) -> None:
    """Whatever the data, there is an interval of positive width in [0, 1] around the headline rate."""
    interval = rate_interval(means, repeats=repeats, seed=seed, resamples=200, level=level)
    assert interval is not None
    assert 0.0 <= interval.lower < interval.upper <= 1.0
    assert interval.lower - 1e-12 <= math.fsum(means) / len(means) <= interval.upper + 1e-12


@settings(deadline=None)
@given(MEANS, st.integers(1, 5), st.integers(0, 2**32), st.floats(0.1, 0.98), st.floats(0.1, 0.98))
def test_interval_widens_with_the_level(
    means: list[float], repeats: int, seed: int, first: float, second: float
) -> None:
    """The level never changes the method, so a higher one never gives a narrower interval."""
    low = rate_interval(means, repeats=repeats, seed=seed, resamples=200, level=min(first, second))
    high = rate_interval(means, repeats=repeats, seed=seed, resamples=200, level=max(first, second))
    assert low is not None
    assert high is not None
    assert low.method == high.method
    assert high.lower <= low.lower + 1e-12
    assert high.upper >= low.upper - 1e-12


@pytest.mark.parametrize(("n", "repeats"), [(5, 1), (5, 3), (12, 3), (30, 1), (30, 3)])
def test_interval_covers_the_true_rate(n: int, repeats: int) -> None:
    """Over simulated suites of mixed difficulty a 90 % interval covers the truth in 84 % or more."""
    world = random.Random(n * 10 + repeats)
    covered = 0
    for trial in range(400):
        # Difficulty uniform on [0.3, 1], so the true rate of new cases is 0.65.
        easiness = [world.uniform(0.3, 1.0) for _ in range(n)]
        means = [sum(world.random() < ease for _ in range(repeats)) / repeats for ease in easiness]
        interval = rate_interval(means, repeats=repeats, seed=trial, resamples=200, level=0.9)
        covered += interval is not None and interval.lower <= 0.65 <= interval.upper
    assert covered / 400 >= 0.84


@pytest.mark.parametrize("n", [8, 10, 20])
@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
def test_one_run_a_case_is_covered_as_the_page_says(n: int, rate: float) -> None:
    """Exactly, by the probability of each number of passes; the least is at ten cases that pass 95 % of the time."""
    covered = 0.0
    for passes in range(n + 1):
        interval = rate_interval([1.0] * passes + [0.0] * (n - passes), repeats=1, seed=0)
        if interval is not None and interval.lower <= rate <= interval.upper:
            covered += math.comb(n, passes) * rate**passes * (1 - rate) ** (n - passes)
    assert covered >= 0.9138


@pytest.mark.parametrize("bad", [-0.1, 1.1, 80, math.nan])
def test_means_outside_zero_and_one_are_refused(bad: float) -> None:
    """A percent value or NaN among the means is an error."""
    with pytest.raises(ValueError, match="case_means must all lie in"):
        rate_interval([0.5, bad], repeats=1, seed=1)


def test_repeats_below_one_are_refused() -> None:
    """A mean has at least one run behind it."""
    with pytest.raises(ValueError, match="repeats must be at least 1"):
        rate_interval([0.5], repeats=0, seed=1)


def test_bad_level_and_resamples_are_refused_whatever_the_data() -> None:
    """Even where neither is used, so that a wrong call fails on the first suite and not on the tenth."""
    with pytest.raises(ValueError, match="level must be strictly between 0 and 1"):
        rate_interval([], repeats=1, seed=1, level=95)
    with pytest.raises(ValueError, match="needs at least 40 resamples"):
        rate_interval([], repeats=1, seed=1, resamples=39)


@pytest.mark.parametrize(("cases", "runs"), [(8, 3), (8, 5), (10, 5), (20, 3), (40, 5)])
def test_a_failing_run_never_raises_what_is_proven(cases: int, runs: int) -> None:
    """The bound of a perfect suite is the highest that a suite of its size can have, and the other way round."""
    perfect = rate_interval([1.0] * cases, repeats=runs, seed=0)
    spoilt = rate_interval([1 - 1 / runs] + [1.0] * (cases - 1), repeats=runs, seed=0)
    hopeless = rate_interval([0.0] * cases, repeats=runs, seed=0)
    saved = rate_interval([1 / runs] + [0.0] * (cases - 1), repeats=runs, seed=0)
    assert perfect
    assert spoilt
    assert hopeless
    assert saved
    assert spoilt.lower <= perfect.lower
    assert saved.upper >= hopeless.upper


def test_a_tally_of_cases_has_their_mean_and_what_errors_leave_open() -> None:
    """A case of which nothing was graded is in the bounds and not in the rate; one that never ran is in neither."""
    tally = RateTally()
    tally.add(1.0, (0.5, 1.0))
    tally.add(None, (0.0, 1.0))
    tally.add(None, None)
    assert (tally.rate(1, 0).rate, tally.rate(1, 0).n) == (1.0, 1)
    assert tally.bounds == (0.25, 1.0)


def test_each_repeat_has_a_rate_of_its_own() -> None:
    """A repeat all of whose trials were skipped has none."""
    runs = RunRates()
    for repeat, passed in ((1, True), (2, None), (3, False), (1, False)):
        runs.add(repeat, passed=passed)
    assert runs.repeats == 3
    assert runs.rates == (0.5, 0.0)


def test_a_weighted_mean_counts_by_weight() -> None:
    """Without weight there is no mean."""
    mean = WeightedMean()
    assert mean.mean is None
    mean.add(1.0, 3.0)
    mean.add(0.0)
    assert (mean.mean, mean.weight) == (0.75, 4.0)


def test_what_nobody_weighs_counts_alike() -> None:
    """Weights of zero are no division by zero, and tiny ones are no zeros."""
    assert weighted_mean([1.0, 0.0, 0.5], [0.0, 0.0, 0.0]) == 0.5
    assert weighted_mean([1.0, 0.0], [5e-324, 5e-324]) == 0.5
    assert weighted_mean([1.0, 0.0], [1e-320, 0.0]) == 1.0
    assert weighted_mean([0.25], [7.0]) == 0.25


@example([(0.19723996472138788, 0.0)] * 3)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1e6)), min_size=1, max_size=20))
def test_a_mean_lies_among_its_values(weighed: list[tuple[float, float]]) -> None:
    """Whatever the weights; and only their proportions count."""
    values, weights = [value for value, _ in weighed], [weight for _, weight in weighed]
    mean = weighted_mean(values, weights)
    assert min(values) <= mean <= max(values)
    assert weighted_mean(values, [weight * 4 for weight in weights]) == mean
