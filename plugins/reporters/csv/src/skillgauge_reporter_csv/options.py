"""The options of the reporter."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from skillgauge.api import Frozen


class Rows(StrEnum):
    """The meaning of a row."""

    GROUPS = "groups"
    COMPARISONS = "comparisons"
    CASES = "cases"
    TRIALS = "trials"
    CHECKS = "checks"


class CsvOptions(Frozen):
    """The options of the reporter."""

    rows: Rows = Field(
        default=Rows.GROUPS,
        description="What a row is: a group with its tags and figures in further files, or a record of another kind.",
    )
