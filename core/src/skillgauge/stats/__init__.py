"""Statistics for skill evaluations: numbers in, numbers out.

Everything a report prints beside a rate is computed here, so that the same data and the same seed give
the same figures on every machine. The package is pure mathematics on the standard library: it knows no
case, trial or run, does no I/O, reads no clock, uses no unseeded random numbers and imports nothing else
of skillgauge.

Three conventions hold for every function:

* The unit is the **case**. Repeats of a case are averaged by the caller first (statistics over runs
  would give error bars that are too small); trials that ended in an error never get here.
* ``None`` means undefined. A number is never made up for it, least of all 0.
* An argument that makes no sense raises ``ValueError``.
"""

from skillgauge.stats.bootstrap import (
    DISPLAY_RESAMPLES,
    GATE_RESAMPLES,
    MIN_BOOTSTRAP_CASES,
    MIN_PERCENTILE_CASES,
    bootstrap_interval,
    bootstrap_means,
)
from skillgauge.stats.intervals import Interval, IntervalMethod, normal, wilson
from skillgauge.stats.paired import PairedDifference, Spread
from skillgauge.stats.quantiles import nearest_rank
from skillgauge.stats.rates import MIN_NORMAL_CASES, rate_interval
from skillgauge.stats.reliability import (
    VarianceParts,
    consistency,
    flip_rate,
    pass_at_k,
    pass_hat_k,
    variance_parts,
)

__all__ = [
    "DISPLAY_RESAMPLES",
    "GATE_RESAMPLES",
    "MIN_BOOTSTRAP_CASES",
    "MIN_NORMAL_CASES",
    "MIN_PERCENTILE_CASES",
    "Interval",
    "IntervalMethod",
    "PairedDifference",
    "Spread",
    "VarianceParts",
    "bootstrap_interval",
    "bootstrap_means",
    "consistency",
    "flip_rate",
    "nearest_rank",
    "normal",
    "pass_at_k",
    "pass_hat_k",
    "rate_interval",
    "variance_parts",
    "wilson",
]
