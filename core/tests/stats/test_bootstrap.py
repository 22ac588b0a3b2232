"""The bootstrap against scipy: exactly on shared resamples, and within noise on its own."""

import math
import random
import time
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap  # type: ignore[import-untyped]  # scipy ships no types

from skillgauge.stats import (
    DISPLAY_RESAMPLES,
    GATE_RESAMPLES,
    Interval,
    IntervalMethod,
    bootstrap_interval,
    bootstrap_means,
)

# Quarters and not any float: sums of them are exact, so that scipy's plain sums tie where ours do.
QUARTERS = st.integers(-8, 8).map(lambda quarter: quarter / 4)
SEEDS = st.integers(0, 2**32)
FEW = st.lists(QUARTERS, min_size=8, max_size=19)
MANY = st.lists(QUARTERS, min_size=20, max_size=60)
RATES = st.lists(st.floats(0, 1), min_size=8, max_size=30)

SKEWED = [1.0, 1.0, 0.75, 1.0, 0.0, 1.0, 0.5, 1.0, 1.0, 0.25, 1.0, 1.0]
PINNED_MEANS = [0.6041666666666666, 0.6666666666666666, 0.8541666666666666, 0.8958333333333334, 0.9375]
PINNED_BOUNDS = (0.5208333333333334, 0.9375)
PAIRED = [1.0, 1.0, 0.0, 0.5, 0.0, 1.0, -0.5, 0.25]


def scipy_bounds(values: list[float], method: str, **options: object) -> tuple[float, float]:
    """Return scipy's 95 % (or `confidence_level`) bootstrap bounds for the mean."""
    result = bootstrap((np.array(values),), np.mean, method=method, vectorized=True, **options)
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def on_our_resamples(values: list[float], method: str, seed: int, resamples: int, level: float) -> tuple[float, float]:
    """Return the bounds that scipy reads off the very resamples that we drew."""
    ours = SimpleNamespace(bootstrap_distribution=np.array(bootstrap_means(values, seed=seed, resamples=resamples)))
    return scipy_bounds(values, method, n_resamples=0, bootstrap_result=ours, confidence_level=level)


def interval_of(values: list[float], seed: int, resamples: int = 400, level: float = 0.95) -> Interval:
    """Return the interval where it must exist."""
    interval = bootstrap_interval(values, seed=seed, resamples=resamples, level=level)
    assert interval is not None
    return interval


@settings(deadline=None)
@given(FEW.filter(lambda values: len(set(values)) > 1), SEEDS, st.floats(0.5, 0.99))
def test_bca_equals_scipy_on_the_same_resamples(values: list[float], seed: int, level: float) -> None:
    """Given our resampled means, scipy's BCa arrives at our bounds: bias, skew and quantiles are right."""
    interval = interval_of(values, seed, level=level)
    assert interval.method == IntervalMethod.BOOTSTRAP_BCA
    assert (interval.lower, interval.upper) == pytest.approx(
        on_our_resamples(values, "BCa", seed, 400, level), abs=1e-9
    )


@settings(deadline=None)
@given(MANY.filter(lambda values: len(set(values)) > 1), SEEDS, st.floats(0.5, 0.99))
def test_percentile_equals_scipy_on_the_same_resamples(values: list[float], seed: int, level: float) -> None:
    """Given our resampled means, scipy's percentile interval is ours."""
    interval = interval_of(values, seed, level=level)
    assert interval.method == IntervalMethod.BOOTSTRAP_PERCENTILE
    assert (interval.lower, interval.upper) == pytest.approx(
        on_our_resamples(values, "percentile", seed, 400, level), abs=1e-9
    )


@pytest.mark.parametrize(
    ("values", "method"),
    [
        (SKEWED, "BCa"),
        (PAIRED, "BCa"),
        ([index**2 / 400 for index in range(19)], "BCa"),
        (SKEWED * 3, "percentile"),
        ([index**2 / 10_000 for index in range(100)], "percentile"),
    ],
)
def test_own_resamples_agree_with_scipy(values: list[float], method: str) -> None:
    """Drawn independently, both programs agree within a twentieth of the width, so the draw is right too."""
    low, high = scipy_bounds(values, method, n_resamples=20_000, rng=np.random.default_rng(11))
    interval = interval_of(values, seed=7, resamples=20_000)
    noise = (high - low) / 20
    assert interval.lower == pytest.approx(low, abs=noise)
    assert interval.upper == pytest.approx(high, abs=noise)


def test_resampled_means_have_the_moments_of_the_theory() -> None:
    """Their mean is the sample mean and their variance is the population variance over n."""
    means = np.array(bootstrap_means(SKEWED, seed=3, resamples=40_000))
    assert means.mean() == pytest.approx(np.mean(SKEWED), abs=0.003)
    assert means.var() == pytest.approx(np.var(SKEWED) / len(SKEWED), rel=0.05)


