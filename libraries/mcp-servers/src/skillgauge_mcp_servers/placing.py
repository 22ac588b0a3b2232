"""Stand-ins in the private home of a session: put there before it, read after it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from skillgauge.api import canonical_json

from .names import plain_name

_PROGRAM = Path(__file__).with_name("stand_in.py")
_FOLDER, _LOG = "servers", "log.jsonl"


def native_of(name: str, stand_in: Mapping[str, Any], home: Path, files: Path) -> dict[str, Any]:
    """Put a stand-in into a home; return the command that starts it, as of a server like any other.

    Args:
        name: name of the server.
        stand_in: its tools and answers.
        home: the private home of the session.
        files: folder with the files of all installs.

    Raises:
        OSError: it cannot be written.
    """
    folder = home / _FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    program = folder / _PROGRAM.name
    if not program.exists():
        shutil.copyfile(_PROGRAM, program)
    place = folder / f"{plain_name(name)}.json"
    specification = {
        "name": name,
        "log": str(folder / _LOG),
        "folder": str(files),
        "tools": stand_in["tools"],
        "answers": stand_in["answers"],
    }
    place.write_text(canonical_json(specification), encoding="utf-8")
    return {"command": "python3", "args": ["-I", str(program), str(place)]}


def calls_in(home: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the calls that stand-ins of a session wrote down, in order."""
    log = home / _FOLDER / _LOG
    if not log.is_file() or log.is_symlink():
        return
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            call = json.loads(line)
        except ValueError:
            continue
        if isinstance(call, dict):
            yield call
