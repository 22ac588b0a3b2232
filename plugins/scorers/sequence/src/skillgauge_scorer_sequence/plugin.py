"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import SequenceOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `sequence`."""
    yield Provider(
        name="sequence",
        options=SequenceOptions,
        factory="skillgauge_scorer_sequence.scorer:SequenceScorer",
        summary="An agent called tools, or used skills, in an order that was expected.",
    )
