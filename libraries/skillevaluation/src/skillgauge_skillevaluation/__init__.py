"""The published arithmetic of skillevaluation, as pure functions."""

from .aggregation import Aggregate, ArmMetrics, Unit, aggregate, change, rounded
from .made_up import MADE_UP, made_up_figures, replies
from .outcomes import RunVerdict, outcome_of, verdict_of
from .records import (
    Record,
    Series,
    Skipped,
    arm_document,
    case_document,
    graded_document,
    metrics_of,
    records_of,
)
from .suite_file import EvalCase, Validator, read_cases
from .trajectory import FORMAT_VERSION, render
from .transcripts import transcript_of

__all__ = [
    "FORMAT_VERSION",
    "MADE_UP",
    "Aggregate",
    "ArmMetrics",
    "EvalCase",
    "Record",
    "RunVerdict",
    "Series",
    "Skipped",
    "Unit",
    "Validator",
    "aggregate",
    "arm_document",
    "case_document",
    "change",
    "graded_document",
    "made_up_figures",
    "metrics_of",
    "outcome_of",
    "read_cases",
    "records_of",
    "render",
    "replies",
    "rounded",
    "transcript_of",
    "verdict_of",
]
