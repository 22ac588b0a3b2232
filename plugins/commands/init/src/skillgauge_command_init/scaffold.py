"""The parts of a project, those that are there, and the making of the rest."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib.resources import files
from pathlib import Path

from skillgauge.api import Frozen, Problem, UsageError

CONFIG = "skillgauge.config.yaml"
FOLDERS = ("skills", "benchmarks", "reports")
PYPROJECT = "pyproject.toml"
HIDDEN = f"it is read as long as there is no {CONFIG}, so none was made"


class State(StrEnum):
    """The fate of a part of the project."""

    CREATED = "created"
    EXISTS = "exists"


class Part(Frozen):
    """A file or folder of the project."""

    path: str
    """Below the folder given by `--dir`; folders end with `/`."""
    state: State
    note: str | None = None


def make_project(
    folder: Path,
    settings: Mapping[str, str] | None = None,
    folders: Sequence[str] = FOLDERS,
    foreign: Sequence[str] = (),
) -> tuple[Part, ...]:
    """Make what is missing of a project, and nothing else.

    Args:
        folder: where.
        settings: keys that the configuration is to have beside those of the template. A file that is there already
            stays as it is, and a note says what to add.
        folders: which ones it is to have.
        foreign: names of other programs' configuration files that count where ours is absent; those that begin with
            `~/` are the user's own.

    Raises:
        UsageError: something stands in the way, and nothing was made; or the place cannot be written.
    """
    problems = list(_obstacles(folder, folders))
    if problems:
        raise UsageError(problems)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (
            *_configuration(folder, settings or {}, foreign),
            *(Part(path=f"{name}/", state=_folder(folder / name)) for name in folders),
        )
    except OSError as error:
        message = f"cannot make {error.filename!r}: {error.strerror}"
        raise UsageError(Problem("usage.unwritable", message, hint="Choose another place with --dir.")) from None


def configs_in_force(folder: Path, foreign: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the files that configure skillgauge in a folder which has no `skillgauge.config.yaml`.

    Args:
        folder: the folder.
        foreign: names of other programs' files, as `make_project` has them.

    Returns:
        `pyproject.toml` if it has a table for skillgauge, else those of other programs' files that are there.
    """
    if _has_table(folder / PYPROJECT):
        return (PYPROJECT,)
    return tuple(name for name in sorted(set(foreign)) if not name.startswith("~/") and (folder / name).is_file())


def _has_table(pyproject: Path) -> bool:
    try:
        tool = tomllib.loads(pyproject.read_text("utf-8")).get("tool")
    except (OSError, ValueError):
        return False
    return isinstance(tool, dict) and "skillgauge" in tool


def _obstacles(folder: Path, folders: Sequence[str]) -> Iterator[Problem]:
    """Files where folders are to be, and the reverse."""
    hint = "Move it away, or choose another place with --dir."
    for path in (folder, *(folder / name for name in folders)):
        if os.path.lexists(path) and not path.is_dir():
            yield Problem("init.not-a-folder", f"{str(path)!r} is no folder", hint=hint)
    if (folder / CONFIG).is_dir():
        yield Problem("init.not-a-file", f"{str(folder / CONFIG)!r} is a folder", hint=hint)


def _configuration(folder: Path, settings: Mapping[str, str], foreign: Sequence[str]) -> Iterator[Part]:
    """The file that is there or was made, or those whose place it would take."""
    lines = [f"{key}: {json.dumps(value)}" for key, value in settings.items()]
    note = f"add to it: {', '.join(lines)}" if lines else None
    others = () if os.path.lexists(folder / CONFIG) else configs_in_force(folder, foreign)
    if others:
        hidden = f"{HIDDEN}; {note}" if note else HIDDEN
        yield from (Part(path=name, state=State.EXISTS, note=hidden) for name in others)
        return
    content = files(__package__).joinpath("template", CONFIG).read_bytes()
    if lines:
        content += "\n".join(["", "# The agent that tries skills, and its model.", *lines, ""]).encode()
    try:
        with (folder / CONFIG).open("xb") as file:
            file.write(content)
    except FileExistsError:
        yield Part(path=CONFIG, state=State.EXISTS, note=note)
    else:
        yield Part(path=CONFIG, state=State.CREATED)


def _folder(path: Path) -> State:
    try:
        path.mkdir()
    except FileExistsError:
        return State.EXISTS
    return State.CREATED
