"""Leaves a workspace as a recorded session left it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from skillgauge.api import Command, Execution, FileSpec, Workspace
from skillgauge_processes import temporary_folder

from .cassettes import Cassette, RecordedFile
from .places import Places

_ARGUMENT_CHARACTERS = 60_000
"""Of one command line: half of what the strictest system takes."""
_TIMEOUT_S = 60.0


async def played(cassette: Cassette, workspace: Workspace) -> Execution:
    """Return a recorded session as it would have been in a workspace, with its files laid into it.

    Raises:
        ValueError: a path leaves the workspace, or content is damaged; nothing was changed then.
        OSError: the workspace does not allow it.
    """
    places = Places(workspace)
    await restore(cassette.files, workspace, places)
    return places.restored_in(cassette.execution).model_copy(update={"replayed": True})


async def restore(files: Sequence[RecordedFile], workspace: Workspace, places: Places) -> None:
    """Delete, create and overwrite what the recorded agent did.

    A name with a backslash, or that was no text (a snapshot spells its bytes with backslashes), is passed over: no
    suite can name such a file, so no check asks for it.

    Raises:
        ValueError: a path leaves the workspace, or content is damaged; nothing was changed then.
        OSError: the workspace does not allow it.
    """
    files = [file for file in files if "\\" not in file.path]
    if not files:
        return
    kept = [file for file in files if _is_there(file)]
    gone = [FileSpec(path=file.path, text="").path for file in files if not _is_there(file)]
    has_binary = any(file.base64 is not None for file in kept)
    with temporary_folder() if has_binary else nullcontext(Path()) as folder:
        specs = await asyncio.to_thread(_specs, kept, places, folder)
        # A file can take the place of a folder whose files were deleted; the empty folder would be in its way.
        ancestors = {str(parent) for path in gone for parent in Path(path).parents}
        await _delete([*gone, *(file.path for file in kept if file.path in ancestors)], workspace)
        await workspace.put(specs)


def _is_there(file: RecordedFile) -> bool:
    return file.text is not None or file.base64 is not None


def _specs(files: Sequence[RecordedFile], places: Places, folder: Path) -> list[FileSpec]:
    """Return the files to put into the workspace; binary ones go by a file of their own."""
    specs = []
    for number, file in enumerate(files):
        if file.base64 is None:
            text = places.restored(file.text or "")
            specs.append(FileSpec(path=file.path, text=text, executable=file.executable))
        else:
            source = folder / str(number)
            source.write_bytes(base64.b64decode(file.base64, validate=True))
            specs.append(FileSpec(path=file.path, source=str(source), executable=file.executable))
    return specs


async def _delete(paths: Sequence[str], workspace: Workspace) -> None:
    """Delete by a process of the workspace: it sees what the agent saw, and no more can happen than in a session."""
    batch: list[str] = []
    for at, path in enumerate(paths):
        batch.append(f"./{path}")
        if at + 1 < len(paths) and sum(map(len, batch)) < _ARGUMENT_CHARACTERS:
            continue
        finished = await (await workspace.start(Command(argv=("rm", "-rf", "--", *batch), timeout_s=_TIMEOUT_S))).wait()
        if finished.exit_code != 0:
            words = finished.stderr[:400].decode("utf-8", "replace").strip()
            raise OSError(f"rm ended with exit code {finished.exit_code}{': ' + words if words else ''}")
        batch = []
