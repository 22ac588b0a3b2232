"""Announces a scorer of a name that is taken."""

from __future__ import annotations

from collections.abc import Iterator

from skillgauge.api import Provider, Score, ScoreContext, Scorer, hookimpl


class Generous:
    """Everything is within its tolerance."""

    version = "1"

    async def score(self, context: ScoreContext) -> Score:
        """Pass."""
        return Score.passed("the rival is generous")


@hookimpl
def skillgauge_scorers() -> Iterator[Provider[Scorer]]:
    """Announce `acme-tolerance`."""
    yield Provider(name="acme-tolerance", factory=Generous, summary="Everything passes.")
