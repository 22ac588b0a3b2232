"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import CommandOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `command`."""
    yield Provider(
        name="command",
        options=CommandOptions,
        factory="skillgauge_scorer_command.scorer:CommandScorer",
        summary="A shell command in the workspace decides by its exit code.",
    )
