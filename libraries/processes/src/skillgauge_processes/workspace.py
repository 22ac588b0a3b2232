"""Workspaces made of folders: what sandboxes for processes on this machine have in common.

A sandbox plugin derives from `DirectoryWorkspace` and overrides `wrap`. Whatever it adds, the environment is built
from an allow list, every process ends with the workspace, and files go in and out without following links.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import math
import os
import secrets
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from skillgauge.api import ALLOWED_ENV, Command, FileSpec, JsonValue, LaunchError, SandboxSpec, get_logger

from .concealing import conceal
from .running import MARKER, Process, Starter, start, stop_all

_log = get_logger(__name__)

_ALLOWED_ON_WINDOWS = ("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT")
FILES_AT_ONCE = 64
BYTES_AT_ONCE = 1024 * 1024
"""What of a workspace's files is written or read at once; more is left to a thread, so that nobody else is held up.
To hand work to a thread and back costs more than a few small files do, and slows every other thread down."""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True)
class Launch:
    """What is executed for a command."""

    argv: Sequence[str]
    env: Mapping[str, str]
    """Its whole environment. A program in front of an untrusted command must not get the command's own: a variable
    such as `LD_PRELOAD` would reach it outside of what it confines."""
    fds: tuple[int, ...] = ()
    """File descriptors that it inherits under their numbers; closed here afterwards, whatever comes of it."""
    starter: Starter | None = None
    """Starts it, in a thread, where executing `argv` is not the way; it takes care of `env` and `fds` itself."""


class DirectoryWorkspace:
    """A fresh folder with a root, a home and a place for temporary files, removed when the context ends.

    Args:
        spec: what it is for.
        environ: the user's environment, of which only an allow list gets through.
        tier: sandbox and tier, for example `local/none`.

    Raises:
        ValueError: a variable of the specification is not a string.
    """

    def __init__(self, spec: SandboxSpec, environ: Mapping[str, str], *, tier: str) -> None:
        self.spec = spec
        self._environ = environ
        self._tier = tier
        self._folder: Path | None = None
        self._env: Mapping[str, str] = {}
        self._own_env = _strings(spec.env)
        # A thread holds every process that runs, so those that can be forgotten here have ended.
        self._processes: weakref.WeakSet[Process] = weakref.WeakSet()

    @property
    def folder(self) -> Path:
        """The folder around it all, mode 0700; what `keep` leaves behind."""
        if self._folder is None:
            raise RuntimeError("the workspace is not open")
        return self._folder

    @property
    def root(self) -> Path:
        """Working directory of its processes."""
        return self.folder / "work"

    @property
    def home(self) -> Path:
        """Home directory of its processes, empty at first."""
        return self.folder / "home"

    @property
    def tmp(self) -> Path:
        """Where its processes put temporary files."""
        return self.folder / "tmp"

    @property
    def tier(self) -> str:
        """Sandbox and tier."""
        return self._tier

    @property
    def routes(self) -> Mapping[str, str]:
        """None, unless a sandbox that confines the network gives some."""
        return {}

    @property
    def env(self) -> Mapping[str, str]:
        """Environment of its processes, before a command adds its own variables."""
        return MappingProxyType(dict(self._env))

    def wrap(self, command: Command, cwd: Path, env: Mapping[str, str]) -> Launch:
        """What to execute for a command; a sandbox puts its own program in front.

        Args:
            command: what was asked for.
            cwd: its absolute working directory; the program in front starts in it, too.
            env: its whole environment.

        Raises:
            LaunchError: the sandbox cannot run it.
        """
        return Launch(command.argv, env)

    async def __aenter__(self) -> Self:
        tmpdir = self._environ.get("TMPDIR", "")
        # The label is not part of the name: an agent sees that, and the id of a case can give its answer away.
        folder = tempfile.mkdtemp(prefix="skillgauge-", dir=tmpdir if tmpdir and Path(tmpdir).is_dir() else None)
        self._folder = Path(folder).resolve()
        for part in (self.root, self.home, self.tmp):
            part.mkdir(mode=0o700)
        self._env = {**self._base_env(), **self._own_env}
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        folder, self._folder = self.folder, None
        try:
            await stop_all(list(self._processes))
        finally:
            if self.spec.keep:
                for path in await asyncio.to_thread(conceal, folder, self.spec.conceal):
                    _log.warning("workspace.not-cleaned", path=path, label=self.spec.label)
                # The level is that which shows without --verbose: whoever keeps a folder wants to know where it is.
                _log.warning("workspace.kept", path=str(folder), label=self.spec.label)
            elif not await asyncio.to_thread(_remove, folder):
                _log.warning("workspace.not-removed", path=str(folder), label=self.spec.label)

    async def start(self, command: Command) -> Process:
        """Start a process. Raises `LaunchError` if it cannot be started."""
        try:
            env = {**self._env, **_strings(command.env)}
            cwd = self.root / (command.cwd or "")
        except (ValueError, RuntimeError) as error:
            raise LaunchError(str(error)) from error
        launch = self.wrap(command, cwd, env)
        try:
            process = await start(
                command,
                argv=launch.argv,
                cwd=str(cwd),
                env=launch.env,
                fds=launch.fds,
                starter=launch.starter,
            )
        finally:
            for fd in launch.fds:
                os.close(fd)
        self._processes.add(process)
        if self._folder is None:
            await process.stop()
            raise LaunchError("the workspace was closed meanwhile")
        return process

    async def end_processes(self, reason: str) -> None:
        """Kill every process, each of which tells the reason at the end of its stderr."""
        running = list(self._processes)
        for process in running:
            process.condemn(reason)
        await stop_all(running)

    async def put(self, files: Sequence[FileSpec]) -> None:
        """Write files below the root, each at once or not at all.

        Raises:
            ValueError: a path leaves the root, by itself or through a link; nothing of that file is written.
        """
        if _is_little(files):
            _put_all(self.root, files)
        else:
            await asyncio.to_thread(_put_all, self.root, files)

    async def snapshot(self) -> Mapping[str, str]:
        """Relative path to SHA-256 of every file below the root; of a link, of its text."""
        manifest = _Manifest(self.root)
        if not manifest.read(files=FILES_AT_ONCE, size=BYTES_AT_ONCE):
            await asyncio.to_thread(manifest.read)
        return manifest.digests

    async def collect(self, path: str, limit: int) -> bytes:
        """Read a file below the root, at most `limit` bytes.

        Raises:
            ValueError: the path leaves the root, by itself or through a link.
            OSError: it cannot be read, or is not a regular file.
        """
        return await asyncio.to_thread(_collect, self.root, path, limit)

    def _base_env(self) -> dict[str, str]:
        names = (*ALLOWED_ENV, MARKER, *(_ALLOWED_ON_WINDOWS if os.name == "nt" else ()))
        env = {name: self._environ[name] for name in names if name in self._environ}
        env["PATH"] = _with_python(env.get("PATH", os.defpath))
        env["HOME"] = str(self.home)
        env["TMPDIR"] = str(self.tmp)
        if os.name == "nt":
            env |= {"USERPROFILE": env["HOME"], "TEMP": env["TMPDIR"], "TMP": env["TMPDIR"]}
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        env["PYTHONUNBUFFERED"] = "1"
        env["SKILLGAUGE_CHILD_SANDBOX"] = self._tier
        return env | {name: self._environ[name] for name in self.spec.pass_env if name in self._environ}


def _strings(env: Mapping[str, JsonValue]) -> dict[str, str]:
    for name, value in env.items():
        if not isinstance(value, str):
            raise ValueError(f"environment variable {name} must be a string, not {value!r}; quote it")
    return {name: value for name, value in env.items() if isinstance(value, str)}


@cache
def _with_python(path: str) -> str:
    """The search path, at its end with our own interpreter's folder where `python` or `python3` is missing."""
    if not sys.executable or all(shutil.which(name, path=path) for name in ("python3", "python")):
        return path
    return f"{path}{os.pathsep}{Path(sys.executable).parent}"


