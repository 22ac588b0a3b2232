"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Provider, Scorer, hookimpl

from .options import TriggerOptions


def _make(options: BaseModel) -> Scorer:
    from .scorer import TriggerScorer  # noqa: PLC0415 - announcing stays cheap

    return TriggerScorer(TriggerOptions.model_validate(options))


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `trigger`."""
    yield Provider(
        name="trigger",
        options=TriggerOptions,
        factory=_make,
        summary="The right skill fired, or did not; what the engine cannot tell is ungraded.",
    )