def test_every_case_is_drawn_about_equally_often() -> None:
    """Each of ten cases gets a tenth of all draws, the first and the last included."""
    for marked in range(10):
        values = [float(index == marked) for index in range(10)]
        assert np.mean(bootstrap_means(values, seed=marked, resamples=20_000)) == pytest.approx(0.1, abs=0.005)


def test_seed_gives_the_pinned_figures() -> None:
    """A seed printed in a report reproduces its interval on every Python version and machine."""
    assert bootstrap_means(SKEWED, seed=20260101, resamples=5) == PINNED_MEANS
    interval = interval_of(SKEWED, seed=20260101, resamples=DISPLAY_RESAMPLES)
    assert (interval.lower, interval.upper) == pytest.approx(PINNED_BOUNDS, abs=1e-12)


@settings(deadline=None)
@given(RATES, SEEDS, st.randoms(use_true_random=False))
def test_same_seed_same_interval_in_any_order(values: list[float], seed: int, order: random.Random) -> None:
    """The interval does not depend on the order in which the cases finished."""
    shuffled = list(values)
    order.shuffle(shuffled)
    first = bootstrap_interval(values, seed=seed, resamples=200)
    assert first == bootstrap_interval(shuffled, seed=seed, resamples=200)


def test_another_seed_draws_other_samples() -> None:
    """The seed is really used, and the module-level random state is not."""
    random.seed(0)
    before = random.getstate()
    assert bootstrap_means(SKEWED, seed=1) != bootstrap_means(SKEWED, seed=2)
    assert random.getstate() == before


@settings(deadline=None)
@given(RATES, SEEDS, st.floats(0.6, 0.98))
def test_interval_contains_the_mean_inside_the_range(values: list[float], seed: int, level: float) -> None:
    """The bounds of rates stay in [0, 1], and from level 0.6 on the mean lies between them."""
    interval = bootstrap_interval(values, seed=seed, resamples=200, level=level)
    if interval is not None:
        assert 0.0 <= interval.lower <= interval.upper <= 1.0
        assert interval.lower - 1e-12 <= math.fsum(values) / len(values) <= interval.upper + 1e-12


@settings(deadline=None)
@given(RATES, SEEDS, st.floats(0.1, 0.98), st.floats(0.1, 0.98))
def test_interval_widens_with_the_level(values: list[float], seed: int, first: float, second: float) -> None:
    """With one seed a higher level never gives a narrower interval on either side."""
    low = bootstrap_interval(values, seed=seed, resamples=200, level=min(first, second))
    high = bootstrap_interval(values, seed=seed, resamples=200, level=max(first, second))
    if low is not None and high is not None:
        assert high.lower <= low.lower + 1e-12
        assert high.upper >= low.upper - 1e-12


@settings(deadline=None)
@given(FEW | MANY, SEEDS, st.integers(-9, 9))
def test_interval_follows_a_change_of_unit(values: list[float], seed: int, exponent: int) -> None:
    """Scaling all values scales the interval, for tiny and huge units alike."""
    factor = 2.0 ** (exponent * 100)
    plain = bootstrap_interval(values, seed=seed, resamples=200)
    scaled = bootstrap_interval([value * factor for value in values], seed=seed, resamples=200)
    assert (plain is None) == (scaled is None)
    if plain is not None and scaled is not None:
        assert (scaled.lower / factor, scaled.upper / factor) == pytest.approx((plain.lower, plain.upper))


@pytest.mark.parametrize(
    ("n", "method"),
    [
        (7, None),
        (8, IntervalMethod.BOOTSTRAP_BCA),
        (19, IntervalMethod.BOOTSTRAP_BCA),
        (20, IntervalMethod.BOOTSTRAP_PERCENTILE),
    ],
)
def test_method_changes_at_the_stated_sizes(n: int, method: IntervalMethod | None) -> None:
    """None below 8 cases, BCa from 8 to 19, percentile from 20 on."""
    interval = bootstrap_interval([index / n for index in range(n)], seed=1, level=0.9)
    assert (interval and interval.method) == method
    assert interval is None or interval.level == 0.9


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        ([3.0, 0.0, 2.0, 0.0, 3.0, 0.0, 1.0, 1.0, 0.0, 3.0, 2.0, 2.0], 3),
        ([4.0, 3.0, 5.0, 1.0, 1.0, 4.0, 1.0, 0.0, 1.0, 4.0, 4.0, 1.0], 5),
        ([8.0, 8.0, 0.0, 2.0, 4.0, 10.0, 8.0, 4.0, 5.0, 9.0], 10),
    ],
)
def test_rounding_does_not_break_ties(whole: list[float], parts: int) -> None:
    """Thirds, fifths and tenths tie with the mean as integers do, though floating point rounds them."""
    expected = interval_of(whole, seed=5)
    interval = interval_of([value / parts for value in whole], seed=5)
    assert (interval.lower * parts, interval.upper * parts) == pytest.approx((expected.lower, expected.upper), abs=1e-9)


