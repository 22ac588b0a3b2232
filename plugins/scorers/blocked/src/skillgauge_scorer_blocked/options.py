"""The options of a check."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen


class By(StrEnum):
    """The party that stops tool calls."""

    HOOK = "hook"
    PERMISSION = "permission"
    SANDBOX = "sandbox"


class BlockedOptions(Frozen):
    """Options of `blocked`."""

    expect: bool = Field(
        default=True, description="Whether a call has to be stopped, or none may be.", json_schema_extra=HARMLESS
    )
    tool: str = Field(
        default="*",
        min_length=1,
        description="Glob that the tool's name matches, case included.",
        json_schema_extra=HARMLESS,
    )
    by: By | None = Field(default=None, description="Who stops it; by default anybody.", json_schema_extra=HARMLESS)
    event: str | None = Field(
        default=None, min_length=1, description="Event of the hook; by default any.", json_schema_extra=HARMLESS
    )
