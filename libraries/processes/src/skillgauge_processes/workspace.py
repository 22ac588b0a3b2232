"""Workspaces made of folders: what sandboxes for processes on this machine have in common.

A sandbox plugin derives from `DirectoryWorkspace` and overrides `wrap`. Whatever it adds, the environment is built
from an allow list, every process ends with the workspace, and files go in and out without following links.
"""

from __future__ import annotations

import asyncio
import math
import os
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from skillgauge.api import (
    ALLOWED_ENV,
    Command,
    FileSpec,
    LaunchError,
    NoRoomError,
    PackedFile,
    SandboxSpec,
    SpoiledError,
    get_logger,
)
from skillgauge_documents.immutables import immutable

from . import disk, held
from ._belongings import Belongings, belongings, release
from ._environment import strings, with_python
from ._fresh import FreshHomes
from ._left import packed, packed_in_memory
from ._removing import removed
from ._tree import (
    BYTES_AT_ONCE,
    FILES_AT_ONCE,
    Manifest,
    is_little,
    lay_anew,
    put_all,
    read_below,
    write_all,
)
from .concealing import conceal
from .disk import DiskLimit
from .running import MARKER, Process, start, stop_all
from .starting import Starter
from .unwritten import Unwritten

_log = get_logger(__name__)

_ALLOWED_ON_WINDOWS = ("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT")


