"""The steadiness of the repeats of a case: can it, does it every time, does it waver.

The functions take one case (or the runs of one suite) and leave the averaging over cases to the caller,
who knows which cases count.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from skillgauge.stats._checks import require_finite, require_rates


def pass_at_k(repeats: int, passes: int, k: int) -> float | None:
    """pass@k of one case: the chance that at least one of `k` runs passes.

    Unbiased: the share of all ways to choose `k` of the runs made that contain a pass.

    >>> pass_at_k(repeats=4, passes=1, k=2)
    0.5

    Args:
        repeats: Runs made of the case (K), errors left out; 0 or more.
        passes: Runs that passed (c), 0 to `repeats`.
        k: Number of tries, at least 1.

    Returns:
        A fraction in [0, 1]; ``None`` if `k` exceeds `repeats`, where no unbiased estimate exists.

    Raises:
        ValueError: An argument is outside its range.

    Source: M. Chen et al., arXiv 2107.03374 (2021): 1 - C(K - c, k) / C(K, k).
    """
    _require_counts(repeats, passes, k)
    if k > repeats:
        return None
    ways = math.comb(repeats, k)
    # Subtract before dividing: integers are exact, 1 - quotient is not.
    return (ways - math.comb(repeats - passes, k)) / ways


def pass_hat_k(repeats: int, passes: int, k: int) -> float | None:
    """pass^k of one case: the chance that all of `k` runs pass.

    Unbiased, unlike (passes / repeats) ** k, which flatters an unsteady case.

    >>> pass_hat_k(repeats=5, passes=4, k=2)
    0.6

    Args:
        repeats: Runs made of the case (K), errors left out; 0 or more.
        passes: Runs that passed (c), 0 to `repeats`.
        k: Number of runs that all have to pass, at least 1.

    Returns:
        A fraction in [0, 1]; ``None`` if `k` exceeds `repeats`, where no unbiased estimate exists.

    Raises:
        ValueError: An argument is outside its range.

    Source: S. Yao et al., *tau-bench*, arXiv 2406.12045 (2024): C(c, k) / C(K, k).
    """
    _require_counts(repeats, passes, k)
    if k > repeats:
        return None
    return math.comb(passes, k) / math.comb(repeats, k)


def flip_rate(repeats: int, passes: int) -> float | None:
    """Flip rate of one case: the chance that two of its runs disagree.

    >>> flip_rate(repeats=5, passes=4)
    0.4

    Args:
        repeats: Runs made of the case (K), errors left out; 0 or more.
        passes: Runs that passed (c), 0 to `repeats`.

    Returns:
        A fraction in [0, 1], unbiased; 0 for a case that always gave the same verdict. ``None`` with fewer
        than two runs, which cannot disagree.

    Raises:
        ValueError: An argument is outside its range.

    Source: the share of disagreeing pairs, 2 c (K - c) / (K (K - 1)).
    """
    _require_counts(repeats, passes, 1)
    if repeats < 2:
        return None
    return 2 * passes * (repeats - passes) / (repeats * (repeats - 1))


@dataclass(frozen=True, slots=True)
class Reliability:
    """The steadiness of the cases of a suite that were run more than once."""

    cases: int
    """Cases with at least two graded runs."""
    flaky: int
    """Those of them that passed sometimes."""
    flip_rate: float
    """Mean over them of the chance that two runs disagree."""
    k: int
    """Graded runs that each of these cases has at least."""
    pass_hat_k: float | None
    """Mean over these cases of the chance that all of `k` runs pass; ``None`` where a mean over them says nothing, as
    for cases of two kinds."""


class ReliabilityTally:
    """Adds up cases, of which it keeps nothing but how many there are of each kind."""

    def __init__(self) -> None:
        self._kinds: Counter[tuple[int, int]] = Counter()

    def add(self, repeats: int, passes: int) -> None:
        """Take one more case: its graded runs, and those that passed."""
        if repeats > 1:
            self._kinds[repeats, passes] += 1

    @property
    def reliability(self) -> Reliability | None:
        """The result over all cases; `None` if none was run twice."""
        if not self._kinds:
            return None
        # A larger k would leave out cases that lost a run to an error, and the estimate is unbiased for any k below.
        k = min(repeats for repeats, _ in self._kinds)
        return Reliability(
            cases=sum(self._kinds.values()),
            flaky=sum(count for (repeats, passes), count in self._kinds.items() if 0 < passes < repeats),
            flip_rate=_mean_over_cases(self._kinds, flip_rate),
            k=k,
            pass_hat_k=_mean_over_cases(self._kinds, lambda repeats, passes: pass_hat_k(repeats, passes, k)),
        )


def _mean_over_cases(kinds: Mapping[tuple[int, int], int], value_of: Callable[[int, int], float | None]) -> float:
    """Return the mean of a value that each kind of case has; an unknown value counts as 0."""
    return math.fsum((value_of(*kind) or 0.0) * count for kind, count in kinds.items()) / sum(kinds.values())


def consistency(run_rates: Sequence[float]) -> float | None:
    """Consistency as eval-skills defines it: 1 minus the population deviation of the per-run rates.

    The definition also floors the result at 0. Rates in [0, 1] deviate by 1/2 at most, so the floor has
    nothing to do: the lowest consistency is 0.5.

    >>> consistency([0.5, 1.0])
    0.75

    Args:
        run_rates: One pass rate in [0, 1] for each run over the whole suite.

    Returns:
        A fraction in [0.5, 1], not rounded; 1 for a single run, ``None`` without any.

    Raises:
        ValueError: A rate is outside [0, 1].

    Source: eval-skills, metric ``consistencyScore``.
    """
    require_rates("run_rates", run_rates)
    if not run_rates:
        return None
    return 1.0 - math.sqrt(_squares(run_rates) / len(run_rates))


@dataclass(frozen=True, slots=True)
class VarianceParts:
    """The sources of the uncertainty of an arm's mean, in squared units of the score."""

    between: float | None
    """Variance of the true case means (case difficulty), 0 or more. More repeats do not reduce its share.
    ``None`` with fewer than two cases, or if no case has two runs to tell noise from difficulty."""

    within: float | None
    """Variance of the runs of a case around its true mean (run-to-run noise), averaged over the cases with
    at least two runs. ``None`` if there is no such case."""

    of_mean: float | None
    """Variance of the arm's mean over new cases: its square root is the standard error. ``None`` with fewer
    than two cases."""

    @property
    def worthwhile_repeats(self) -> float | None:
        """Number of repeats past which money is better spent on new cases: within / between.

        ``None`` if a part is unknown, and if `between` is 0, where no number of repeats is too many.
        """
        if self.within is None or not self.between:
            return None
        return self.within / self.between


