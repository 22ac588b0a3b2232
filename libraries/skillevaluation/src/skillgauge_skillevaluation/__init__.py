"""The published arithmetic of skillevaluation, as pure functions; and its suites and records.

What is named here is imported when it is first used: who reads a suite needs nothing of what is made of a run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .aggregation import Aggregate as Aggregate
    from .aggregation import ArmMetrics as ArmMetrics
    from .aggregation import Unit as Unit
    from .aggregation import aggregate as aggregate
    from .aggregation import change as change
    from .aggregation import rounded as rounded
    from .made_up import MADE_UP as MADE_UP
    from .made_up import made_up_figures as made_up_figures
    from .made_up import replies as replies
    from .outcomes import RunVerdict as RunVerdict
    from .outcomes import outcome_of as outcome_of
    from .outcomes import verdict_of as verdict_of
    from .records import Record as Record
    from .records import Series as Series
    from .records import Skipped as Skipped
    from .records import arm_document as arm_document
    from .records import case_document as case_document
    from .records import graded_document as graded_document
    from .records import metrics_of as metrics_of
    from .records import records_of as records_of
    from .suite_file import EvalCase as EvalCase
    from .suite_file import Validator as Validator
    from .suite_file import read_cases as read_cases
    from .trajectory import FORMAT_VERSION as FORMAT_VERSION
    from .trajectory import render as render
    from .transcripts import transcript_of as transcript_of

_HOMES = {
    "aggregation": ("Aggregate", "ArmMetrics", "Unit", "aggregate", "change", "rounded"),
    "made_up": ("MADE_UP", "made_up_figures", "replies"),
    "outcomes": ("RunVerdict", "outcome_of", "verdict_of"),
    "records": (
        "Record",
        "Series",
        "Skipped",
        "arm_document",
        "case_document",
        "graded_document",
        "metrics_of",
        "records_of",
    ),
    "suite_file": ("EvalCase", "Validator", "read_cases"),
    "trajectory": ("FORMAT_VERSION", "render"),
    "transcripts": ("transcript_of",),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
