"""The options of the executor."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen


class ProcessesOptions(Frozen):
    """Options of `processes`."""

    workers: int | None = Field(
        default=None,
        ge=1,
        description="Worker processes, never more than --concurrency; default: as many as there are processors.",
        json_schema_extra=HARMLESS,
    )
