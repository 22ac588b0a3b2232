"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Provider, Scorer, hookimpl

from .options import ExactOptions


def _make(options: BaseModel) -> Scorer:
    from .scorer import ExactScorer  # noqa: PLC0415 - announcing stays cheap

    return ExactScorer(ExactOptions.model_validate(options))


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `exact`."""
    yield Provider(
        name="exact",
        options=ExactOptions,
        factory=_make,
        summary="Output equals the expected value, compared as text.",
    )
