"""Announces `simulated-user`; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, Traits, hookimpl

from .options import UserOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `simulated-user`, whom a model plays."""
    yield Provider(
        name="simulated-user",
        options=UserOptions,
        factory="skillgauge_scorer_simulated_user.scorer:SimulatedUser",
        summary="A model plays the user of a conversation, and says when the user has nothing more to say.",
        traits=Traits(asks_judge=True),
    )