@pytest.mark.parametrize("values", [[1.0] * 30, [0.0] * 8, [0.1 + 0.2] * 5 + [0.3] * 5, []])
def test_equal_values_have_no_interval(values: list[float]) -> None:
    """Without variation, up to rounding, there is None instead of a zero-width interval."""
    assert bootstrap_interval(values, seed=1) is None


def test_a_tiny_real_difference_is_not_taken_for_rounding() -> None:
    """Values that differ by a billionth vary, and get an interval of that size."""
    interval = interval_of([1.0 + index * 1e-9 for index in range(30)], seed=1)
    assert 1e-9 < interval.upper - interval.lower < 30e-9


def test_one_differing_case_in_a_small_suite_gives_an_interval() -> None:
    """The most skewed samples of every BCa size, both ways, stay finite, ordered and in range."""
    for n in range(8, 20):
        for odd, rest in ((0.0, 1.0), (1.0, 0.0)):
            interval = interval_of([odd] + [rest] * (n - 1), seed=n, resamples=40)
            assert 0.0 <= interval.lower < interval.upper <= 1.0


def test_far_tail_of_a_skewed_sample_ends_at_the_last_resample() -> None:
    """Where the correction for skew asks for the quantile 1, the bound is the largest resampled mean."""
    values = [1.0] + [0.0] * 18
    interval = interval_of(values, seed=1, resamples=20_000, level=0.9999)
    assert interval.upper == bootstrap_means(values, seed=1, resamples=20_000)[-1]


def test_few_resamples_on_one_side_of_the_mean_give_a_finite_interval() -> None:
    """The bias correction has no infinity, also where all of three resamples fall on one side."""
    mean, sides = math.fsum(SKEWED) / len(SKEWED), set()
    for seed in range(12):
        means = bootstrap_means(SKEWED, seed=seed, resamples=3)
        sides.add((means[0] > mean, means[-1] < mean))
        interval = interval_of(SKEWED, seed=seed, resamples=3, level=0.3)
        assert means[0] <= interval.lower < interval.upper <= means[-1]
    assert sides == {(True, False), (False, True), (False, False)}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite_are_refused(bad: float) -> None:
    """NaN would sort anywhere and poison the bounds silently."""
    with pytest.raises(ValueError, match="values must all be finite"):
        bootstrap_interval([*SKEWED, bad], seed=1)
    with pytest.raises(ValueError, match="values must all be finite"):
        bootstrap_means([*SKEWED, bad], seed=1)


def test_no_values_and_no_resamples_are_refused() -> None:
    """There is nothing to draw from, or nothing to draw."""
    with pytest.raises(ValueError, match="values must not be empty"):
        bootstrap_means([], seed=1)
    with pytest.raises(ValueError, match="resamples must be at least 1"):
        bootstrap_means(SKEWED, seed=1, resamples=0)
    assert len(bootstrap_means([0.5], seed=1, resamples=1)) == 1


@pytest.mark.parametrize(("level", "needed"), [(0.9, 20), (0.95, 40), (0.99, 200), (0.999, 2_000)])
def test_too_few_resamples_for_the_level_are_refused(level: float, needed: int) -> None:
    """The bound is one expected resample in each tail, and the message names the number."""
    assert bootstrap_interval(SKEWED, seed=1, resamples=needed, level=level) is not None
    with pytest.raises(ValueError, match=f"needs at least {needed} resamples"):
        bootstrap_interval(SKEWED, seed=1, resamples=needed - 1, level=level)


def test_level_outside_zero_and_one_is_refused() -> None:
    """95 is not a level, even where the data would give no interval."""
    with pytest.raises(ValueError, match="level must be strictly between 0 and 1"):
        bootstrap_interval([], seed=1, level=95)


def test_resample_counts_are_those_of_the_method_set() -> None:
    """2,000 resamples to display and 10,000 to gate."""
    assert (DISPLAY_RESAMPLES, GATE_RESAMPLES) == (2_000, 10_000)


def test_display_bootstrap_of_a_hundred_cases_is_fast() -> None:
    """The best of five computations takes under 100 ms of processor time, so reports need no cache."""
    values = [index / 99 for index in range(100)]
    durations = []
    for seed in range(5):
        start = time.process_time()
        bootstrap_interval(values, seed=seed)
        durations.append(time.process_time() - start)
    assert min(durations) < 0.1
