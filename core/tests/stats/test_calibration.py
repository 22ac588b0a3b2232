"""A judge against people: known answers, the definitions spelt out, and what the corrected rate is worth."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.stats import (
    Labelled,
    agreement,
    cohens_kappa,
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


def test_counts_and_shares_out_of_range_are_refused() -> None:
    """Nothing is labelled a negative number of times, and no share is above 1."""
    with pytest.raises(ValueError, match="negative"):
        Labelled(1, -1, 0, 0)
    with pytest.raises(ValueError, match="must all lie"):
        corrected_rate(0.5, 1.1, 0.9)
