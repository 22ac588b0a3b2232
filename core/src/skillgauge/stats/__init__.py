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
    corrected_rate,
    gwets_ac1,
    sensitivity,
    specificity,
)
from skillgauge.stats.intervals import (
    Interval,
    IntervalMethod,
    normal,
    wilson,
)
from skillgauge.stats.lifts.betting import PROSPECT, Discordant, chance_at_any_time, chance_to_decide, e_value
from skillgauge.stats.lifts.change import (
    Change,
    ChangeFinding,
    TwiceRun,
    change_of,
    has_fallen,
    least_skill_change,
    lift_difference_chance,
    lift_difference_interval,
    lift_loss_chance,
    loss_chance,
    new_change_bounds,
)
from skillgauge.stats.lifts.clusters import cluster_interval, cluster_sign_chance
from skillgauge.stats.lifts.evidence import LIFT_MARGIN, MIN_NEW_CASES, Evidence, Finding, weigh
from skillgauge.stats.lifts.exact import attainable_size, chance_by_sign, chance_of_difference, chance_of_worse
from skillgauge.stats.lifts.graded import GradedEvidence, GradedTally
from skillgauge.stats.lifts.intervals import LIFT_LEVEL, difference_interval, interval_here, lift_interval
from skillgauge.stats.lifts.planning import (
    DETECTION_POWER,
    MOST_REPEATS,
    MOST_ROUNDS,
    RARE,
    repeats_for,
    rounds_for,
    smallest_detectable,
)
from skillgauge.stats.lifts.repeats import Repeats, least_change
from skillgauge.stats.lifts.several import holm, level_of_look
from skillgauge.stats.lifts.tally import LiftTally, Tried, weigh_together
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
    "MOST_ROUNDS",
    "PROSPECT",
    "RARE",
    "Change",
    "ChangeFinding",
    "Discordant",
    "Evidence",
    "Finding",
    "GradedEvidence",
    "GradedTally",
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
    "TwiceRun",
    "VarianceParts",
    "WeightedMean",
    "agreement",
    "attainable_size",
    "bootstrap_interval",
    "bootstrap_means",
    "chance_at_any_time",
    "chance_by_sign",
    "chance_of_difference",
    "chance_of_worse",
    "chance_to_decide",
    "change_of",
    "cluster_bootstrap_interval",
    "cluster_interval",
    "cluster_rate_interval",
    "cluster_sign_chance",
    "cohens_kappa",
    "consistency",
    "corrected_rate",
    "difference_interval",
    "e_value",
    "flip_rate",
    "gwets_ac1",
    "has_fallen",
    "holm",
    "in_clusters",
    "interval_here",
    "least_change",
    "least_skill_change",
    "level_of_look",
    "lift_difference_chance",
    "lift_difference_interval",
    "lift_interval",
    "lift_loss_chance",
    "loss_chance",
    "mean_of",
    "nearest_rank",
    "new_change_bounds",
    "normal",
    "pass_at_k",
    "pass_hat_k",
    "rate_interval",
    "repeats_for",
    "rounds_for",
    "sensitivity",
    "smallest_detectable",
    "specificity",
    "variance_parts",
    "weigh",
    "weigh_together",
    "weighted_mean",
    "widened",
    "wilson",
]
