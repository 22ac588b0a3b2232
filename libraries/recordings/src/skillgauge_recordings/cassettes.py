"""Recordings of agent sessions: what the agent did, so that it can be played back without agent, key and network.

One JSON file per session, made to be committed: redacted, sorted, readable but for the raw stream. What the agent left
in its workspace is part of it, so that checks grade a replay as they graded the session.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Self

from skillgauge.api import (
    EMPTY,
    Command,
    Execution,
    FileChange,
    Frozen,
    Identity,
    JsonObject,
    Origin,
    Problem,
    SpoiledError,
    SuiteError,
    Trajectory,
    Trial,
    Workspace,
    read_document,
)
from skillgauge.api.run import write_whole
from skillgauge_validation import validate

from .places import Places

SUFFIX = ".cassette.json"
LARGEST_FILE = 4 * 1024 * 1024
"""Bytes of a file that are recorded; a larger one makes the recording fail, since half a file grades as another one."""
LARGEST_RAW = 64 * 1024 * 1024
"""Bytes of a raw stream that is unpacked: a small file could stand for any number."""
MOST_FILES = 10_000
"""Files of one session; to read more takes longer than anybody waits."""
_GZIP = 31
"""What zlib calls gzip, with a window of any size."""


class RecordedFile(Frozen):
    """A file that the agent made, changed or deleted."""

    path: str
    text: str | None = None
    """With names for the folders of the workspace, see `Places`."""
    base64: str | None = None
    """Content that is no UTF-8. Neither this nor `text`: the file was deleted."""
    executable: bool = False


class Cassette(Frozen):
    """One recorded session."""

    schema_version: Literal["1.0"] = "1.0"
    key: str
    """See `Trial.cassette_key`."""
    recipe: JsonObject
    """See `Trial.recipe`."""
    engine: Identity
    model: str | None
    execution: Execution
    """In the file without `Trajectory.raw`."""
    raw: str | None = None
    """In the file: `Trajectory.raw`, compressed by gzip, in base64. It says at length what the events say, and would
    hide them from whoever reads the changes of a recording."""
    files: tuple[RecordedFile, ...] = ()

    def packed(self) -> Self:
        """As it is written."""
        trajectory = self.execution.trajectory
        if trajectory is None or trajectory.raw is None:
            return self
        return self._with(trajectory, None, base64.b64encode(gzip.compress(trajectory.raw.encode(), mtime=0)).decode())

    def unpacked(self) -> Self:
        """As it was recorded.

        Raises:
            ValueError: the compressed stream is damaged or too long.
        """
        trajectory = self.execution.trajectory
        if self.raw is None or trajectory is None:
            return self
        unpacker = zlib.decompressobj(wbits=_GZIP)
        try:
            text = unpacker.decompress(base64.b64decode(self.raw, validate=True), LARGEST_RAW)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        if not unpacker.eof:
            raise ValueError(f"it is cut off, or longer than {LARGEST_RAW} bytes")
        return self._with(trajectory, text.decode(), None)

    def _with(self, trajectory: Trajectory, raw: str | None, packed: str | None) -> Self:
        execution = self.execution.model_copy(update={"trajectory": trajectory.model_copy(update={"raw": raw})})
        return self.model_copy(update={"execution": execution, "raw": packed})


async def recorded(trial: Trial, execution: Execution, workspace: Workspace, key: str) -> Cassette:
    """The recording of a session, while its workspace is open.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file cannot be recorded.
        SpoiledError: there are too many files.
    """
    if len(execution.files) > MOST_FILES:
        raise SpoiledError(f"the session changed more than {MOST_FILES} files")
    places, executables = Places(workspace), await _executables(workspace, execution)
    return Cassette(
        key=key,
        recipe=trial.recipe,
        engine=trial.runner,
        model=trial.model,
        execution=places.named_in(execution),
        files=tuple([await _recorded(workspace, places, change, executables) for change in execution.files]),
    )


def write_cassette(path: Path, cassette: Cassette) -> None:
    """Write a recording, whole or not at all.

    Raises:
        UsageError: the place cannot be written.
    """
    document = cassette.packed().model_dump(mode="json", exclude_defaults=True)
    text = json.dumps({"schema_version": "1.0", **document}, indent=1, sort_keys=True, ensure_ascii=False)
    write_whole(path, [f"{text}\n".encode()])


def read_cassette(path: Path) -> Cassette:
    """One recording.

    Raises:
        SuiteError: it is damaged.
        ValueError: its raw stream is.
    """
    document = read_document(path)
    return validate(Cassette, document.value, document).unpacked()


def file_name(trial: Trial) -> str:
    """Return the file of a trial's recording, relative to the folder."""
    parts = (trial.case.id, trial.arm.name, str(trial.repeat), trial.cassette_key[:8])
    slugs = [re.sub(r"[^A-Za-z0-9._-]+", "-", part)[:60].strip("-.") or "x" for part in (trial.suite_id, *parts)]
    return f"{slugs[0]}/{'.'.join(slugs[1:])}{SUFFIX}"


