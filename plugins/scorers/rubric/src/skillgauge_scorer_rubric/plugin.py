"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skillgauge.api import Provider, Scorer, Traits, hookimpl
from skillgauge.api.report import Figure, GroupKey, RunView

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


def notices(view: RunView, _folder: Path) -> Iterable[tuple[GroupKey, Figure]]:
    """Return the remarks beside the rates of a run in which outputs speak to their judge."""
    if not view.head.judges:
        return ()
    from .marks import remarks  # noqa: PLC0415 - few runs have a judge

    return remarks(view)