@immutable
class Launch:
    """The program that is executed for a command."""

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

    The folders are made when somebody asks for one of them, starts a process, or does what only a disk can answer.
    Until then files are kept in memory, so that a session which needs no folder has none.

    Args:
        spec: what it is for.
        environ: the user's environment, of which only an allow list gets through.
        tier: sandbox and tier, for example `local/none`.
        limit: most that it may hold; default: what the disk has room for.

    Raises:
        ValueError: a variable of the specification is not a string.
    """

    def __init__(
        self, spec: SandboxSpec, environ: Mapping[str, str], *, tier: str, limit: DiskLimit | None = None
    ) -> None:
        self.spec = spec
        self._environ = environ
        self._tier = tier
        self._parent = Path()
        self._folder: Path | None = None
        self._work = Path()
        self._unwritten: Unwritten | None = None
        """Its files, for as long as it is open and its folders are not made."""
        self._making = threading.Lock()
        self._belongings: Belongings | None = None
        self._given: set[str] = set()
        self._limit = limit
        self._watches: list[asyncio.Task[None]] = []
        self._excess = ""
        self._first_start_s = math.inf
        """When its first process was started, by the monotonic clock."""
        self._ended_because = ""
        self._fresh = FreshHomes(removed)
        self._has_home = False
        self._env: Mapping[str, str] = {}
        self._own_env = strings(spec.env)
        # A thread holds every process that runs, so those that can be forgotten here have ended.
        self._processes: weakref.WeakSet[Process] = weakref.WeakSet()

    @property
    def folder(self) -> Path:
        """The folder around it all, mode 0700; what `keep` leaves behind.

        Raises:
            OSError: it is not made yet, and cannot be.
        """
        return self._require_folders()

    @property
    def has_folders(self) -> bool:
        """False until it has folders, so that no text can name one; see `skillgauge_recordings.places`."""
        return self._folder is not None

    @property
    def root(self) -> Path:
        """Working directory of its processes."""
        self._require_folders()
        return self._work

    @property
    def home(self) -> Path:
        """Home directory of its processes, empty at first."""
        return self._require_home() / "home"

    @property
    def tmp(self) -> Path:
        """The folder for its processes' temporary files."""
        return self._require_home() / "tmp"

    @property
    def fresh_homes(self) -> Path:
        """The folder in which homes of commands that share nothing with others are made."""
        return self.folder

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
        self._require_home()  # which its variables name
        return MappingProxyType(dict(self._env))

    def wrap(self, command: Command, cwd: Path, env: Mapping[str, str]) -> Launch:
        """Return the program to execute for a command; a sandbox puts its own program in front.

        Args:
            command: what was asked for.
            cwd: its absolute working directory; the program in front starts in it, too.
            env: its whole environment.

        Raises:
            LaunchError: the sandbox cannot run it.
        """
        return Launch(command.argv, env)

    def excess(self) -> str:
        """Return what its processes use too much of, and what to do; empty if nothing.

        Called in a thread, several times a second for as long as it is open.
        """
        if self._limit is None:
            return ""
        return self._limit.exceeded(self.folder, held.descendants(self.pids()))

    async def __aenter__(self) -> Self:
        tmpdir = self._environ.get("TMPDIR", "")
        self._parent = Path(tmpdir if tmpdir and os.path.isdir(tmpdir) else tempfile.gettempdir())  # noqa: PTH112
        if lack := disk.lack_of_room(self._parent, self.spec.room_mb):
            raise NoRoomError(lack)
        self._env = {**self._base_env(), **self._own_env}
        self._unwritten = Unwritten()
        if self.spec.keep:
            self._require_home()
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for watch in self._watches:
            watch.cancel()
        folder, self._folder, self._unwritten = self._folder, None, None
        if self._belongings is None:
            return
        try:
            await stop_all(list(self._processes))
        finally:
            if folder is None:  # there was no room for it
                pass
            elif self.spec.keep:
                for path in await asyncio.to_thread(conceal, folder, self.spec.conceal):
                    _log.warning("workspace.not-cleaned", path=path, label=self.spec.label)
                self._belongings.keep(folder)
                # The level is that which shows without --verbose: whoever keeps a folder wants to know where it is.
                _log.warning("workspace.kept", path=str(folder), label=self.spec.label)
            elif not await removed(folder):
                _log.warning("workspace.not-removed", path=str(folder), label=self.spec.label)
            release(self._belongings)

    async def start(self, command: Command) -> Process:
        """Start a process. Raises `LaunchError` if it cannot be started."""
        try:
            root, fresh = self.root, None
            if command.fresh:
                fresh = await self._fresh.take(self.fresh_homes, self._env.get("PATH", ""))
            else:
                self._require_home()
        except (OSError, RuntimeError) as error:
            raise LaunchError(str(error)) from error
        try:
            env = {**self._env, **(fresh.env if fresh else {}), **strings(command.env)}
            cwd = root / (command.cwd or "")
        except ValueError as error:
            raise LaunchError(str(error)) from error
        launch = self.wrap(command, cwd, env)
        look_for_room = partial(disk.note_room, self._parent)
        if not self._watches:
            self._first_start_s = time.monotonic()
            self._watches = [
                asyncio.create_task(disk.watch_room(look_for_room)),
                asyncio.create_task(disk.watch(self._is_to_end, self._end_for_excess)),
            ]
        try:
            process = await start(
                command,
                argv=launch.argv,
                cwd=str(cwd),
                env=launch.env,
                fds=launch.fds,
                starter=launch.starter,
                on_output=look_for_room,
            )
        finally:
            for fd in launch.fds:
                os.close(fd)
        self._processes.add(process)
        if fresh:
            self._fresh.lend(fresh, process)
        if self._folder is None:
            await process.stop()
            raise LaunchError("the workspace was closed meanwhile")
        return process

    def pids(self) -> list[int]:
        """Its processes that have not ended, without what comes from them; callable from any thread."""
        return [one.pid for one in self._processes.copy() if not one.has_ended and one.pid > 0]

    async def end_processes(self, reason: str) -> None:
        """Kill every process, each of which tells the reason at the end of its stderr, and `snapshot` does later."""
        self._ended_because = reason
        running = list(self._processes)
        for process in running:
            process.condemn(reason)
        await stop_all(running)

    async def put(self, files: Sequence[FileSpec], *, anew: bool = False) -> tuple[str, ...]:
        """Write files below the root, each at once or not at all.

        Args:
            files: see there.
            anew: an agent was at work: folders of these files alone are emptied first, and what is in the way is set
                aside, which the answer tells.

        Raises:
            ValueError: a path leaves the root, by itself or through a link; nothing of that file is written.
            SpoiledError: what an agent left cannot be set aside.
        """
        if self._unwritten is not None and self._unwritten.take(files):
            if not anew:
                self._given.update(file.path for file in files)
            return ()
        if anew:
            names, aside = frozenset(self._given), self.folder / "aside"
            return await asyncio.to_thread(lay_anew, self.root, files, names, aside)
        self._given.update(file.path for file in files)
        if is_little(files):
            put_all(self.root, files)
        else:
            await asyncio.to_thread(put_all, self.root, files)
        return ()

    async def snapshot(self) -> Mapping[str, str]:
        """Relative path to SHA-256 of every file below the root; of a link, of its text; of a huge file, its size.

        Raises:
            SpoiledError: there is more than can be listed, or than the workspace may hold.
            NoRoomError: the disk is full, or has been since its first process was started.
        """
        if self._ended_because:
            raise SpoiledError(self._ended_because)
        if self._unwritten is not None:
            return dict(self._unwritten.digests())
        if lack := disk.lack_since(self._parent, self._first_start_s):
            raise NoRoomError(lack)
        manifest = Manifest(self.root)
        if not manifest.read(files=FILES_AT_ONCE, size=BYTES_AT_ONCE):
            await asyncio.to_thread(manifest.read)
        return manifest.digests

    async def collect(self, path: str, limit: int) -> bytes:
        """Read a file below the root, at most `limit` bytes.

        Raises:
            ValueError: the path leaves the root, by itself or through a link.
            OSError: it cannot be read, or is not a regular file.
        """
        if self._unwritten is not None and (content := self._unwritten.read(path)) is not None:
            return content[:limit]
        return await asyncio.to_thread(read_below, self.root, path, limit)

    async def packed(self, limit: int) -> tuple[PackedFile, ...]:
        """See `PackingWorkspace.packed`."""
        if self._unwritten is not None:
            return packed_in_memory(self._unwritten.files())
        return await asyncio.to_thread(packed, self.root, limit)

    def _require_folders(self) -> Path:
        """Return the folder around it all, made if it was not.

        Raises:
            OSError: it cannot be made; the next call tries again.
        """
        with self._making:
            if self._unwritten is not None:
                self._make(self._unwritten)
                self._unwritten = None
        if self._folder is None:
            raise RuntimeError("the workspace is not open")
        return self._folder

    def _make(self, unwritten: Unwritten) -> None:
        if self._folder is None:
            self._belongings = self._belongings or belongings(self._parent)
            # The label is not part of the name: an agent sees that, and the id of a case can give its answer away.
            self._folder = Path(tempfile.mkdtemp(prefix="w", dir=self._belongings.folder))
        self._work = self._folder / "work"
        self._work.mkdir(mode=0o700, exist_ok=True)
        write_all(self._work, unwritten.files())
        env = {"HOME": str(self._folder / "home"), "TMPDIR": str(self._folder / "tmp")}
        if os.name == "nt":
            env |= {"USERPROFILE": env["HOME"], "TEMP": env["TMPDIR"], "TMP": env["TMPDIR"]}
        self._env = {**env, **self._env}

    def _require_home(self) -> Path:
        """Return the folder around it all, with a home and a place for temporary files in it.

        Raises:
            OSError: they cannot be made; the next call tries again.
        """
        folder = self._require_folders()
        with self._making:
            if not self._has_home:
                for name in ("home", "tmp"):
                    (folder / name).mkdir(mode=0o700, exist_ok=True)
                self._has_home = True
        return folder

    def _is_to_end(self) -> bool:
        """Find out what there is too much of; called in a thread."""
        self._excess = self.excess()
        return bool(self._excess)

    async def _end_for_excess(self) -> None:
        await self.end_processes(self._excess)

    def _base_env(self) -> dict[str, str]:
        names = (*ALLOWED_ENV, MARKER, *(_ALLOWED_ON_WINDOWS if os.name == "nt" else ()))
        env = {name: self._environ[name] for name in names if name in self._environ}
        env["PATH"] = with_python(env.get("PATH", os.defpath))
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        env["PYTHONUNBUFFERED"] = "1"
        env["SKILLGAUGE_CHILD_SANDBOX"] = self._tier
        return env | {name: self._environ[name] for name in self.spec.pass_env if name in self._environ}
