"""The program itself: where it is and which version, found without a session."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from skillgauge.api import Problem, Severity, host_environment
from skillgauge_processes import temporary_folder

_PATIENCE_S = 30.0
_VERSION = re.compile(r"\d+\.\d+\.\d+[0-9A-Za-z.+-]*")


@dataclass(frozen=True)
class AgentProgram:
    """A command-line program, and what an engine knows of it."""

    command: str
    """What it is called in PATH."""
    install: str
    """A command line that installs it."""
    tested: tuple[str, ...] = ()
    """Versions that the engine was tested with; none: every version is as good as another."""


@dataclass(frozen=True)
class Found:
    """A program on this machine."""

    path: str | None
    """Absolute; `None` if it is not there."""
    version: str | None = None
    """`None` if it does not tell."""

    def problems(self, engine: str, program: AgentProgram, wanted: str) -> tuple[Problem, ...]:
        """Report its faults: absent is an error, another version than those tested a warning."""
        option = f"--set engines.{engine}.program=PATH"
        if self.path is None:
            message = f"engine {engine!r} needs the program {wanted!r}, which is not there"
            hint = f"Install it: {program.install} (or name it: {option})."
            return (Problem("engine.no-program", message, hint=hint),)
        if self.version in program.tested or not program.tested:
            return ()
        version = f"version {self.version}" if self.version else "a version that it does not tell"
        message = f"{program.command} has {version}; engine {engine!r} was tested with {', '.join(program.tested)}"
        hint = f"If sessions look wrong, install a tested version: {program.install}"
        return (Problem("engine.untested-version", message, severity=Severity.WARNING, hint=hint),)


def find_program(program: str, arguments: tuple[str, ...] = ("--version",)) -> Found:
    """Look a program up, by name in PATH or by path, and ask for its version, once per process.

    Args:
        program: its name or path.
        arguments: those that make it tell its version.
    """
    path = shutil.which(program, path=host_environment().get("PATH", os.defpath))
    if path is None:
        return Found(None)
    path = str(Path(path).absolute())
    return Found(path, _version(path, arguments, Path(path).stat().st_mtime_ns))


@cache
def _version(path: str, arguments: tuple[str, ...], _changed_ns: int) -> str | None:
    """Return the version that the program tells, in an empty home and without anything of the environment but PATH."""
    with temporary_folder() as home:
        environment = {"PATH": host_environment().get("PATH", os.defpath), "HOME": str(home), "TMPDIR": str(home)}
        try:
            done = subprocess.run(
                [path, *arguments],
                env=environment,
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PATIENCE_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
    match = _VERSION.search(done.stdout.decode("utf-8", "replace"))
    return match[0].rstrip(".") if match else None  # it may end a sentence


def needed_folders(path: str) -> tuple[str, ...]:
    """Return the folders that a sandbox must show for a program to start: its own and that of the file behind it.

    A program that npm installed needs the packages around it, too.
    """
    folders = []
    for place in (Path(path), Path(path).resolve()):
        packages = [folder for folder in place.parents if folder.name == "node_modules"]
        folders.append(str(packages[-1] if packages else place.parent))
    return tuple(dict.fromkeys(folders))


def announced(program: str) -> Mapping[str, tuple[str, ...]]:
    """Return the traits that describe a program, for sandboxes whose images lack it; nothing if it is not there."""
    path = shutil.which(program, path=host_environment().get("PATH", os.defpath))
    if path is None:
        return {}
    path = str(Path(path).absolute())
    return {"program": (path, "--version"), "program_files": _files(Path(path))}


def _files(path: Path) -> tuple[str, ...]:
    """The file that is called and what is behind it; never a folder that an image has, too, or packages of its own."""
    real = path.resolve()
    folders = [folder for folder in real.parents if folder.name == "node_modules"]
    if not folders:
        return tuple(dict.fromkeys((str(path), str(real))))
    parts = real.relative_to(folders[-1]).parts
    package = folders[-1].joinpath(*parts[: 2 if parts[0].startswith("@") else 1])
    needed = package if (package / "node_modules").is_dir() else folders[-1]
    return (str(needed),) if path.is_relative_to(needed) else (str(path), str(needed))


def passed_environment(names: tuple[str, ...]) -> Mapping[str, str]:
    """The variables of these names that are set; where one of them names a proxy, this machine is not behind it."""
    environment = host_environment()
    passed = {name: environment[name] for name in names if name in environment}
    if any(name.lower() in ("http_proxy", "https_proxy", "all_proxy") for name in passed):
        local = [environment.get("NO_PROXY") or environment.get("no_proxy") or "", "127.0.0.1,localhost,::1"]
        passed["NO_PROXY"] = passed["no_proxy"] = ",".join(part for part in local if part)
    return passed
