"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Provider, Scorer, hookimpl

from .options import ContainsOptions


def _make(options: BaseModel) -> Scorer:
    from .scorer import ContainsScorer  # noqa: PLC0415 - announcing stays cheap

    return ContainsScorer(ContainsOptions.model_validate(options))


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `contains`."""
    yield Provider(
        name="contains",
        options=ContainsOptions,
        factory=_make,
        summary="Output contains all keywords; credit for those that it does.",
    )