def _put_all(root: Path, files: Sequence[FileSpec]) -> None:
    for file in files:
        _put(root, file)


def _put(root: Path, file: FileSpec) -> None:
    """Write one file. Folders are opened one inside the other, so no link is followed, however late it appears."""
    *folders, name = [part for part in file.path.split("/") if part != "."] or [""]
    if file.path.startswith("/") or {"", ".."} & {*folders, name}:
        raise ValueError(f"path {file.path!r} does not stay inside the workspace")
    fd = os.open(root, _FOLDER)
    try:
        for folder in folders:
            with suppress(FileExistsError):
                os.mkdir(folder, dir_fd=fd)
            try:
                inner = os.open(folder, _FOLDER, dir_fd=fd)
            except OSError as error:
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
                raise ValueError(f"path {file.path!r} crosses a link or a file at {folder!r}") from error
            os.close(fd)
            fd = inner
        _replace(fd, name, file)
    finally:
        os.close(fd)


def _replace(folder: int, name: str, file: FileSpec) -> None:
    temporary = f".skillgauge-{secrets.token_hex(8)}"
    target = os.open(temporary, _CREATE, 0o755 if file.executable else 0o644, dir_fd=folder)
    try:
        with os.fdopen(target, "wb") as sink:
            if file.source is None:
                sink.write((file.text or "").encode())
            else:
                with Path(file.source).open("rb") as source:
                    shutil.copyfileobj(source, sink)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise


