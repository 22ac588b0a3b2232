"""The options of the judge."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import EMPTY, HARMLESS, Frozen, JsonObject


class AgentOptions(Frozen):
    """Options of `agent`."""

    engine: str | None = Field(
        default=None,
        min_length=1,
        description="Engine whose program is asked; by default the one that serves the model, or that has credentials.",
    )
    model: str | None = Field(
        default=None, min_length=1, description="Model to ask; by default the engine's own.", json_schema_extra=HARMLESS
    )
    timeout_s: float = Field(
        default=180.0, gt=0, le=1800, description="Seconds for one question.", json_schema_extra=HARMLESS
    )
    engines: JsonObject = Field(
        default=EMPTY,
        description="Engines that may be asked, each with options that go before the run's; by default all of the run.",
    )
