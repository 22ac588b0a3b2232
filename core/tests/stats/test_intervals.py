"""Wilson's interval against the printed table, scipy and its mathematical properties."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm  # type: ignore[import-untyped]  # scipy ships no types

from skillgauge.stats import Interval, IntervalMethod, normal, wilson

LEVELS = st.floats(0.01, 0.999)


@st.composite
def counts(draw: st.DrawFn) -> tuple[float, int]:
    """Draw a possibly fractional success count and its n."""
    n = draw(st.integers(1, 5_000))
    return draw(st.one_of(st.integers(0, n), st.floats(0, n))), n


@pytest.mark.parametrize(
    ("successes", "n", "lower", "upper"),
    [
        (0, 5, "0.000000", "0.434482"),
        (4, 5, "0.375535", "0.963776"),
        (5, 5, "0.565518", "1.000000"),
        (8, 10, "0.490162", "0.943318"),
        (45, 50, "0.786398", "0.956524"),
    ],
)
def test_wilson_gives_the_known_answers(successes: int, n: int, lower: str, upper: str) -> None:
    """The table of statistics.md section 1 is met to every printed digit."""
    interval = wilson(successes, n)
    assert (f"{interval.lower:.6f}", f"{interval.upper:.6f}") == (lower, upper)
    assert (interval.level, interval.method) == (0.95, IntervalMethod.WILSON)


@given(n=st.integers(1, 2_000), share=st.floats(0, 1), level=LEVELS)
def test_wilson_equals_scipy(n: int, share: float, level: float) -> None:
    """For whole counts at any level the bounds are those of scipy."""
    successes = round(share * n)
    expected = binomtest(successes, n).proportion_ci(confidence_level=level, method="wilson")
    interval = wilson(successes, n, level)
    assert interval.lower == pytest.approx(expected.low, abs=1e-9)
    assert interval.upper == pytest.approx(expected.high, abs=1e-9)


@given(counts(), st.floats(1e-9, 1 - 1e-15))
def test_wilson_contains_the_proportion_inside_zero_and_one(drawn: tuple[float, int], level: float) -> None:
    """Even where rounding would push a bound past the estimate or past 0 or 1, it does not get there."""
    successes, n = drawn
    interval = wilson(successes, n, level)
    assert 0.0 <= interval.lower <= successes / n <= interval.upper <= 1.0


@given(counts(), LEVELS, LEVELS)
def test_wilson_widens_with_the_level(drawn: tuple[float, int], first: float, second: float) -> None:
    """A higher level never gives a narrower interval on either side."""
    low, high = wilson(*drawn, level=min(first, second)), wilson(*drawn, level=max(first, second))
    assert high.lower <= low.lower + 1e-12
    assert high.upper >= low.upper - 1e-12


@given(counts(), LEVELS)
def test_wilson_mirrors_when_pass_and_fail_swap(drawn: tuple[float, int], level: float) -> None:
    """The interval of the failures is the mirror image of that of the successes."""
    successes, n = drawn
    interval, mirror = wilson(successes, n, level), wilson(n - successes, n, level)
    assert mirror.lower == pytest.approx(1 - interval.upper, abs=1e-9)
    assert mirror.upper == pytest.approx(1 - interval.lower, abs=1e-9)


@given(counts(), LEVELS)
def test_wilson_bounds_solve_the_score_equation(drawn: tuple[float, int], level: float) -> None:
    """A fractional count too gives bounds that lie exactly z standard errors from the proportion."""
    successes, n = drawn
    interval, share = wilson(successes, n, level), successes / n
    wide = wilson(n / 2, n, level)
    # Solved from the symmetric case, so that the oracle needs no normal quantile of its own.
    half = (wide.upper - wide.lower) / 2
    z_squared = 4 * n * half**2 / (1 - 4 * half**2)
    for bound in (interval.lower, interval.upper):
        assert (share - bound) ** 2 == pytest.approx(z_squared * bound * (1 - bound) / n, rel=1e-6, abs=1e-12)


def test_wilson_ends_are_exact_at_the_extremes() -> None:
    """No pass starts at exactly 0 and all passes end at exactly 1, for every n up to 500."""
    assert all(wilson(0, n).lower == 0.0 and wilson(n, n).upper == 1.0 for n in range(1, 501))


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.5, math.nan])
def test_wilson_refuses_a_level_outside_zero_and_one(level: float) -> None:
    """A percent value or NaN as level is an error, not an interval."""
    with pytest.raises(ValueError, match="level must be strictly between 0 and 1"):
        wilson(4, 5, level)


@pytest.mark.parametrize("successes", [-0.5, 5.5, math.nan, math.inf])
def test_wilson_refuses_impossible_counts(successes: float) -> None:
    """More successes than cases, negative ones and NaN are errors."""
    with pytest.raises(ValueError, match="successes must lie between 0 and n = 5"):
        wilson(successes, 5)


@pytest.mark.parametrize("n", [0, -1])
def test_wilson_refuses_an_empty_sample(n: int) -> None:
    """No cases means no interval of this kind; the caller decides what to print."""
    with pytest.raises(ValueError, match="n must be at least 1"):
        wilson(0, n)


def test_interval_is_an_immutable_value() -> None:
    """Two computations of the same interval are equal and hashable, and nobody can alter one."""
    interval = wilson(4, 5)
    assert {interval} == {wilson(4, 5)}
    with pytest.raises(AttributeError):
        interval.lower = 0.0  # type: ignore[misc]  # the point of the test


def test_method_names_are_frozen() -> None:
    """Reports store these strings, so a change of one is a change of the wire format."""
    assert [str(method) for method in IntervalMethod] == [
        "wilson",
        "wilson-over-cases",
        "bootstrap-percentile",
        "bootstrap-bca",
        "wilson-over-clusters",
        "cluster-bootstrap-percentile",
        "cluster-bootstrap-bca",
        "agresti-min",
        "agresti-min-clusters",
        "agresti-caffo",
        "normal",
    ]
    assert Interval(0.0, 1.0, 0.95, IntervalMethod.WILSON).method == "wilson"


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=200).filter(lambda values: max(values) - min(values) > 1e-6), LEVELS
)
def test_normal_interval_is_the_textbook_one(values: list[float], level: float) -> None:
    """Mean plus and minus z standard errors, cut to the range of a rate, as scipy computes it."""
    interval = normal(values, level)
    assert interval is not None
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    lower, upper = norm.interval(level, loc=mean, scale=deviation / math.sqrt(len(values)))
    assert math.isclose(interval.lower, max(0.0, lower), abs_tol=1e-9)
    assert math.isclose(interval.upper, min(1.0, upper), abs_tol=1e-9)


def test_normal_interval_refuses_what_has_no_spread() -> None:
    """Equal values give no interval, and a single value is an error."""
    assert normal([0.5] * 2000) is None
    with pytest.raises(ValueError, match="at least two"):
        normal([0.5])
