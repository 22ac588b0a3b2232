"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import SCORER, TriggerOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `trigger`."""
    yield Provider(
        name=SCORER,
        options=TriggerOptions,
        factory="skillgauge_scorer_trigger.scorer:TriggerScorer",
        summary="The right skill fired, or did not; what the engine cannot tell is ungraded.",
    )
