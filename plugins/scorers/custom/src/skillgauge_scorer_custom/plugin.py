"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import CustomOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `custom`."""
    yield Provider(
        name="custom",
        options=CustomOptions,
        factory="skillgauge_scorer_custom.scorer:CustomScorer",
        summary="Your own function decides: Python, or JavaScript in node.",
    )
