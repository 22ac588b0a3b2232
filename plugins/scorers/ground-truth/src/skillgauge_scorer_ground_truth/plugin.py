"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import GroundTruthOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `ground-truth`."""
    yield Provider(
        name="ground-truth",
        options=GroundTruthOptions,
        factory="skillgauge_scorer_ground_truth.scorer:GroundTruthScorer",
        summary="The expected text stands in what an agent answered or in a file that it left.",
    )
