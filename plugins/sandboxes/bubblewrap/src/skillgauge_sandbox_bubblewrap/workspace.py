"""Workspaces whose every process runs in namespaces of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from skillgauge.api import Command, LaunchError, SandboxSpec
from skillgauge_processes import DirectoryWorkspace, Launch

from . import disk
from .cgroups import Group, Place, make_group
from .limits import counting, in_front, is_loading, joining, limiting
from .mounts import MIB, Bind, bind_arguments, kernel_arguments, system_arguments, write_etc
from .options import BubblewrapOptions
from .programs import require_startable
from .seccomp import filter_program

if TYPE_CHECKING:
    from skillgauge_model_relay import Relay

USER = 1000
"""What root appears as within: programs behave otherwise as root, and some refuse to run."""
_OUTSIDE_ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
"""Environment of what runs before the sandbox is there. Nothing of the command's own may be in it."""
_NAMESPACES = ("user", "pid", "ipc", "uts")


@dataclass(frozen=True)
class Host:
    """What was found out about the machine, once for all workspaces of a sandbox."""

    bwrap: str
    tools: tuple[Path, ...]
    groups: tuple[Place, ...]


class BubblewrapWorkspace(DirectoryWorkspace):
    """A workspace of folders, outside of which its processes see a system that they cannot change.

    Args:
        spec: what it is for.
        environ: the user's environment.
        options: limits and further paths.
        host: what there is on this machine.
        tier: sandbox and tier.
    """

    def __init__(
        self, spec: SandboxSpec, environ: Mapping[str, str], options: BubblewrapOptions, host: Host, *, tier: str
    ) -> None:
        super().__init__(spec, environ, tier=tier)
        self._options = options
        self._host = host
        self._uid = os.getuid() or USER
        self._network = has_network(spec, options)
        self._binds: tuple[Bind, ...] = ()
        self._group = Group((), frozenset())
        self._watch: asyncio.Task[None] | None = None
        self._filter = filter_program()
        self._relay: Relay | None = None

    @property
    def routes(self) -> Mapping[str, str]:
        """Address of each route inside, unless the network is on."""
        return self._relay.addresses if self._relay is not None else {}

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        etc = self.folder / "etc"
        etc.mkdir(mode=0o755)
        self._binds = tuple(self._own_binds())
        write_etc(etc, self._binds, uid=self._uid, home=self.home, network=self._network)
        self._system = [*self._namespaces(), *system_arguments(etc), *kernel_arguments(self._options.tmp_mb)]
        options = self._options
        limits = {"pids": options.processes, "memory": options.memory_mb * MIB}
        self._group = make_group(self._host.groups, limits)
        own = (self.root, self.home, self.tmp)
        if not self._network and (self.spec.routes or self.spec.hosts):
            self._relay = self._make_relay()
            self._env = {**self._env, **self._relay.environment}
        self._watch = asyncio.create_task(disk.watch(own, options.disk_mb * MIB, self._end_for_disk))
        return self

    async def __aexit__(
        self, type_: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watch is not None:
            self._watch.cancel()
        try:
            await super().__aexit__(type_, error, trace)
        finally:
            if self._relay is not None:
                await self._relay.__aexit__(type_, error, trace)
            await asyncio.to_thread(self._group.remove)

    def wrap(self, command: Command, cwd: Path, env: Mapping[str, str]) -> Launch:
        """Put bwrap in front, with a limiting shell around or inside it.

        Raises:
            LaunchError: program or working directory are not there, or are not to be seen in the sandbox.
        """
        binds = (*self._binds, *(Bind(Path(path)) for path in command.readable))
        require_startable(command.argv, cwd, env, Visible(binds))
        lines = limiting(self._options, command, self._group.limited)
        outside = [*joining(self._group.joined_by), *lines] if self._group.folders else []
        # Inside, the kernel counts none but the processes of this sandbox. Root's it does not count at all.
        inside = [] if outside else [*lines, counting(self._options.processes)]
        held_back = {name: value for name, value in env.items() if inside and is_loading(name)}
        words = tuple(in_front(inside, command.argv, held_back)) if inside else command.argv
        arguments = [*self._system, *bind_arguments(binds), "--remount-ro", "/", "--chdir", str(cwd), "--clearenv"]
        for name, value in env.items():
            if not name or "=" in name:
                raise LaunchError(f"{name!r} is no name of an environment variable")
            if name not in held_back:
                arguments += ["--setenv", name, value]
        with _Handed() as handed:
            if self._filter is not None:
                arguments += ["--seccomp", str(handed.content(self._filter))]
            if self._relay is not None:
                life = handed.take(self._relay.admit())
                arguments += ["--sync-fd", str(life)]
                words = self._relay.command(handed.take(os.dup(life)), words)
            given = handed.content(_joined(arguments))
            argv = [self._host.bwrap, "--args", str(given), "--", *words]
            if outside:
                argv = in_front(outside, argv)
            return Launch(argv, _OUTSIDE_ENV, handed.over(), tells_signals=True)

    def _namespaces(self) -> list[str]:
        arguments = [f"--unshare-{name}" for name in _NAMESPACES]
        arguments += ["--unshare-cgroup-try", "--uid", str(self._uid), "--gid", str(self._uid)]
        arguments += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        return arguments if self._network else [*arguments, "--unshare-net"]

    def _own_binds(self) -> list[Bind]:
        options, spec = self._options, self.spec
        readable = [*map(str, self._host.tools), *options.readable, *spec.readable]
        writable = [*options.writable, *spec.writable, str(self.root), str(self.home), str(self.tmp)]
        binds = [*map(Bind, map(Path, readable)), *(Bind(Path(path), writable=True) for path in writable)]
        for bind in binds:
            if not bind.path.is_absolute() or len(bind.path.parts) == 1:
                raise LaunchError(f"{str(bind.path)!r} cannot be shown in a sandbox; name a folder below /")
        return binds

    def _make_relay(self) -> Relay:
        from skillgauge_model_relay import Relay, RelayLimits  # noqa: PLC0415 - few workspaces need its HTTP client

        limits = RelayLimits(requests=self._options.relay_requests, total_bytes=self._options.relay_mb * MIB)
        return Relay(self.spec.routes, self.spec.hosts, limits)

    async def _end_for_disk(self) -> None:
        limit = self._options.disk_mb
        advice = "write less, or raise plugins.sandboxes.bubblewrap.disk_mb"
        await self.end_processes(f"the workspace holds more than {limit} MiB; {advice}")


def has_network(spec: SandboxSpec, options: BubblewrapOptions) -> bool:
    """Whether processes of a workspace use the network of the machine."""
    return options.network or (spec.network and not spec.routes and not spec.hosts)


class Visible:
    """Whether a path can be seen in a sandbox, links in it followed."""

    def __init__(self, binds: Sequence[Bind]) -> None:
        self._shown = tuple(str(bind.path) for bind in binds)

    def __call__(self, path: Path) -> bool:
        """Tell it of one path."""
        return self._shows(os.path.normpath(path)) and self._shows(os.path.realpath(path))

    def _shows(self, path: str) -> bool:
        return any(path == shown or path.startswith(f"{shown}/") for shown in (*self._shown, *_SYSTEM))


_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/alternatives")


def _joined(arguments: Sequence[str]) -> bytes:
    """Arguments as bwrap reads them from a file.

    Raises:
        LaunchError: one would end up as several, so that a variable's value could say what to bind.
    """
    for argument in arguments:
        if "\0" in argument:
            raise LaunchError(f"{argument!r} holds a null character, which no path and no variable may")
    return b"".join(os.fsencode(argument) + b"\0" for argument in arguments)


class _Handed:
    """File descriptors that bwrap will inherit, closed if it comes to nothing."""

    def __init__(self) -> None:
        self._fds: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for fd in self._fds:
            os.close(fd)

    def take(self, fd: int) -> int:
        """Hand this one down."""
        self._fds.append(fd)
        return fd

    def content(self, content: bytes) -> int:
        """Hand down one to read something from that no argument list should show."""
        fd = self.take(os.memfd_create("skillgauge"))
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        return fd

    def over(self) -> tuple[int, ...]:
        """All of them, which are the receiver's from now on."""
        fds, self._fds = tuple(self._fds), []
        return fds
