"""Announces the scorer."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from skillgauge.api import Frozen, Provider, Scorer, hookimpl


class Options(Frozen):
    """What a check may set."""

    expected: float
    """The number that the output should be near."""
    tolerance: float = Field(default=0.0, ge=0)
    """How far off it may be."""


@hookimpl
def skillgauge_scorers() -> Iterator[Provider[Scorer]]:
    """Announce `acme-tolerance`; `acme-near` is an alias."""
    yield Provider(
        name="acme-tolerance",
        options=Options,
        factory="acme_skillgauge_scorer.scorer:Tolerance",
        summary="A number within a tolerance.",
    )
