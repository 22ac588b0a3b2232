"""The options of the engine."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import RUN_PLACE, Frozen


class ReplayOptions(Frozen):
    """Options of `replay`."""

    folder: str = Field(
        min_length=1, description="Folder of the recordings; `--replay DIR` sets it.", json_schema_extra=RUN_PLACE
    )
    engine: str | None = Field(
        default=None, min_length=1, description="Play only what this engine did, where a folder has several."
    )
