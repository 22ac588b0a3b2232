"""Workspaces whose processes run in a container."""

from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from skillgauge.api import Command, FileSpec, Finished, LaunchError, Running, SandboxSpec
from skillgauge_processes import DirectoryWorkspace, Launch

from .client import Client
from .container import Container, Mount
from .images import Images
from .inside import ABSENT, END, ENVIRONMENT, MARK, RUN, assignments, limits_of
from .options import DockerOptions


def has_network(spec: SandboxSpec, options: DockerOptions) -> bool:
    """Whether processes of a workspace use a network."""
    return options.network or spec.network


class DockerWorkspace:
    """Folders of this machine, and a container in which they lie at the same place.

    Args:
        spec: what it is for.
        environ: the user's environment.
        options: limits.
        client: what to call.
        images: where images come from.
        tier: sandbox and tier.
    """

    def __init__(
        self,
        spec: SandboxSpec,
        environ: Mapping[str, str],
        options: DockerOptions,
        client: Client,
        images: Images,
        *,
        tier: str,
    ) -> None:
        self._spec = spec
        self._options = options
        self._client = client
        self._images = images
        self._folders = _Folders(spec, environ, tier=tier)
        self._container: Container | None = None

    @property
    def root(self) -> Path:
        """Working directory of its processes."""
        return self._folders.root

    @property
    def home(self) -> Path:
        """Home directory of its processes, empty at first."""
        return self._folders.home

    @property
    def folder(self) -> Path:
        """The folder around it all, of which the container has only parts."""
        return self._folders.folder

    @property
    def tier(self) -> str:
        """Sandbox and tier."""
        return self._folders.tier

    @property
    def routes(self) -> Mapping[str, str]:
        """None: there is no relay."""
        return {}

    async def __aenter__(self) -> Self:
        if not has_network(self._spec, self._options) and (self._spec.routes or self._spec.hosts):
            raise LaunchError(
                "an agent needs its model API, to which a container without network has no way here; choose another "
                "sandbox with --sandbox, or give containers their network: --set sandboxes.docker.network=true"
            )
        await self._folders.__aenter__()
        try:
            files = self._spec.image_files
            image = await self._images.built(files) if files else self._options.image
            network = has_network(self._spec, self._options)
            container = Container(self._client, self._options, image, network=network)
            self._container = self._folders.container = container
            await container.start(self._mounts(), self.root)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, type_: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        leaving = asyncio.ensure_future(self._leave())
        try:
            await asyncio.shield(leaving)
        except asyncio.CancelledError:
            await leaving  # nobody else would do it
            raise

    async def start(self, command: Command) -> Running:
        """Start a process. Raises `LaunchError` if it cannot be started."""
        assert self._container is not None
        mark, token = secrets.token_hex(16), secrets.token_hex(16)
        marked = command.model_copy(update={"env": {**command.env, MARK: mark}})
        self._folders.tokens[mark] = token
        try:
            inner = await self._folders.start(marked)
        except BaseException:
            await asyncio.shield(self._container.end_processes(mark))
            raise
        finally:
            del self._folders.tokens[mark]
        return _Contained(inner, self._container, mark, token, command)

    async def put(self, files: Sequence[FileSpec], *, anew: bool = False) -> Sequence[str]:
        """Write files below the root. Raises `ValueError` for a path that leaves it."""
        return await self._folders.put(files, anew=anew)

    async def snapshot(self) -> Mapping[str, str]:
        """Relative path to digest of every file below the root."""
        return await self._folders.snapshot()

    async def collect(self, path: str, limit: int) -> bytes:
        """Read a file below the root, at most `limit` bytes."""
        return await self._folders.collect(path, limit)

    async def _leave(self) -> None:
        try:
            if self._container is not None:
                await self._container.remove()
        finally:
            await self._folders.__aexit__(None, None, None)

    def _mounts(self) -> list[Mount]:
        spec, options = self._spec, self._options
        own = (self.root, self.home, self._folders.tmp)
        readable = dict.fromkeys((*options.readable, *spec.readable))
        writable = dict.fromkeys((*options.writable, *spec.writable, *map(str, own)))
        return [
            *(Mount(path) for path in readable if path not in writable),
            *(Mount(path, is_writable=True) for path in writable),
        ]


class _Folders(DirectoryWorkspace):
    """The folders, whose every command is carried out by the container."""

    container: Container
    """Set before the first command."""

    def __init__(self, spec: SandboxSpec, environ: Mapping[str, str], *, tier: str) -> None:
        super().__init__(spec, environ, tier=tier)
        self.tokens: dict[str, str] = {}
        """What to say if there is no such program, by the mark of a command that is being started."""

    def wrap(self, command: Command, cwd: Path, env: Mapping[str, str]) -> Launch:
        """Have the container carry it out.

        Raises:
            LaunchError: the working directory is not there, or the environment cannot be passed on.
        """
        if not cwd.is_dir():
            raise LaunchError(f"working directory {str(cwd)!r} is not there; was it removed, or is it misspelt?")
        client, mark = self.container.client, str(command.env[MARK])
        # The search path of this machine is none of the image's, which has its own.
        own = {name: value for name, value in env.items() if name != "PATH" or value != self.env["PATH"]}
        fd = _handed(f"{ENVIRONMENT}={assignments(own)}\n".encode())
        argv = [client.path, "exec", "--interactive", "--workdir", str(cwd), "--env-file", f"/dev/fd/{fd}"]
        argv += [self.container.name, "sh", "-c", RUN, "run", END, self.tokens[mark], mark, limits_of(command)]
        return Launch([*argv, *command.argv], client.environment, (fd,))


class _Contained:
    """A process in a container. What the program that started it cannot end is ended here."""

    def __init__(self, inner: Running, container: Container, mark: str, token: str, command: Command) -> None:
        self._inner = inner
        self._container = container
        self._mark = mark
        self._token = token.encode()
        self._command = command
        self._is_swept = False

    async def wait(self) -> Finished:
        """Wait for its end. Cancelling the caller ends all that came of it."""
        try:
            finished = await self._inner.wait()
        except asyncio.CancelledError:
            await asyncio.shield(self._sweep())
            raise
        if finished.timed_out or finished.signal is not None:
            await self._sweep()
        if finished.exit_code == ABSENT and self._token in finished.stderr:
            raise LaunchError(f"{self._command.argv[0]!r} is not there in the container; use an image that has it")
        return finished

    async def write(self, data: bytes) -> None:
        """Send bytes to an interactive process. Raises `BrokenPipeError` if it no longer reads."""
        await self._inner.write(data)

    def lines(self) -> AsyncIterator[bytes]:
        """Lines of its stdout."""
        return self._inner.lines()

    async def stop(self) -> Finished:
        """End all that came of it and report."""
        finished = await self._inner.stop()
        await self._sweep()
        return finished

    async def _sweep(self) -> None:
        if not self._is_swept:
            self._is_swept = True
            await self._container.end_processes(self._mark)


def _handed(content: bytes) -> int:
    """A file descriptor to read something from that no argument list and no folder should show."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("skillgauge")
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
