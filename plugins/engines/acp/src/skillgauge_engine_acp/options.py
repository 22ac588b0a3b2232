"""The options of the engine."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from skillgauge.api import HARMLESS
from skillgauge_agent_programs.options import ProgramOptions


class Permissions(StrEnum):
    """The answers to an agent that asks whether it may do something; no user is there to be asked."""

    ALLOW = "allow"
    REJECT = "reject"


class AcpOptions(ProgramOptions):
    """Options of every agent."""

    permissions: Permissions = Field(
        default=Permissions.ALLOW, description="What to answer when the agent asks for permission."
    )
    start_timeout_s: float = Field(
        default=60.0,
        gt=0,
        le=3600,
        description="Seconds that the agent may take until it accepts a prompt.",
        json_schema_extra=HARMLESS,
    )
