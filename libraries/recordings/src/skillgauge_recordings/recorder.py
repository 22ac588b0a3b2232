"""Writes recordings of sessions into a folder, and plays those that fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from skillgauge.api import Blame, Execution, SkillgaugeError, Trial, Workspace

from . import off_loop
from .cassettes import Cassette, file_name, read_cassette, recorded
from .restoring import played


class FolderRecorder:
    """Writes a cassette for each session into a folder.

    Args:
        folder: made if it is not there.
        clean: takes secrets out.
    """

    def __init__(self, folder: Path, clean: Callable[[Cassette], Cassette]) -> None:
        self._folder = folder
        self._clean = clean

    async def find(self, trial: Trial, workspace: Workspace) -> Execution | None:
        """Return the session that lies in the folder, its files laid into the workspace; `None` if none fits.

        Raises:
            OSError: its files cannot be laid out.
            ValueError: it is damaged.
        """
        path = self._folder / file_name(trial)
        if not path.is_file():
            return None
        try:
            cassette = await off_loop.read(path, read_cassette)
        except (SkillgaugeError, ValueError) as error:
            raise ValueError(f"{path} is damaged; remove it, and it is recorded again") from error
        return await played(cassette, workspace) if cassette.key == trial.cassette_key else None

    async def record(self, trial: Trial, execution: Execution, workspace: Workspace) -> None:
        """Keep one session, unless it failed for reasons that are nobody's behaviour.

        Raises:
            OSError: the recording cannot be written.
            SpoiledError: the agent left files that cannot be recorded.
        """
        failure = execution.failure
        if execution.replayed or (failure is not None and failure.blame is Blame.INFRASTRUCTURE):
            return
        cassette = await recorded(trial, execution, workspace, trial.cassette_key)
        await off_loop.write(self._folder / file_name(trial), self._clean(cassette))
