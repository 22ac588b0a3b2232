"""The things in an agent's folder that would keep a program busy for ever."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from skillgauge.api import SpoiledError

from ._tree import LARGEST_READ, Manifest, quoted


def obstacles(root: Path) -> str:
    """Return the things in an agent's folder that keep a program from its end that reads it, in plain words.

    Pipes that nobody writes to, devices, links that leave the folder, files of which there is no end.
    """
    obstacles_: list[str] = []
    try:
        for path, status in Manifest(root).entries():
            if obstacle := _obstacle(path, status, root):
                obstacles_.append(f"{quoted(path[len(str(root)) + 1 :])} is {obstacle}")
            if len(obstacles_) >= 3:
                break
    except SpoiledError as error:
        obstacles_.append(str(error))
    return "; ".join(obstacles_)


def _obstacle(path: str, status: os.stat_result, root: Path) -> str | None:
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        return None if Path(os.path.realpath(path)).is_relative_to(root) else "a link to elsewhere"
    if not stat.S_ISREG(mode):
        return "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    return f"a file of {status.st_size} bytes" if status.st_size > LARGEST_READ else None
