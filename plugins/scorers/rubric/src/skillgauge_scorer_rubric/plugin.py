"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Provider, Scorer, Traits, hookimpl

from .options import RubricOptions


def _make(options: BaseModel) -> Scorer:
    from .scorer import RubricScorer  # noqa: PLC0415 - announcing stays cheap

    return RubricScorer(RubricOptions.model_validate(options))


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `rubric`."""
    yield Provider(
        name="rubric",
        options=RubricOptions,
        factory=_make,
        summary="A model, or a panel of several, judges what was made: claims, criteria or a number.",
        traits=Traits(asks_judge=True),
    )
