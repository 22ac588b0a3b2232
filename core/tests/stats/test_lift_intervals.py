"""Differences of these cases and of new ones: intervals that cover, agree with the tests, and allow for each other."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.stats import (
    Finding,
    GradedTally,
    LiftTally,
    LogRatio,
    Repeats,
    chance_of_difference,
    difference_interval,
    interval_here,
    lift_interval,
    smallest_detectable,
    weigh,
    weigh_together,
)

ONE, NONE = Repeats(1, 1), Repeats(0, 1)


def repeats(most: int) -> st.SearchStrategy[Repeats]:
    """Some repeats of a case."""
    return st.integers(1, most).flatmap(lambda graded: st.builds(Repeats, st.integers(0, graded), st.just(graded)))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(repeats(5), repeats(5)), min_size=1, max_size=8), st.sampled_from([0.9, 0.95, 0.99]))
def test_the_interval_of_these_cases_agrees_with_the_exact_test(
    cases: list[tuple[Repeats, Repeats]], level: float
) -> None:
    """It leaves out 0 if and only if the difference is beyond chance, and holds what was observed."""
    pairs = Counter(cases)
    interval = interval_here(pairs, level)
    estimate = sum(ours.share - theirs.share for ours, theirs in cases) / len(cases)
    assert -1.0 <= interval.lower <= estimate + 1e-12
    assert estimate - 1e-12 <= interval.upper <= 1.0
    leaves_out_zero = interval.lower > 0.0 or interval.upper < 0.0
    assert leaves_out_zero is (chance_of_difference(pairs) <= 1.0 - level + 1e-12)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(repeats(5), repeats(5)), min_size=1, max_size=8))
def test_the_interval_is_mirrored_with_the_arms(cases: list[tuple[Repeats, Repeats]]) -> None:
    """Whoever is called the candidate."""
    ours = interval_here(Counter(cases))
    theirs = interval_here(Counter((second, first) for first, second in cases))
    assert (ours.lower, ours.upper) == pytest.approx((-theirs.upper, -theirs.lower), abs=1e-12)


def test_intervals_of_these_cases_by_hand() -> None:
    """Thirty of thirty runs in both arms: a pass and a failure are added to each, whose variance remains."""
    half = 1.959964 * (2 * (1 / 32) / 32) ** 0.5
    perfect = interval_here({(Repeats(3, 3), Repeats(3, 3)): 10})
    coin = 31 / 32 * (1 / 32) / 32
    assert perfect.upper == pytest.approx(min(half, 1.959964 * (2 * coin) ** 0.5), abs=1e-6)
    assert perfect.method == "agresti-caffo"
    single = {(ONE, NONE): 7, (NONE, ONE): 1, (ONE, ONE): 2}
    assert interval_here(single).method == lift_interval(single).method
    assert interval_here(single).upper == lift_interval(single).upper


def drawn(rng: random.Random, rates: list[tuple[float, float]], runs: int) -> Counter[tuple[Repeats, Repeats]]:
    """A run of cases with these chances to pass with and without the skill."""
    return Counter(
        (
            Repeats(sum(rng.random() < ours for _ in range(runs)), runs),
            Repeats(sum(rng.random() < theirs for _ in range(runs)), runs),
        )
        for ours, theirs in rates
    )


@pytest.mark.parametrize("runs", [1, 3, 5])
@pytest.mark.parametrize("cases", [4, 10, 20])
@pytest.mark.parametrize(
    "rates",
    [[(0.5, 0.5)], [(0.8, 0.8)], [(0.65, 0.35)], [(0.85, 0.15)], [(0.93, 0.99)], [(0.02, 0.02), (0.98, 0.98)]],
    ids=str,
)
def test_the_interval_of_these_cases_holds_the_truth(cases: int, runs: int, rates: list[tuple[float, float]]) -> None:
    """A seeded simulation with cases that keep their chances: at least nine tenths of suites in every cell."""
    rng = random.Random(11)
    chances = [rates[at % len(rates)] for at in range(cases)]
    truth = sum(ours - theirs for ours, theirs in chances) / cases
    held = 0
    for _ in range(300):
        interval = interval_here(drawn(rng, chances, runs))
        held += interval.lower - 1e-9 <= truth <= interval.upper + 1e-9
    assert held / 300 >= 0.90


def test_equivalence_is_an_interval_within_the_margin() -> None:
    """Not that a small lift would have been found: that larger ones are excluded (and of which cases)."""
    undecided = weigh({(ONE, NONE): 426, (NONE, ONE): 374, (ONE, ONE): 400, (NONE, NONE): 400})
    equal = weigh({(Repeats(5, 5), Repeats(5, 5)): 200})
    assert undecided is not None
    assert equal is not None
    assert (undecided.finding, equal.finding) == (Finding.UNDECIDED, Finding.NO_DIFFERENCE)
    assert equal.is_general


def test_cases_without_room_are_counted() -> None:
    """Those that always pass in both arms, and those that never do."""
    evidence = weigh({(Repeats(3, 3), Repeats(3, 3)): 6, (Repeats(0, 3), Repeats(0, 3)): 3, (ONE, NONE): 1})
    assert evidence is not None
    assert (evidence.always, evidence.never, evidence.n) == (6, 3, 10)


def test_one_error_does_not_blunt_what_a_suite_can_show() -> None:
    """What is detectable goes by the sum of the repeats, so a lost one of 24 costs little."""
    whole = weigh({(Repeats(3, 3), Repeats(0, 3)): 4})
    short = weigh({(Repeats(3, 3), Repeats(0, 3)): 3, (Repeats(2, 2), Repeats(0, 3)): 1})
    assert whole is not None
    assert short is not None
    assert whole.detectable is not None
    assert short.detectable is not None
    assert whole.detectable < short.detectable < whole.detectable + 0.06
    assert short.detectable == smallest_detectable(4, 2.75)


@dataclass(frozen=True)
class Runs:
    """Repeats of a case."""

    passed: int
    failed: int
    errors: int = 0


def tally_of(pairs: list[tuple[Runs, Runs]]) -> LiftTally:
    """A comparison of these cases."""
    tally = LiftTally()
    for ours, theirs in pairs:
        tally.add(ours, theirs)
    return tally


def test_comparisons_of_a_run_share_its_level() -> None:
    """What is beyond chance alone may be none of twenty; the surest has to hold against all."""
    sure = tally_of([(Runs(5, 0), Runs(0, 5))] * 10)
    weak = [(Runs(4, 1), Runs(2, 3))] * 4
    (alone,) = weigh_together([tally_of(weak)])
    assert alone is not None
    assert (alone.finding, alone.comparisons, alone.level) == (Finding.HELPS, 1, 0.05)
    together = weigh_together([*[tally_of(weak) for _ in range(19)], sure])
    found = [evidence for evidence in together if evidence is not None]
    assert [evidence.finding for evidence in found] == [*[Finding.UNDECIDED] * 19, Finding.HELPS]
    assert {evidence.comparisons for evidence in found} == {20}
    assert found[-1].level == pytest.approx(0.05 / 20)
    assert found[0].level == pytest.approx(0.05 / 19)
    assert found[0].strict_here.lower <= 0.0 < found[0].interval_here.lower


@pytest.mark.slow
def test_together_they_are_seldom_wrong() -> None:
    """Ten skills that do nothing: one of them is praised or blamed in at most one run of twenty."""
    rng, wrong = random.Random(3), 0
    for _ in range(200):
        tallies = []
        for _ in range(10):
            sides = [[sum(rng.random() < 0.5 for _ in range(5)) for _ in range(10)] for _ in range(2)]
            tallies.append(tally_of([(Runs(a, 5 - a), Runs(b, 5 - b)) for a, b in zip(*sides, strict=True)]))
        wrong += any(evidence is not None and evidence.is_found for evidence in weigh_together(tallies))
    assert wrong / 200 <= 0.05


def test_nothing_compared_among_comparisons() -> None:
    """A comparison without a case has no evidence, and counts for none."""
    nothing, sure = weigh_together([LiftTally(), tally_of([(Runs(5, 0), Runs(0, 5))] * 4)])
    assert nothing is None
    assert sure is not None
    assert sure.comparisons == 1


def test_partial_credit_is_evidence_of_its_own() -> None:
    """Three of four expectations against none, and not one case that passes: ten signs out of ten."""
    tally = GradedTally()
    for _ in range(10):
        tally.add((0.75, 0.0), (0.0, 0.0))
    evidence = tally.evidence
    assert evidence is not None
    assert (evidence.n, evidence.estimate) == (10, pytest.approx(0.75))
    assert evidence.chance_new == pytest.approx(2 / 2**10)
    assert evidence.interval == difference_interval([(0.75, 10)])


def test_scores_that_are_shares_of_passes_tell_nothing_new() -> None:
    """Then the lift says it already; and below eight cases nothing is said of new ones."""
    plain, few = GradedTally(), GradedTally()
    plain.add((1.0, 1.0), (0.0, 0.0))
    few.add((0.5, 0.0), (0.0, 0.0))
    assert plain.evidence is None
    assert GradedTally().evidence is None
    assert few.evidence is not None
    assert (few.evidence.interval, few.evidence.chance_new) == (None, None)


def test_ratios_have_an_interval_and_may_be_noise() -> None:
    """Student's interval of the mean logarithm; none below four cases."""
    steady, noisy, few = LogRatio(), LogRatio(), LogRatio()
    for at in range(8):
        steady.add(2.0 + at / 100, 1.0)
        noisy.add(2.0 if at % 2 else 0.6, 1.0)
    few.add(3.0, 1.0)
    ratios = [ratio.mean for ratio in (steady, noisy, few)]
    assert [ratio is not None and ratio.is_beyond_noise for ratio in ratios] == [True, False, False]
    assert ratios[0] is not None
    assert ratios[0].lower is not None
    assert 1.9 < ratios[0].lower < ratios[0].ratio
    assert ratios[2] is not None
    assert (ratios[2].lower, ratios[2].n) == (None, 1)
