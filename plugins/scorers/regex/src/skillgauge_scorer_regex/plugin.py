"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Provider, Scorer, hookimpl

from .options import RegexOptions


def _make(options: BaseModel) -> Scorer:
    from .scorer import RegexScorer  # noqa: PLC0415 - announcing stays cheap

    return RegexScorer(RegexOptions.model_validate(options))


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `regex`."""
    yield Provider(
        name="regex",
        options=RegexOptions,
        factory=_make,
        summary="Patterns are found in the output; credit for those that are.",
    )
