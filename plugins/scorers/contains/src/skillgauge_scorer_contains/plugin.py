"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import ContainsOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `contains`."""
    yield Provider(
        name="contains",
        options=ContainsOptions,
        factory="skillgauge_scorer_contains.scorer:ContainsScorer",
        summary="Output contains all keywords; credit for those that it does.",
    )
