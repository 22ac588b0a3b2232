"""The nearest-rank percentile against its definition."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.stats import nearest_rank

VALUES = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=200)
SHARES = st.floats(0, 1, exclude_min=True)


@pytest.mark.parametrize(
    ("p", "expected"), [(0.05, 15), (0.2, 15), (0.21, 20), (0.4, 20), (0.5, 35), (0.95, 50), (1.0, 50)]
)
def test_nearest_rank_of_the_textbook_sample(p: float, expected: float) -> None:
    """The usual worked example, given unsorted, comes out right at and just past a rank boundary."""
    assert nearest_rank([40, 15, 50, 20, 35], p) == expected


@pytest.mark.parametrize(("p", "rank"), [(0.5, 50), (0.95, 95), (0.99, 99)])
def test_reported_percentiles_fall_on_their_rank(p: float, rank: int) -> None:
    """p50, p95 and p99 of 1, 2, ..., 100 times any n are not pushed up by floating point."""
    for factor in range(1, 201):
        assert nearest_rank(range(1, 100 * factor + 1), p) == rank * factor


@given(VALUES, SHARES)
def test_nearest_rank_equals_the_definition(values: list[float], p: float) -> None:
    """It is sorted[ceil(p n) - 1]."""
    assert nearest_rank(values, p) == sorted(values)[math.ceil(p * len(values)) - 1]


@given(VALUES, SHARES)
def test_nearest_rank_is_the_smallest_value_that_covers_the_share(values: list[float], p: float) -> None:
    """At least a share p of the values is at or below it, and less than p is strictly below it."""
    answer = nearest_rank(values, p)
    assert answer in values
    assert sum(value <= answer for value in values) >= p * len(values)
    assert sum(value < answer for value in values) < p * len(values)


@given(VALUES, SHARES, SHARES)
def test_nearest_rank_grows_with_the_share(values: list[float], first: float, second: float) -> None:
    """A higher percentile is never a smaller value, and the highest is the maximum."""
    low, high = nearest_rank(values, min(first, second)), nearest_rank(values, max(first, second))
    assert low is not None
    assert high is not None
    assert low <= high <= max(values) == nearest_rank(values, 1.0)


def test_nearest_rank_leaves_its_argument_alone() -> None:
    """The caller's list keeps its order."""
    values = [3.0, 1.0, 2.0]
    nearest_rank(values, 0.5)
    assert values == [3.0, 1.0, 2.0]


def test_nearest_rank_without_values_is_undefined() -> None:
    """No measured latency is None, not 0 ms."""
    assert nearest_rank([], 0.95) is None


@pytest.mark.parametrize("p", [0.0, -0.1, 1.1, 95, math.nan])
def test_nearest_rank_refuses_a_share_outside_its_range(p: float) -> None:
    """0 has no rank and 95 is a percent value; both raise even without values."""
    with pytest.raises(ValueError, match="p must be above 0 and at most 1"):
        nearest_rank([], p)


def test_nearest_rank_refuses_values_that_are_not_finite() -> None:
    """NaN cannot be ranked."""
    with pytest.raises(ValueError, match="values must all be finite"):
        nearest_rank([1.0, math.nan], 0.5)
