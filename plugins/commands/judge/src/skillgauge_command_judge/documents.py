"""The output of `judge --json`, and the calibration file.

Rates are fractions; `null` is undefined.
"""

from __future__ import annotations

from skillgauge.api import Frozen
from skillgauge.stats import RateInterval

from .grading import Grader

SCHEMA = "skillgauge-judge-calibration"


class LabelDocument(Frozen):
    """The document of `judge label --json`."""

    schema_version: str = "1.0"
    run_id: str
    labels: str
    """The file."""
    added: int
    skipped: int
    labelled: int
    """Labels in the file now."""
    open: int
    """Judged checks that were chosen and have no label yet."""


class JudgedRate(Frozen):
    """The share of judged checks that pass, for one target, arm, runner and model."""

    suite: str
    target: str | None
    arm: str
    runner: str
    model: str | None
    name: str
    """What reports call it."""
    raw: RateInterval
    """As judged: the share of the judged checks of a case over all its repeats, averaged over cases."""
    corrected: float | None
    """What people would have found, by sensitivity and specificity; `null` if the judge is no better than chance, or
    people passed, or failed, nothing."""
    lower: float | None
    """Bounds of the corrected rate for new cases, from 8 cases on: both run and labels are resampled."""
    upper: float | None


class Calibration(Frozen):
    """The calibration file, and the document of `judge calibrate --json`."""

    schema_name: str = SCHEMA
    schema_version: str = "1.0"
    run_id: str
    """The run whose checks were labelled."""
    labels: int
    cases: int
    """Cases that have labels."""
    both_pass: int
    only_judge_passes: int
    only_people_pass: int
    neither_passes: int
    agreement: float
    kappa: float | None
    ac1: float
    sensitivity: RateInterval
    """Of what people pass, the share that the judge passes."""
    specificity: RateInterval
    """Of what people fail, the share that the judge fails."""
    advisory: tuple[str, ...]
    """Why the judge is advisory only; empty if it is calibrated."""
    seed: int
    """Of the resampling."""
    rates: tuple[JudgedRate, ...]
    graders: tuple[Grader, ...]
    """All that it holds for: a check decided by any other grader makes it stale."""
