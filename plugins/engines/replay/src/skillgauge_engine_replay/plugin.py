"""Announces the engine; what it does is in `engine`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel

from skillgauge.api import Clean, Engine, Fact, Provider, Recorder, Traits, hookimpl

from .options import ReplayOptions


def _make(options: BaseModel) -> Engine:
    from .engine import ReplayEngine  # noqa: PLC0415 - announcing stays cheap

    return ReplayEngine(ReplayOptions.model_validate(options))


def _recorder(folder: Path, clean: Clean) -> Recorder:
    from skillgauge_recordings import FolderRecorder  # noqa: PLC0415 - announcing stays cheap

    return FolderRecorder(folder, clean)


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `replay`."""
    yield Provider(
        name="replay",
        options=ReplayOptions,
        factory=_make,
        summary="Play recorded agent sessions back: no agent, no key, no network.",
        # It tells what the recorded engine told; what that one did not know is unknown in the recording, too.
        records=_recorder,
        traits=Traits(plays="folder", only_by_name=True, skill_folder=".agents/skills", tells=frozenset(Fact)),
    )