def _is_little(files: Sequence[FileSpec]) -> bool:
    """Whether writing takes less time than handing it to a thread."""
    if len(files) > FILES_AT_ONCE:
        return False
    try:
        sizes = [len(file.text or "") if file.source is None else os.stat(file.source).st_size for file in files]  # noqa: PTH116 - of each session
    except OSError:
        return False
    return sum(sizes) <= BYTES_AT_ONCE


class _Manifest:
    """The digests of all files below a folder, read in one piece or in several."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._found = self._entries()
        self._digests: dict[str, str] = {}

    @property
    def digests(self) -> dict[str, str]:
        """Relative path to digest, of what was read, sorted."""
        return dict(sorted(self._digests.items()))

    def read(self, files: float = math.inf, size: float = math.inf) -> bool:
        """Read on; tells whether all was read, or else as many entries or bytes as are given here."""
        for path, status in self._found:
            with suppress(FileNotFoundError):  # removed meanwhile
                if entry := _content_digest(path, status.st_mode):
                    # A name that is not UTF-8 must not spoil the JSON that this ends up in.
                    key = os.fsencode(path.relative_to(self._root).as_posix()).decode(errors="backslashreplace")
                    self._digests[key] = entry
            files, size = files - 1, size - status.st_size
            if files <= 0 or size <= 0:
                return False
        return True

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        for folder, folders, files in os.walk(self._root):
            for name in (*files, *folders):
                path = Path(folder, name)
                with suppress(FileNotFoundError):
                    yield path, path.lstat()


def _content_digest(path: Path, mode: int) -> str | None:
    """Digest of a file's content or a link's text; `None` for what is neither."""
    if stat.S_ISLNK(mode):
        return hashlib.sha256(b"link:" + os.fsencode(path.readlink())).hexdigest()
    if not stat.S_ISREG(mode):
        return None
    try:
        with open(path, "rb", opener=_open_plain) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError:
        return "unreadable"


def _open_plain(path: str, _flags: int) -> int:
    return os.open(path, _READ)


def _collect(root: Path, path: str, limit: int) -> bytes:
    resolved = Path(os.path.realpath(root / path))
    if not resolved.is_relative_to(root):
        raise ValueError(f"path {path!r} does not stay inside the workspace")
    with open(resolved, "rb", opener=_open_plain) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path!r} is not a regular file")
        return file.read(limit)


def _remove(folder: Path) -> bool:
    """Remove a folder, also from below folders that forbid it; tells whether it is gone."""
    for _ in range(3):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return True
        with suppress(OSError):
            folder.chmod(0o700)
        for path, names, _files in os.walk(folder):
            for inner in [Path(path, name) for name in names]:
                if not inner.is_symlink():
                    with suppress(OSError):
                        inner.chmod(0o700)
    return False
