"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Provider, Scorer, hookimpl

from .options import CommandOptions


def _make(options: BaseModel) -> Scorer:
    from .scorer import CommandScorer  # noqa: PLC0415 - announcing stays cheap

    return CommandScorer(CommandOptions.model_validate(options))


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `command`."""
    yield Provider(
        name="command",
        options=CommandOptions,
        factory=_make,
        summary="A shell command in the workspace decides by its exit code.",
    )
