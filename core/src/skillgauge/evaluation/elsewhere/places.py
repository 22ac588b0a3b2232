"""Paths of an evaluation as a recipe names them, and in the place of whoever follows it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...environment import host_environment
from ...plan.options import What

if TYPE_CHECKING:
    from ..invocation import Invocation


def user_cache() -> Path | None:
    """The folder of this program among the user's caches; `None` without a home."""
    environ = host_environment()
    if place := environ.get("XDG_CACHE_HOME"):
        return Path(place).absolute() / "skillgauge"
    if home := environ.get("HOME"):
        return Path(home) / ".cache/skillgauge"
    return None


def cache_folder(call: Invocation) -> Path | None:
    """Return the configured folder, else `skillgauge` in the user's folder for caches; `None` without a home."""
    if named := call.config.get("cacheDir"):
        return call.cwd / Path(named).expanduser()
    return user_cache()


class Place:
    """The folder that paths of a recipe are relative to.

    Args:
        cwd: that folder.
        home: below it are paths that begin with `~/`; `None` is the user's.
    """

    def __init__(self, cwd: Path, home: Path | None = None) -> None:
        self.cwd = cwd
        self._home = str(home) if home else host_environment().get("HOME")

    def short(self, path: Path) -> str:
        """A path as a recipe names it."""
        whole = Path(os.path.abspath(self.cwd / path))  # noqa: PTH100 - links stay as the user named them
        if whole.is_relative_to(self.cwd) or not (self._home and whole.is_relative_to(self._home)):
            return Path(os.path.relpath(whole, self.cwd)).as_posix()
        return f"~/{whole.relative_to(self._home).as_posix()}"

    def long(self, path: str | Path) -> Path:
        """The same path in this place."""
        text = str(path)
        if text == "~" or text.startswith("~/"):
            return Path(self._home or "/", text[2:])
        return Path(os.path.normpath(self.cwd / text))

    def shortened(self, asked: Any) -> Any:
        """The same wishes with short paths."""
        return self._changed(asked, lambda path: Path(self.short(path)))

    def lengthened(self, asked: Any) -> Any:
        """The same wishes with paths of this place."""
        return self._changed(asked, self.long)

    def _changed(self, asked: Any, change: Callable[[Path], Path]) -> Any:
        if isinstance(asked, What):
            format_paths = {name: tuple(map(change, paths)) for name, paths in asked.format_paths.items()}
            return replace(asked, paths=tuple(map(change, asked.paths)), format_paths=format_paths)
        folders = {name: getattr(asked, name) for name in ("cache", "record", "replay")}
        return replace(asked, **{name: change(folder) for name, folder in folders.items() if folder})
