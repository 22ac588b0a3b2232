"""Workspaces whose processes run in a container."""

from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from skillgauge.api import Command, FileSpec, LaunchError, Running, SandboxSpec, Usage
from skillgauge_processes import DirectoryWorkspace, Launch, disk

from .client import Client
from .contained import Contained
from .container import Container, Mount
from .images import Image, Images
from .inside import END, ENVIRONMENT, MARK, RUN, assignments, limits_of
from .letting_in import MIB, let_in, make_relay
from .options import DockerOptions

if TYPE_CHECKING:
    from skillgauge_model_relay import Relay


def has_network(spec: SandboxSpec, options: DockerOptions) -> bool:
    """Tell whether processes of a workspace use a network."""
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
        self._relay: Relay | None = None
        self._image = Image("")
        self._watch: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()

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
        """Address of each route inside, unless the network is on."""
        return self._relay.addresses if self._relay is not None else {}

    @property
    def relayed(self) -> Usage | None:
        """Tokens that its relay has seen; see `skillgauge_agent_programs.spending`."""
        return self._relay.used if self._relay is not None else None

    @property
    def broken_off(self) -> int:
        """Answers that its relay did not see to their end; see `skillgauge_agent_programs.spending`."""
        return self._relay.broken_off if self._relay is not None else 0

    @property
    def pause(self) -> tuple[int, float] | None:
        """HTTP status and seconds of the pause that a model API asks for; see `skillgauge_agent_programs.failures`."""
        return self._relay.pause if self._relay is not None else None

    async def __aenter__(self) -> Self:
        await self._folders.__aenter__()
        try:
            files = self._spec.image_files
            if files:
                self._image = await self._images.built(files, untrusted=self._spec.untrusted)
            else:
                self._image = await self._images.fetched(self._options.image)
            self._container = self._folders.container = self._new_container()
            mounts = self._mounts(self.root, self.home, self._folders.tmp)
            mounts += [Mount(path) for path in self._spec.program_files if path not in {one.path for one in mounts}]
            if self._has_network or not (self._spec.routes or self._spec.hosts):
                await self._container.start(mounts, self.root)
            else:
                self._relay = make_relay(self._spec, self._options)
                (place := self.folder / "relay").mkdir(mode=0o700)
                await self._container.start([*mounts, Mount(str(place))], self.root)
                await let_in(self._relay, place, partial(self._start, self._container), self._image.name)
                self._container.adopt()
                self._folders.add_environment(self._relay.environment)
            self._watch = asyncio.create_task(disk.watch(self._holds_too_much, self._end_for_holding))
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
        container = await self._container_of_graders() if command.fresh else self._container
        assert container is not None
        await container.begin_command()
        try:
            return await self._start(container, command, ended=container.end_command)
        except BaseException:
            await asyncio.shield(container.end_command())
            raise

    async def _start(
        self, container: Container, command: Command, *, ended: Callable[[], Awaitable[None]] | None = None
    ) -> Running:
        mark, token = secrets.token_hex(16), secrets.token_hex(16)
        marked = command.model_copy(update={"env": {**command.env, MARK: mark}})
        self._folders.tokens[mark] = token
        try:
            inner = await self._folders.start(marked)
        except BaseException:
            await asyncio.shield(container.end_processes(mark))
            raise
        finally:
            del self._folders.tokens[mark]
        return Contained(inner, container, mark, token, command, ended)

    async def put(self, files: Sequence[FileSpec], *, anew: bool = False) -> Sequence[str]:
        """Write files below the root. Raises `ValueError` for a path that leaves it."""
        return await self._folders.put(files, anew=anew)

    async def snapshot(self) -> Mapping[str, str]:
        """Relative path to digest of every file below the root."""
        return await self._folders.snapshot()

    async def collect(self, path: str, limit: int) -> bytes:
        """Read a file below the root, at most `limit` bytes."""
        return await self._folders.collect(path, limit)

    async def _container_of_graders(self) -> Container:
        """One that shares nothing with the other but the root: not its processes, and not its `/tmp`."""
        async with self._starting:
            if self._folders.graders is None:
                (place := self._folders.fresh_homes).mkdir(mode=0o700, exist_ok=True)
                graders = self._new_container()
                await graders.start(self._mounts(self.root, place), self.root)
                self._folders.graders = graders
            return self._folders.graders

    @property
    def _has_network(self) -> bool:
        return has_network(self._spec, self._options)

    def _new_container(self) -> Container:
        return Container(self._client, self._options, self._image, self.folder, network=self._has_network)

    def _containers(self) -> list[Container]:
        return [one for one in (self._folders.graders, self._container) if one is not None]

    def _holds_too_much(self) -> bool:
        """Find out whether there is too much on disk; called in a thread."""
        pids = [pid for container in self._containers() for pid in container.pids()]
        return disk.holds_more([self.folder], pids, self._options.disk_mb * MIB)

    async def _end_for_holding(self) -> None:
        advice = "write less, or raise plugins.sandboxes.docker.disk_mb"
        await self._folders.end_processes(f"the workspace holds more than {self._options.disk_mb} MiB; {advice}")
        for container in self._containers():
            await container.end_all()

    async def _leave(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        try:
            for container in self._containers():
                await container.remove()
        finally:
            try:
                await self._folders.__aexit__(None, None, None)
            finally:
                if self._relay is not None:
                    await self._relay.__aexit__(None, None, None)

    def _mounts(self, *own: Path) -> list[Mount]:
        spec, options = self._spec, self._options
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
    graders: Container | None = None
    """Of commands that share nothing with the others; made for the first of them."""

    def __init__(self, spec: SandboxSpec, environ: Mapping[str, str], *, tier: str) -> None:
        super().__init__(spec, environ, tier=tier)
        self.tokens: dict[str, str] = {}
        """What to say if there is no such program, by the mark of a command that is being started."""

    @property
    def fresh_homes(self) -> Path:
        """See `DirectoryWorkspace`; a container shows a folder that is there when it starts, and what comes into it."""
        return self.folder / "fresh"

    def wrap(self, command: Command, cwd: Path, env: Mapping[str, str]) -> Launch:
        """Have the container carry it out.

        Raises:
            LaunchError: the working directory is not there, or the environment cannot be passed on.
        """
        if not cwd.is_dir():
            raise LaunchError(f"working directory {str(cwd)!r} is not there; was it removed, or is it misspelt?")
        container = self.graders if command.fresh and self.graders else self.container
        client, mark = container.client, str(command.env[MARK])
        # The search path of this machine is none of the image's, which has its own.
        own = {name: value for name, value in env.items() if name != "PATH" or "PATH" in command.env}
        fd = _handed(f"{ENVIRONMENT}={assignments(own)}\n".encode())
        argv = [client.path, "exec", "--interactive", "--workdir", str(cwd), "--env-file", f"/dev/fd/{fd}"]
        argv += [container.name, "sh", "-c", RUN, "run", END, self.tokens[mark], mark, limits_of(command)]
        return Launch([*argv, *command.argv], client.environment, (fd,))

    def add_environment(self, env: Mapping[str, str]) -> None:
        """Have every further process see some variables."""
        self._env = {**self._env, **env}


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
