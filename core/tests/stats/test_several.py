"""Many questions at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.stats import holm

chances = st.lists(st.floats(0, 1), max_size=12)


def test_known_answers() -> None:
    """The smallest is multiplied by how many there are, the next by one less; none falls below the one before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


@given(chances)
def test_the_order_of_the_questions_does_not_matter(given_chances: list[float]) -> None:
    """Each keeps its answer wherever it stands, none gets smaller, and more questions never make one surer."""
    adjusted = holm(given_chances)
    assert sorted(adjusted) == holm(sorted(given_chances))
    assert all(one >= chance for one, chance in zip(adjusted, given_chances, strict=True))
    assert all(more >= one for more, one in zip(holm([*given_chances, 0.5]), adjusted, strict=False))


def test_what_is_no_probability_is_refused() -> None:
    """Above 1 and not a number."""
    for bad in (1.1, -0.1, float("nan")):
        with pytest.raises(ValueError, match=r"\[0, 1\]"):
            holm([bad])
