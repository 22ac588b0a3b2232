"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import ToolCallOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `tool-call`."""
    yield Provider(
        name="tool-call",
        options=ToolCallOptions,
        factory="skillgauge_scorer_tool_call.scorer:ToolCallScorer",
        summary="An agent called a tool, by its name or with certain words in its arguments.",
    )
