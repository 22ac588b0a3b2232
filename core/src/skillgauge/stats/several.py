"""Many questions asked at once: with enough of them chance alone answers one with yes."""

from collections.abc import Sequence

from skillgauge.stats._checks import require_rates


def holm(chances: Sequence[float]) -> list[float]:
    """P values that allow for how many there are, in the order given.

    Those of at most alpha are together wrong with a probability of at most alpha, however they depend on each other.

    >>> [round(chance, 3) for chance in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]

    Args:
        chances: P values, one for each question, 0 to 1.

    Returns:
        As many probabilities, none below its own p value.

    Raises:
        ValueError: A p value is none.

    Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65-70.
    """
    require_rates("chances", chances)
    adjusted = [0.0] * len(chances)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        highest = max(highest, min(1.0, chances[index] * (len(chances) - place)))
        adjusted[index] = highest
    return adjusted
