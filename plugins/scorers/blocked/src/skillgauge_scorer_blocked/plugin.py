"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Provider, Scorer, hookimpl

from .options import BlockedOptions


def _make(options: BaseModel) -> Scorer:
    from .scorer import BlockedScorer  # noqa: PLC0415 - announcing stays cheap

    return BlockedScorer(BlockedOptions.model_validate(options))


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `blocked`."""
    yield Provider(
        name="blocked",
        options=BlockedOptions,
        factory=_make,
        summary="A tool call was stopped, by whom you say, or none was.",
    )
