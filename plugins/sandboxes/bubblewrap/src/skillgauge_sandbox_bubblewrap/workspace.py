"""Workspaces whose every process runs in namespaces of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from skillgauge.api import Command, LaunchError, SandboxSpec, Usage
from skillgauge_documents.immutables import immutable
from skillgauge_processes import DirectoryWorkspace, DiskLimit, Launch, Started, Starter, SupervisorLostError, held

from .by_bwrap import Contained
from .cgroups import Group, Place, make_group
from .launching import Channel, Confined, Launchers, Request, UnconfinedError
from .limits import bounds
from .mounts import (
    MIB,
    Bind,
    System,
    account,
    bind_arguments,
    kernel_arguments,
    user_within,
)
from .options import BubblewrapOptions
from .programs import require_passable, require_startable
from .seccomp import filter_program

if TYPE_CHECKING:
    from skillgauge_model_relay import Relay


@immutable
class Host:
    """The facts about the machine, and the parts that all workspaces of a sandbox share."""

    bwrap: str
    tools: tuple[Path, ...]
    groups: tuple[Place, ...]
    system: System
    launchers: Launchers

    def starter(self, request: Request) -> Callable[[int, int, int, Mapping[str, str]], Confined | Contained]:
        """Return the program that starts a command."""

        def start(stdin: int, stdout: int, stderr: int, marks: Mapping[str, str]) -> Confined | Contained:
            if self.launchers.are_usable:
                with suppress(UnconfinedError):
                    return self.launchers.start(request, stdin, stdout, stderr)
            return Contained(self.bwrap, request, (stdin, stdout, stderr), marks)

        return start


class BubblewrapWorkspace(DirectoryWorkspace):
    """A workspace of folders, outside of which its processes see a system that they cannot change.

    Args:
        spec: what it is for.
        environ: the user's environment.
        options: limits and further paths.
        host: what there is on this machine.
        tier: sandbox and tier.
        prove: awaited before it is used.
    """

    def __init__(
        self,
        spec: SandboxSpec,
        environ: Mapping[str, str],
        options: BubblewrapOptions,
        host: Host,
        *,
        tier: str,
        prove: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        limit = DiskLimit(options.disk_mb, "plugins.sandboxes.bubblewrap.disk_mb")
        super().__init__(spec, environ, tier=tier, limit=limit)
        self._prove = prove
        self._options = options
        self._host = host
        self._network = has_network(spec, options)
        self._binds: tuple[Bind, ...] = ()
        self._group: Group | None = None
        self._common: tuple[str, ...] = ()
        self._limited: frozenset[str] = frozenset()
        self._accounts: dict[Path, tuple[str, ...]] = {}
        self._filter = filter_program()
        self._relay: Relay | None = None

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
        if self._prove is not None:
            await self._prove()
        await super().__aenter__()
        self._binds = tuple(self._outer_binds())
        if not self._network and (self.spec.routes or self.spec.hosts):
            self._relay = self._make_relay()
            self._env = {**self._env, **self._relay.environment}
        return self

    async def __aexit__(
        self, type_: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await super().__aexit__(type_, error, trace)
        finally:
            if self._relay is not None:
                await self._relay.__aexit__(type_, error, trace)
            if self._group is not None:
                await asyncio.to_thread(self._group.remove)

    def wrap(self, command: Command, cwd: Path, env: Mapping[str, str]) -> Launch:
        """Have the launcher start it, or bwrap where the launcher cannot.

        Raises:
            LaunchError: program or working directory are not there, or are not to be seen in the sandbox.
        """
        home, tmp = (Path(env["HOME"]), Path(env["TMPDIR"])) if command.fresh else (self.home, self.tmp)
        own = tuple(Bind(path, writable=True) for path in (self.root, home, tmp))
        binds = (*self._binds, *own, *(Bind(Path(path)) for path in command.readable))
        require_startable(command.argv, str(cwd), env, Visible(binds))
        require_passable(env)
        group = self._prepared()
        channel = None
        if self._relay is not None:
            handle = self._relay.admit()
            channel = Channel(handle, self._relay.ports(), partial(self._relay.command, handle))
        request = Request(
            argv=command.argv,
            env=env,
            cwd=str(cwd),
            network=self._network,
            uid=user_within(),
            common=self._common,
            mounts=(*self._account(home), *bind_arguments(binds), "--remount-ro", "/"),
            groups=group.joined_by,
            limits=bounds(self._options, command, group.limited),
            processes=self._options.processes,
            filter=self._filter,
            channel=channel,
        )
        return Launch(command.argv, env, request.handles, self._starter(request, group))

    def _starter(self, request: Request, group: Group) -> Starter:
        start = self._host.starter(request)
        return lambda *streams_and_marks: _Grouped(start(*streams_and_marks), group)

    def _prepared(self) -> Group:
        """Control groups of the workspace; what it needs before its first process is made here."""
        if self._group is None:
            options = self._options
            binds = (*self._binds, Bind(self.root, writable=True))
            system = self._host.system.arguments(self.folder, binds, network=self._network)
            self._common = (*system, *kernel_arguments(options.tmp_mb))
            limits = {"pids": options.processes, "memory": options.memory_mb * MIB}
            self._group = make_group(self._host.groups, limits)
            self._limited = self._group.limited
        return self._group

    def _account(self, home: Path) -> tuple[str, ...]:
        """Arguments that show the account with a home, made when it is wanted first."""
        if (words := self._accounts.get(home)) is None:
            passwd = self.folder / ("passwd" if home.parent == self.folder else f"passwd-{home.parent.name}")
            passwd.write_text(account(home))
            words = self._accounts[home] = ("--ro-bind", str(passwd), "/etc/passwd")
        return words

    def _outer_binds(self) -> list[Bind]:
        """Return what is shown of the machine. Raises `LaunchError` if that cannot be."""
        options, spec = self._options, self.spec
        readable = [*map(str, self._host.tools), *options.readable, *spec.readable]
        writable = [*options.writable, *spec.writable]
        return [*(_outer_bind(path, False) for path in readable), *(_outer_bind(path, True) for path in writable)]

    def _make_relay(self) -> Relay:
        from skillgauge_model_relay import Relay, RelayLimits  # noqa: PLC0415 - few workspaces need its HTTP client

        limits = RelayLimits(requests=self._options.relay_requests, total_bytes=self._options.relay_mb * MIB)
        return Relay(self.spec.routes, self.spec.hosts, limits)

    def excess(self) -> str:
        """Return what its processes use too much of: the disk, or memory that no limit of a process counts."""
        pids = held.descendants(self.pids())
        if excess := super().excess():
            return excess
        if "memory" not in self._limited and held.shares_more(pids, self._options.memory_mb * MIB):
            advice = "use less, or raise plugins.sandboxes.bubblewrap.memory_mb"
            return f"its processes share more than {self._options.memory_mb} MiB of memory; {advice}"
        return ""


class _Grouped:
    """A process of a workspace, whose supervisor is a member of the workspace's control groups as well.

    Args:
        started: the process.
        group: the groups.
    """

    def __init__(self, started: Started, group: Group) -> None:
        self._started = started
        self._group = group
        self.pid = started.pid

    def wait(self) -> int:
        """Reap it and return how it ended. A supervisor that memory ran out for was ended by what runs within."""
        try:
            return self._started.wait()
        except SupervisorLostError as lost:
            if self._group.has_run_out_of_memory:
                return lost.code
            raise


def has_network(spec: SandboxSpec, options: BubblewrapOptions) -> bool:
    """Tell whether processes of a workspace use the network of the machine."""
    return options.network or (spec.network and not spec.routes and not spec.hosts)


@lru_cache(maxsize=1024)  # most of them are those of every workspace, whose paths need to become text once
def _outer_bind(path: str, writable: bool) -> Bind:
    bind = Bind(Path(path), writable)
    if not bind.path.is_absolute() or len(bind.path.parts) == 1:
        raise LaunchError(f"{str(bind.path)!r} cannot be shown in a sandbox; name a folder below /")
    return bind


class Visible:
    """A test whether a path can be seen in a sandbox, links in it followed."""

    def __init__(self, binds: Sequence[Bind]) -> None:
        self._shown = tuple(str(bind.path) for bind in binds)

    def __call__(self, path: str) -> bool:
        """Tell it of one path."""
        return self._shows(os.path.normpath(path)) and self._shows(os.path.realpath(path))

    def _shows(self, path: str) -> bool:
        return any(path == shown or path.startswith(f"{shown}/") for shown in (*self._shown, *_SYSTEM))


_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/alternatives")
