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
    cluster_bootstrap_interval,
)
from skillgauge.stats.calibration import (
    MIN_KAPPA,
    MIN_LABELS,
    Labelled,
    agreement,
    cohens_kappa,
    corrected_interval,
    corrected_rate,
    gwets_ac1,
    sensitivity,
    specificity,
)
from skillgauge.stats.clusters import (
    cluster_interval,
    cluster_sign_chance,
)
from skillgauge.stats.exact import (
    attainable_size,
    chance_by_sign,
    chance_of_difference,
    chance_of_worse,
)
from skillgauge.stats.intervals import (
    Interval,
    IntervalMethod,
    normal,
    wilson,
)
from skillgauge.stats.lift import (
    DETECTION_POWER,
    LIFT_LEVEL,
    LIFT_MARGIN,
    MIN_NEW_CASES,
    MOST_REPEATS,
    Evidence,
    Finding,
    lift_interval,
    repeats_for,
    smallest_detectable,
    weigh,
)
from skillgauge.stats.lift_tally import (
    LiftTally,
    Tried,
)
from skillgauge.stats.paired import (
    LogRatio,
    MeanRatio,
    PairedDifference,
    Spread,
    WeightedMean,
    mean_of,
    weighted_mean,
)
from skillgauge.stats.quantiles import (
    Latency,
    nearest_rank,
)
from skillgauge.stats.rates import (
    MIN_NORMAL_CASES,
    RateInterval,
    RateTally,
    RunRates,
    cluster_rate_interval,
    in_clusters,
    rate_interval,
    widened,
)
from skillgauge.stats.reliability import (
    Reliability,
    ReliabilityTally,
    VarianceParts,
    consistency,
    flip_rate,
    pass_at_k,
    pass_hat_k,
    variance_parts,
)
from skillgauge.stats.repeats import Repeats, least_change
from skillgauge.stats.several import holm, level_of_look

__all__ = [
    "DETECTION_POWER",
    "DISPLAY_RESAMPLES",
    "GATE_RESAMPLES",
    "LIFT_LEVEL",
    "LIFT_MARGIN",
    "MIN_BOOTSTRAP_CASES",
    "MIN_KAPPA",
    "MIN_LABELS",
    "MIN_NEW_CASES",
    "MIN_NORMAL_CASES",
    "MIN_PERCENTILE_CASES",
    "MOST_REPEATS",
    "Evidence",
    "Finding",
    "Interval",
    "IntervalMethod",
    "Labelled",
    "Latency",
    "LiftTally",
    "LogRatio",
    "MeanRatio",
    "PairedDifference",
    "RateInterval",
    "RateTally",
    "Reliability",
    "ReliabilityTally",
    "Repeats",
    "RunRates",
    "Spread",
    "Tried",
    "VarianceParts",
    "WeightedMean",
    "agreement",
    "attainable_size",
    "bootstrap_interval",
    "bootstrap_means",
    "chance_by_sign",
    "chance_of_difference",
    "chance_of_worse",
    "cluster_bootstrap_interval",
    "cluster_interval",
    "cluster_rate_interval",
    "cluster_sign_chance",
    "cohens_kappa",
    "consistency",
    "corrected_interval",
    "corrected_rate",
    "flip_rate",
    "gwets_ac1",
    "holm",
    "in_clusters",
    "least_change",
    "level_of_look",
    "lift_interval",
    "mean_of",
    "nearest_rank",
    "normal",
    "pass_at_k",
    "pass_hat_k",
    "rate_interval",
    "repeats_for",
    "sensitivity",
    "smallest_detectable",
    "specificity",
    "variance_parts",
    "weigh",
    "weighted_mean",
    "widened",
    "wilson",
]
