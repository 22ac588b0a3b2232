"""Announces the engine; what it does is in `engine`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Engine, Fact, Provider, Traits, hookimpl

from .options import ReplayOptions


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `replay`."""
    yield Provider(
        name="replay",
        options=ReplayOptions,
        factory="skillgauge_engine_replay.engine:ReplayEngine",
        summary="Play recorded agent sessions back: no agent, no key, no network.",
        # It tells what the recorded engine told; what that one did not know is unknown in the recording, too.
        records="skillgauge_recordings:FolderRecorder",
        caches="skillgauge_recordings:BaselineCache",
        sessions="skillgauge_engine_replay.sessions:DocumentSessions",
        traits=Traits(
            plays="folder",
            only_by_name=True,
            skill_folder=".agents/skills",
            conversations=True,
            tells=frozenset(Fact),
            remote=True,
        ),
    )
