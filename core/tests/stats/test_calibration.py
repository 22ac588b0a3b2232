"""A judge against people: known answers, the definitions spelt out, and what the corrected rate is worth."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.stats import (
    IntervalMethod,
    Labelled,
    agreement,
    cohens_kappa,
    corrected_interval,
    corrected_rate,
    gwets_ac1,
    sensitivity,
    specificity,
    wilson,
)

KNOWN = Labelled(both_pass=40, only_judge_passes=10, only_people_pass=5, neither_passes=45)
SHARES = st.floats(0, 1)
FEW = st.integers(0, 12)
LABELLED = st.builds(Labelled, FEW, FEW, FEW, FEW)


def pairs_of(labelled: Labelled) -> list[tuple[bool, bool]]:
    """What the judge and people say, one by one."""
    counts = (labelled.both_pass, labelled.only_judge_passes, labelled.only_people_pass, labelled.neither_passes)
    said = ((True, True), (True, False), (False, True), (False, False))
    return [pair for pair, count in zip(said, counts, strict=True) for _ in range(count)]


def test_known_answers() -> None:
    """The example of the method set: agreement 0.85, kappa 0.7, AC1 0.700748; a rate of 0.8 becomes 0.866667."""
    assert agreement(KNOWN) == 0.85
    assert cohens_kappa(KNOWN) == 0.7
    assert gwets_ac1(KNOWN) == pytest.approx(0.700748, abs=5e-7)
    assert sensitivity(KNOWN) == (40 / 45, wilson(40, 45))
    assert specificity(KNOWN) == (45 / 55, wilson(45, 55))
    assert corrected_rate(0.8, 0.9, 0.85) == pytest.approx(0.866667, abs=5e-7)


@given(LABELLED)
def test_kappa_is_agreement_beyond_every_pairing(labelled: Labelled) -> None:
    """Chance pairs each word of the judge with each word of people, wherever they stand."""
    pairs = pairs_of(labelled)
    met = [ours == theirs for (ours, _), (_, theirs) in itertools.product(pairs, repeat=2)]
    found = cohens_kappa(labelled)
    if not met or all(met):
        assert found is None
        return
    chance = sum(met) / len(met)
    agreed = agreement(labelled)
    assert agreed is not None
    assert found == pytest.approx((agreed - chance) / (1 - chance))


@given(LABELLED)
def test_ac1_takes_chance_from_how_often_anybody_passes(labelled: Labelled) -> None:
    """Gwet's chance is 2 p (1 - p), with p the share of all words, the judge's and people's, that are a pass."""
    words = [word for pair in pairs_of(labelled) for word in pair]
    found, agreed = gwets_ac1(labelled), agreement(labelled)
    if not words:
        assert found is agreed is None
        return
    share = sum(words) / len(words)
    chance = 2 * share * (1 - share)
    assert agreed is not None
    assert found == pytest.approx((agreed - chance) / (1 - chance))


def test_kappa_collapses_where_ac1_does_not() -> None:
    """Where nearly all passes kappa calls 95 of 100 agreements chance; AC1 does not, which is why both are told."""
    labelled = Labelled(95, 3, 2, 0)
    kappa, ac1 = cohens_kappa(labelled), gwets_ac1(labelled)
    assert kappa is not None
    assert ac1 is not None
    assert kappa < 0 < 0.9 < ac1


def test_without_labels_of_a_kind_nothing_is_made_up() -> None:
    """People who pass nothing leave sensitivity unknown, those who fail nothing specificity, and so the correction."""
    assert sensitivity(Labelled(0, 3, 0, 7)) is None
    assert specificity(Labelled(7, 0, 3, 0)) is None
    assert corrected_interval([0.5] * 20, Labelled(7, 0, 3, 0), seed=1) is None
    assert agreement(Labelled(0, 0, 0, 0)) is None


@given(SHARES, SHARES, SHARES)
def test_the_correction_undoes_what_the_judge_does(true_rate: float, sensitive: float, specific: float) -> None:
    """The rate that a judge of known errors reports leads back to the true one."""
    reported = min(1.0, true_rate * sensitive + (1 - true_rate) * (1 - specific))
    found = corrected_rate(reported, sensitive, specific)
    if sensitive + specific - 1 > 1e-3:
        assert found == pytest.approx(true_rate, abs=1e-9)
    elif sensitive + specific <= 1:
        assert found is None


