"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import UsageOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `usage`."""
    yield Provider(
        name="usage",
        options=UsageOptions,
        factory="skillgauge_scorer_usage.scorer:UsageScorer",
        summary="An agent got by with so many tool calls, turns, tokens or seconds.",
    )
