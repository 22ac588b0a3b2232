"""Runs as flat records and as tables for papers."""

from .columns import (
    ROWS,
    CaseRow,
    CheckRow,
    Column,
    ComparisonRow,
    GroupRow,
    RunRow,
    TrialRow,
    columns_of,
    json_schema,
)
from .projections import PROJECTIONS, SourcedRun
from .records import Records, Runs, runs
from .tables import Table, in_latex

__all__ = [
    "PROJECTIONS",
    "ROWS",
    "CaseRow",
    "CheckRow",
    "Column",
    "ComparisonRow",
    "GroupRow",
    "Records",
    "RunRow",
    "Runs",
    "SourcedRun",
    "Table",
    "TrialRow",
    "columns_of",
    "in_latex",
    "json_schema",
    "runs",
]
