"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skillgauge.api import Provider, Scorer, hookimpl
from skillgauge.api.report import Figure, GroupKey, RunView, Table

from .options import SCORER, TriggerOptions

_DISTRIBUTION = "skillgauge-scorer-trigger"


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `trigger`."""
    yield Provider(
        name=SCORER,
        options=TriggerOptions,
        factory="skillgauge_scorer_trigger.scorer:TriggerScorer",
        summary="The right skill fired, or did not; what the engine cannot tell is ungraded.",
    )


def notices(view: RunView, _folder: Path) -> Iterable[str | tuple[GroupKey, Figure | Table]]:
    """Return the remarks beside the rates of a run that asks whether a skill fires."""
    if _DISTRIBUTION not in view.head.provenance:
        return ()
    from .notices import remarks  # noqa: PLC0415 - few runs ask that

    return remarks(view)
