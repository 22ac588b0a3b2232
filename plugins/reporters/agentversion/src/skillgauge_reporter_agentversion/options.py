"""The options of the reporter."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import Frozen

THRESHOLD = 0.7


class AgentversionOptions(Frozen):
    """Options of `agentversion`."""

    threshold: float = Field(default=THRESHOLD, ge=0, le=1, description="Least pass rate with the skill.")