async def _executables(workspace: Workspace, execution: Execution) -> frozenset[str]:
    """Files that can be executed, if there is any to record; only a process of the workspace can tell."""
    if all(change.change == "deleted" for change in execution.files):
        return frozenset()
    command = Command(argv=("find", ".", "-type", "f", "-perm", "-100", "-print0"), timeout_s=60)
    finished = await (await workspace.start(command)).wait()
    return frozenset(os.fsdecode(path).removeprefix("./") for path in finished.stdout.split(b"\0"))


async def _recorded(
    workspace: Workspace, places: Places, change: FileChange, executables: frozenset[str]
) -> RecordedFile:
    path = change.path
    if change.change == "deleted":
        return RecordedFile(path=path)
    try:
        content = await workspace.collect(path, LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise SpoiledError(f"{path!r} cannot be read: {error}") from error
    if len(content) > LARGEST_FILE:
        raise SpoiledError(f"{path!r} is larger than {LARGEST_FILE} bytes")
    try:
        return RecordedFile(path=path, text=places.named(content.decode()), executable=path in executables)
    except UnicodeDecodeError:
        return RecordedFile(path=path, base64=base64.b64encode(content).decode(), executable=path in executables)


def read_cassettes(folder: Path) -> Iterator[Cassette]:
    """Every recording below a folder, in the order of the file names.

    Raises:
        SuiteError: the folder holds none, or one of them is damaged; all of these.
    """
    problems: list[Problem] = []
    paths = sorted(folder.rglob(f"*{SUFFIX}"))
    if not paths:
        message = "there is no recording in this folder"
        raise SuiteError(
            Problem("replay.empty", message, origin=Origin(str(folder)), hint="Make some with --record DIR.")
        )
    for path in paths:
        try:
            yield read_cassette(path)
        except SuiteError as error:
            problems += error.problems
        except ValueError as error:
            message = f"the raw stream cannot be read: {error}"
            problems.append(Problem("replay.damaged", message, origin=Origin(str(path)), hint="Record it again."))
    if problems:
        raise SuiteError(problems)


_CALLED = {"limits": "limits (--timeout, --max-turns, or the case's own)"}
"""Parts of a recipe that say too little by their names."""


def why_missing(recipe: JsonObject, recordings: list[Cassette]) -> str:
    """Describe the differences between a wanted session and the most similar recording of the same case."""
    place = ("suite", "case", "arm", "repeat")
    same_case = [one for one in recordings if one.recipe.get("case") == recipe.get("case")]
    place_text = ", ".join(f"{name} {recipe.get(name)}" for name in place)
    if not same_case:
        return f"there is no recording of {place_text}"

    def differences(one: Cassette) -> list[str]:
        return [_CALLED.get(name, name) for name in recipe if one.recipe.get(name, EMPTY) != recipe[name]]

    nearest = min(same_case, key=lambda one: len(differences(one)))
    return f"no recording fits {place_text}; in the nearest one these differ: {', '.join(differences(nearest))}"
