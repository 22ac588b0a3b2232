"""The options of a check."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen


class ExitCodeOptions(Frozen):
    """Options of `exit-code`."""

    codes: tuple[int, ...] = Field(
        default=(0,), min_length=1, description="Exit codes that pass.", json_schema_extra=HARMLESS
    )
