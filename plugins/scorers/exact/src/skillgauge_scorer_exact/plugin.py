"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import ExactOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `exact`."""
    yield Provider(
        name="exact",
        options=ExactOptions,
        factory="skillgauge_scorer_exact.scorer:ExactScorer",
        summary="Output equals the expected value, a text or a structure.",
    )
