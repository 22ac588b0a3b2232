"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import JsonMatchOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `json-match`."""
    yield Provider(
        name="json-match",
        options=JsonMatchOptions,
        factory="skillgauge_scorer_json_match.scorer:JsonMatchScorer",
        summary="Output is JSON with the expected structure, whole or in part.",
    )
