"""The interval that the original publishes: a bootstrap of the mean score over all results, here with a seed.

It resamples results, repeats of a task included, and is [1, 1] for a perfect run. The document keeps it, because that
is what its key means; the interval to rely on stands in `evaluatorMetadata.skillgauge.passRate`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from statistics import fmean, pstdev

PUBLISHED_INTERVAL = "published, of the mean score"
"""Method of an interval that a document of the original tells."""
RESAMPLES = 1000
LEVEL = 0.95
MIN_RESULTS = 10
"""With fewer results there is no interval, as in the original."""
MAX_RESAMPLED = 1000
"""With more results the means of resamples are drawn from their normal limit, which differs by less than is printed."""


def mean_interval(scores: Sequence[float], seed: int) -> dict[str, float] | None:
    """`confidenceInterval` of the document; `None` with too few results.

    Args:
        scores: score of every result, 0 to 1; an error scores 0.
        seed: of the resampling; equal scores in equal order with one seed have one interval.
    """
    if len(scores) < MIN_RESULTS:
        return None
    draw = _resampled_mean(scores, random.Random(seed))
    means = sorted(draw() for _ in range(RESAMPLES))
    tail = (1 - LEVEL) / 2
    lower, upper = means[math.floor(tail * RESAMPLES)], means[math.floor((1 - tail) * RESAMPLES)]
    return {"lower": lower, "upper": upper, "mean": fmean(means), "level": LEVEL}


def _resampled_mean(scores: Sequence[float], random_: random.Random) -> Callable[[], float]:
    count = len(scores)
    if min(scores) == max(scores):  # as in most runs that pass: every resample is the same
        mean = math.fsum(scores) / count
        return lambda: mean
    if count > MAX_RESAMPLED:
        mean, error = fmean(scores), pstdev(scores) / math.sqrt(count)
        return lambda: min(1.0, max(0.0, random_.gauss(mean, error)))
    return lambda: math.fsum(random_.choices(scores, k=count)) / count
