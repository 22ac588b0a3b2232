"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Provider, Scorer, hookimpl

from .options import CustomOptions


def _make(options: BaseModel) -> Scorer:
    from .scorer import CustomScorer  # noqa: PLC0415 - announcing stays cheap

    return CustomScorer(CustomOptions.model_validate(options))


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `custom`."""
    yield Provider(
        name="custom",
        options=CustomOptions,
        factory=_make,
        summary="Your own function decides: Python, or JavaScript in node.",
    )
