"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import BlockedOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `blocked`."""
    yield Provider(
        name="blocked",
        options=BlockedOptions,
        factory="skillgauge_scorer_blocked.scorer:BlockedScorer",
        summary="A tool call was stopped, by whom you say, or none was.",
    )
