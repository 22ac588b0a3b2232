"""The folders that hold the programs of a search path, and the files that those programs need."""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_PROGRAMS = ("bin", "sbin")
_BESIDE_PROGRAMS = ("lib", "libexec")
"""What of a prefix belongs to its programs. The rest, say the `share` of `~/.local`, may hold anything."""
_SHIMS = "shims"
"""Folder of programs that look for the real ones around it, as pyenv, rbenv and asdf have."""
_MODULES = "node_modules"


def tool_paths(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Files and folders outside of the system's own that programs of the search path, and our own Python, consist of.

    Args:
        environ: the user's environment.
    """
    tools = _Tools(environ)
    for entry in environ.get("PATH", os.defpath).split(os.pathsep):
        tools.add_folder(Path(os.path.normpath(entry)))
    if sys.executable:
        tools.add_folder(Path(sys.executable).parent)
    return tuple(sorted(tools.found))


class _Tools:
    """Collects what programs consist of, following links from one installation into another."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.found: set[Path] = set()
        self._seen: set[Path] = set()
        self._homes = [Path(environ["HOME"])] if environ.get("HOME") else []
        with suppress(KeyError):
            self._homes.append(Path(pwd.getpwuid(os.getuid()).pw_dir))

    def add_folder(self, folder: Path) -> None:
        """Take in a folder of programs."""
        if folder in self._seen or not os.path.isdir(folder) or _is_system(folder):  # noqa: PTH112 - false if forbidden
            return
        self._seen.add(folder)
        self.add_folder(folder.resolve())
        prefix = folder.parent
        if folder.name == _SHIMS and self._may_show(prefix):
            self.found.add(prefix)
            return
        if not self._may_show(folder):
            return
        self.found.add(folder)
        if folder.name in _PROGRAMS and prefix not in (*self._homes, Path("/")):
            self._add_beside(prefix)
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_symlink():
                    self._add_program(Path(os.path.realpath(entry.path)))

    def _add_beside(self, prefix: Path) -> None:
        """Take in what the programs of an installation need of it."""
        beside = [prefix / name for name in _BESIDE_PROGRAMS]
        self.found.update(path for path in beside if os.path.isdir(path))  # noqa: PTH112 - false if forbidden
        self._add_python_of(prefix / "pyvenv.cfg")

    def _may_show(self, folder: Path) -> bool:
        """Tell whether a folder holds tools and not, because the search path is odd, half of the machine."""
        deep = len(folder.parts) > 2 or folder.name in _PROGRAMS  # parts[0] is the root
        return folder.is_absolute() and deep and not any(home.is_relative_to(folder) for home in self._homes)

    def _add_program(self, program: Path) -> None:
        """Take in what a link in a folder of programs leads to."""
        is_file = os.path.isfile(program)  # noqa: PTH113 - false if forbidden
        if not is_file or _is_system(program) or any(map(program.is_relative_to, self.found)):
            return
        if program.parent.name in _PROGRAMS:
            self.add_folder(program.parent)
        elif _MODULES in program.parts:
            modules = Path(*program.parts[: program.parts.index(_MODULES) + 1])
            self.found.add(modules if self._may_show(modules) else program)
        else:
            self.found.add(program)

    def _add_python_of(self, settings: Path) -> None:
        """Take in the Python that a virtual environment rests on."""
        with suppress(OSError, UnicodeDecodeError):
            lines = settings.read_text(encoding="utf-8").splitlines()
            self.found.add(settings.parent)
            for line in lines:
                name, _, value = line.partition("=")
                if name.strip() == "home":
                    self.add_folder(Path(value.strip()))


def _is_system(path: Path) -> bool:
    return path.parts[:2] == ("/", "usr") or path.parts[:2] in (("/", "bin"), ("/", "sbin"))
