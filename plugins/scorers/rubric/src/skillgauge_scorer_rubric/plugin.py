"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, Traits, hookimpl

from .options import RubricOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `rubric`."""
    yield Provider(
        name="rubric",
        options=RubricOptions,
        factory="skillgauge_scorer_rubric.scorer:RubricScorer",
        summary="A model, or a panel of several, judges what was made: claims, criteria or a number.",
        traits=Traits(asks_judge=True),
    )
