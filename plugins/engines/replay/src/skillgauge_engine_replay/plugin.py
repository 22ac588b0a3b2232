"""Announces the engine; what it does is in `engine`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Engine, Fact, Provider, Traits, hookimpl

from .options import ReplayOptions


def _make(options: BaseModel) -> Engine:
    from .engine import ReplayEngine  # noqa: PLC0415 - announcing stays cheap

    return ReplayEngine(ReplayOptions.model_validate(options))


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `replay`."""
    yield Provider(
        name="replay",
        options=ReplayOptions,
        factory=_make,
        summary="Play recorded agent sessions back: no agent, no key, no network.",
        # It tells what the recorded engine told; what that one did not know is unknown in the recording, too.
        traits=Traits(only_by_name=True, skill_folder=".agents/skills", tells=frozenset(Fact)),
    )
