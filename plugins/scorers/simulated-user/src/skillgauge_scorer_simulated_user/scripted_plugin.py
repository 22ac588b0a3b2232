"""Announces `scripted-user`; what it does is in `script`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import ScriptOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `scripted-user`, whose messages are written."""
    yield Provider(
        name="scripted-user",
        options=ScriptOptions,
        factory="skillgauge_scorer_simulated_user.script:ScriptedUser",
        summary="A user whose messages are written, with values of the agent's answers in them.",
    )