def variance_parts(case_scores: Sequence[Sequence[float]]) -> VarianceParts:
    """Split the variance of an arm's mean into case difficulty and run-to-run noise.

    With K runs of each of n cases, ``of_mean = (between + within / K) / n``. `between` is what is left of
    the sample variance of the case means once the noise in those means is taken off; where chance leaves
    less than nothing it is 0, and the equation then holds as "at most".

    >>> parts = variance_parts([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    >>> f"between {parts.between:.3f}, within {parts.within:.3f}, of the mean {parts.of_mean:.3f}"
    'between 0.075, within 0.200, of the mean 0.035'

    Args:
        case_scores: For each case the scores of its runs, errors left out: finite, usually in [0, 1]. The
            numbers of runs may differ; the noise of a case that ran once is taken to be that of the others.

    Returns:
        The parts, each ``None`` where the data cannot tell.

    Raises:
        ValueError: A case without any run (leave it out) or a score that is not finite.

    Source: E. Miller, *Adding Error Bars to Evals*, arXiv 2411.00640 (2024); moment estimator of one-way
    analysis of variance.
    """
    for scores in case_scores:
        require_finite("case_scores", scores)
        if not scores:
            raise ValueError("case_scores has a case without runs; leave such a case out")
    n = len(case_scores)
    repeated = [scores for scores in case_scores if len(scores) > 1]
    within = math.fsum(map(_variance, repeated)) / len(repeated) if repeated else None
    if n < 2:
        return VarianceParts(between=None, within=within, of_mean=None)
    total = _variance([math.fsum(scores) / len(scores) for scores in case_scores])
    if within is None:
        return VarianceParts(between=None, within=None, of_mean=total / n)
    in_means = math.fsum(_noise_of_mean(scores, within) for scores in case_scores)
    return VarianceParts(between=max(0.0, total - in_means / n), within=within, of_mean=total / n)


def _variance(values: Sequence[float]) -> float:
    """Return the sample variance of two or more values."""
    return _squares(values) / (len(values) - 1)


def _noise_of_mean(scores: Sequence[float], within: float) -> float:
    """Return the variance of the mean of a case's runs; a single run is taken to vary as those of the others."""
    return (_variance(scores) if len(scores) > 1 else within) / len(scores)


def _squares(values: Sequence[float]) -> float:
    """Return the sum of squared deviations from the mean."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)


def _require_counts(repeats: int, passes: int, k: int) -> None:
    if repeats < 0:
        raise ValueError(f"repeats must not be negative; got {repeats!r}")
    if not 0 <= passes <= repeats:
        raise ValueError(f"passes must lie between 0 and repeats = {repeats}; got {passes!r}")
    if k < 1:
        raise ValueError(f"k must be at least 1; got {k!r}")
