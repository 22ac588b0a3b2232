"""Cases that come in clusters: the same answers as for cases that stand for themselves, and no more than they prove."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.stats import (
    Finding,
    LiftTally,
    RateInterval,
    Repeats,
    chance_by_sign,
    cluster_bootstrap_interval,
    cluster_interval,
    cluster_rate_interval,
    cluster_sign_chance,
    in_clusters,
    lift_interval,
    rate_interval,
    weigh,
)

shares = st.integers(0, 4).map(lambda quarters: quarters / 4)
differences = st.integers(-4, 4)
"""Quarters of a whole one."""


def repeats(share: float) -> Repeats:
    """Four repeats."""
    return Repeats(round(share * 4), 4)


@given(st.lists(st.tuples(shares, shares), min_size=1, max_size=12))
def test_clusters_of_one_case_are_cases(pairs: list[tuple[float, float]]) -> None:
    """The interval and the test of signs are those without clusters."""
    counted = Counter((repeats(ours), repeats(theirs)) for ours, theirs in pairs)
    sums = [(round(4 * (ours - theirs)), 1) for ours, theirs in pairs]
    plain, found = lift_interval(counted), cluster_interval(sums, 4)
    assert (found.lower, found.upper) == pytest.approx((plain.lower, plain.upper))
    assert cluster_sign_chance([one for one, _ in sums]) == pytest.approx(chance_by_sign(counted))
    assert weigh(counted, [Counter([pair]) for pair in counted.elements()]) == weigh(counted)


@given(st.lists(differences, min_size=1, max_size=10), st.integers(2, 5))
def test_copies_of_a_case_prove_nothing_more(cases: list[int], copies: int) -> None:
    """A suite in which every case stands several times, as a cluster, says what it says with each once."""
    once = cluster_interval([(one, 1) for one in cases], 4)
    often = cluster_interval([(one * copies, copies) for one in cases], 4)
    assert (often.lower, often.upper) == pytest.approx((once.lower, once.upper))
    assert cluster_sign_chance([one * copies for one in cases]) == cluster_sign_chance(cases)


@given(st.lists(shares, min_size=8, max_size=25), st.integers(2, 4))
def test_copies_prove_nothing_more_of_a_rate(means: list[float], copies: int) -> None:
    """The same of a pass rate."""
    plain = rate_interval(means, repeats=4, seed=1, resamples=200)
    found = cluster_rate_interval([[one] * copies for one in means], seed=1, resamples=200)
    assert plain is not None
    assert (found.lower, found.upper) == pytest.approx((plain.lower, plain.upper), abs=1e-9)


@given(st.lists(differences, max_size=9))
def test_the_test_of_signs_by_brute_force(sums: list[int]) -> None:
    """Every assignment of signs is counted."""
    observed = abs(sum(sums))
    totals = [
        sum(sign * one for sign, one in zip(signs, sums, strict=True))
        for signs in itertools.product((1, -1), repeat=len(sums))
    ]
    extreme = sum(abs(total) >= observed for total in totals)
    assert cluster_sign_chance(sums) == pytest.approx(extreme / len(totals))


def test_the_test_of_signs_of_many_clusters_is_normal() -> None:
    """Beyond some thousand distinct sums the exact distribution is given up."""
    sums = [2 * number + 1 for number in range(400)]
    assert cluster_sign_chance(sums) < 1e-9
    assert cluster_sign_chance([one * (-1) ** at for at, one in enumerate(sums)]) > 0.5


def test_which_method_for_how_many_clusters() -> None:
    """Wilson below 8 and where all are alike, BCa below 20, percentiles from there; a failing run proves no more."""
    draw = random.Random(3)

    def method(count: int) -> str:
        groups = [[float(draw.random() < 0.7)] * 3 for _ in range(count)]
        return cluster_rate_interval(groups, seed=0).method.value

    assert [method(count) for count in (2, 7)] == ["wilson-over-clusters"] * 2
    assert [method(count) for count in (8, 19)] == ["cluster-bootstrap-bca"] * 2
    assert [method(count) for count in (20, 60)] == ["cluster-bootstrap-percentile"] * 2
    perfect = cluster_rate_interval([[1.0] * 5] * 12, seed=0)
    assert perfect.method.value == "wilson-over-clusters"
    assert cluster_rate_interval([*[[1.0] * 5] * 11, [1.0] * 4 + [0.0]], seed=0).lower <= perfect.lower
    assert cluster_bootstrap_interval([[0.0]] * 30, seed=0) is None


def test_intervals_hold_where_clusters_are_the_truth() -> None:
    """Twelve templates of five cases that pass or fail together: intervals over cases are wrong."""
    draw, held = random.Random(5), Counter[str]()
    for seed in range(400):
        groups = [[float(draw.random() < 0.6)] * 5 for _ in range(12)]
        over_cases = rate_interval([one for group in groups for one in group], repeats=1, seed=seed)
        over_clusters = cluster_rate_interval(groups, seed=seed, resamples=400)
        assert over_cases is not None
        held["cases"] += over_cases.lower <= 0.6 <= over_cases.upper
        held["clusters"] += over_clusters.lower <= 0.6 <= over_clusters.upper
    assert held["cases"] / 400 < 0.75
    assert held["clusters"] / 400 > 0.9


def test_a_rate_tells_its_clusters() -> None:
    """Their number stands beside the interval; names that no two cases share change nothing."""
    means = [1.0, 1.0, 0.0, 0.0]
    found = RateInterval.of(means, repeats=1, seed=0, clusters={0: "a", 1: "a", 2: "b"})
    assert (found.rate, found.n, found.clusters, found.method) == (0.5, 4, 3, "wilson-over-clusters")
    alone = RateInterval.of(means, repeats=1, seed=0, clusters={0: "a", 1: "b"})
    assert alone == RateInterval.of(means, repeats=1, seed=0)
    assert in_clusters(means, {}) == []


@dataclass(frozen=True)
class Runs:
    """Repeats of a case."""

    passed: int
    failed: int
    errors: int = 0


def test_a_lift_of_few_clusters_says_nothing_of_new_cases() -> None:
    """Thirty cases of three templates are three things; what holds for these cases is as it was."""
    tally, plain = LiftTally(), LiftTally()
    for case in range(30):
        tally.add(Runs(1, 0), Runs(0, 1), cluster=f"template {case % 3}")
        plain.add(Runs(1, 0), Runs(0, 1))
    found, without = tally.evidence, plain.evidence
    assert found is not None
    assert without is not None
    assert (found.finding, found.is_general, found.interval, found.clusters) == (Finding.HELPS, False, None, 3)
    assert found.chance == without.chance
    assert (without.is_general, without.clusters) == (True, None)


def test_a_lift_of_many_clusters_has_an_interval() -> None:
    """From eight clusters on, wider than over cases; cases without a cluster stand for themselves."""
    tally, plain = LiftTally(), LiftTally()
    for case in range(40):
        runs = (Runs(1, 0), Runs(0, 1)) if case % 10 < 7 else (Runs(0, 1), Runs(0, 1))
        tally.add(*runs, cluster=f"template {case % 10}" if case < 36 else "")
        plain.add(*runs)
    found, without = tally.evidence, plain.evidence
    assert found is not None
    assert found.interval is not None
    assert without is not None
    assert without.interval is not None
    assert (found.clusters, found.interval.method.value) == (14, "agresti-min-clusters")
    assert found.interval.upper - found.interval.lower > without.interval.upper - without.interval.lower
    assert found.estimate == without.estimate


def test_no_cluster_at_all_is_refused() -> None:
    """Nothing has no interval."""
    with pytest.raises(ValueError, match="empty"):
        cluster_interval([], 1)
