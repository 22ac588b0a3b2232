"""What a user can set."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen


class FreshOptions(Frozen):
    """Options of `acme-fresh`."""

    trials: int = Field(
        default=50,
        ge=1,
        description="Attempts that one process makes, one after another, before another takes its place.",
        json_schema_extra=HARMLESS,
    )