@pytest.mark.parametrize(("rate", "corrected"), [(0.05, 0.0), (0.95, 1.0)])
def test_a_rate_that_no_truth_explains_is_cut(rate: float, corrected: float) -> None:
    """A judge that passes 10 % of what is bad and 90 % of what is good reports neither less nor more than that."""
    assert corrected_rate(rate, 0.9, 0.9) == corrected


@settings(max_examples=60, deadline=None)
@given(st.lists(SHARES, min_size=1, max_size=12), LABELLED, st.integers(0, 5))
def test_the_interval_holds_the_rate_and_repeats(case_means: list[float], labelled: Labelled, seed: int) -> None:
    """It lies in [0, 1], contains the corrected rate, depends on the seed alone and on no order of cases."""
    found = corrected_interval(case_means, labelled, seed=seed, resamples=100)
    assert found == corrected_interval(case_means[::-1], labelled, seed=seed, resamples=100)
    sensitive, specific = sensitivity(labelled), specificity(labelled)
    known = sensitive and specific and corrected_rate(sum(case_means) / len(case_means), sensitive[0], specific[0])
    assert (found is not None) is (len(case_means) >= 8 and known is not None)
    if found is not None and known is not None:
        assert 0 <= found.lower <= known + 1e-12
        assert known - 1e-12 <= found.upper <= 1
        assert found.method is IntervalMethod.BOOTSTRAP_PERCENTILE


def test_neither_a_perfect_judge_nor_a_perfect_run_is_certain() -> None:
    """50 right answers of 50 and 20 passes of 20 leave room; fewer labels leave more."""
    many, few = Labelled(100, 0, 0, 100), Labelled(5, 0, 0, 5)
    bounds = [corrected_interval([1.0] * 20, one, seed=3) for one in (many, few)]
    assert [one is not None and one.upper for one in bounds] == [1.0, 1.0]
    assert bounds[0] is not None
    assert bounds[1] is not None
    assert bounds[1].lower < bounds[0].lower < 0.95
    wide, narrow = (corrected_interval([0.5] * 20, one, seed=3) for one in (few, many))
    assert wide is not None
    assert narrow is not None
    assert wide.lower < narrow.lower < 0.5 < narrow.upper < wide.upper


def test_the_interval_holds_the_truth_often_enough() -> None:
    """In 200 seeded runs of 20 cases with 50 labels, judged with 90 % sensitivity and 85 % specificity."""
    draw, held = random.Random(11).random, 0
    for turn in range(200):
        judged = [draw() < (0.9 if draw() < 0.7 else 0.15) for _ in range(20)]
        right, refused = sum(draw() < 0.9 for _ in range(30)), sum(draw() < 0.85 for _ in range(20))
        labelled = Labelled(right, 20 - refused, 30 - right, refused)
        found = corrected_interval([float(one) for one in judged], labelled, seed=turn, resamples=200)
        held += found is not None and found.lower <= 0.7 <= found.upper
    assert held >= 188


@pytest.mark.parametrize(
    "arguments",
    [
        {"case_means": [1.5] * 8},
        {"case_means": [0.5] * 8, "level": 1.0},
        {"case_means": [0.5] * 8, "resamples": 10},
    ],
)
def test_arguments_out_of_range_are_refused(arguments: dict[str, object]) -> None:
    """No rate above 1, no certainty, no handful of resamples."""
    with pytest.raises(ValueError, match=r"must|needs"):
        corrected_interval(labelled=KNOWN, seed=1, **arguments)  # type: ignore[arg-type]  # wrong values on purpose


def test_counts_and_shares_out_of_range_are_refused() -> None:
    """Nothing is labelled a negative number of times, and no share is above 1."""
    with pytest.raises(ValueError, match="negative"):
        Labelled(1, -1, 0, 0)
    with pytest.raises(ValueError, match="must all lie"):
        corrected_rate(0.5, 1.1, 0.9)
