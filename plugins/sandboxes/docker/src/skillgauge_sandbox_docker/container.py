"""One container: made for a workspace, and gone with it whatever happens."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import LaunchError

from .client import Answer, Client, end
from .images import Image
from .inside import END, STAY
from .members import Member, kill_all_but, members_of, pids_of
from .options import DockerOptions
from .owners import LABEL, this_process

_PATIENCE_S = 20.0
_SWEEP_S = 5.0
_TOLD_BYTES = 4096
_MIB = 1024 * 1024


@dataclass(frozen=True)
class Mount:
    """A folder that is at the same place inside."""

    path: str
    is_writable: bool = False

    @property
    def argument(self) -> str:
        """As `--mount` takes it."""
        if set(self.path) & set(',"\n'):
            raise LaunchError(f"{self.path!r} cannot be shown in a container; use a path without commas and quotes")
        return f"type=bind,source={self.path},target={self.path}{'' if self.is_writable else ',readonly'}"


class Container:
    """A container that does nothing by itself and ends when this process does.

    Its main process reads a pipe of ours until that is closed, which the system does for us if we cannot.

    Args:
        client: what to call.
        options: limits.
        image: what it is made of.
        network: whether it has one.
        folder: where a file with its id is kept.
    """

    def __init__(self, client: Client, options: DockerOptions, image: Image, folder: Path, *, network: bool) -> None:
        self.name = f"skillgauge-{secrets.token_hex(8)}"
        self.client = client
        self._options = options
        self._image = image
        self._network = network
        self._life: asyncio.subprocess.Process | None = None
        self._has_run = False
        self._id = ""
        self._id_file = folder / f"id-{self.name}"
        self._own: frozenset[Member] = frozenset()
        self._commands = 0
        self._counting = asyncio.Lock()

    def pids(self) -> list[int]:
        """Return its processes as this machine sees them; none where it does not."""
        return pids_of(self._id)

    def adopt(self) -> None:
        """Take the processes that run now for its own: they live as long as it does."""
        self._own = members_of(self._id)

    async def begin_command(self) -> None:
        """Count a command that is about to be started."""
        async with self._counting:
            self._commands += 1

    async def end_command(self) -> None:
        """Count a command that has ended; after the last, end whatever any of them has left behind and hidden."""
        async with self._counting:  # what starts meanwhile is not to be ended with the rest
            self._commands -= 1
            if not self._commands:
                await self.end_all()

    async def end_all(self) -> None:
        """End every process but its own; if that cannot be done, remove it."""
        if self._id and not await asyncio.to_thread(kill_all_but, self._own, self._id):
            await self.remove()

    async def start(self, mounts: Sequence[Mount], workdir: Path) -> None:
        """Make it, and wait until it runs.

        Raises:
            LaunchError: it does not; the message is that of the program.
        """
        token, image = secrets.token_hex(8), self._image.name
        arguments = [*self._arguments(), *(word for mount in mounts for word in ("--mount", mount.argument))]
        arguments += ["--workdir", str(workdir), "--entrypoint", "sh", image, "-c", STAY, "stay", token]
        self._life = await self.client.start("run", *arguments)
        assert self._life.stdout is not None
        assert self._life.stderr is not None
        try:
            async with asyncio.timeout(self._options.start_timeout_s):
                line = await self._life.stdout.readline()
                stderr = b"" if line else await self._life.stderr.read(_TOLD_BYTES)
        except TimeoutError as error:
            limit = self._options.start_timeout_s
            raise LaunchError(f"no container of image {image!r} ran within {limit:g} s") from error
        if line.strip() != token.encode():
            message = Answer(1, line.decode("utf-8", "replace"), stderr.decode("utf-8", "replace")).told
            raise LaunchError(f"no container of image {image!r} can be run: {message}")
        self._has_run = True
        with suppress(OSError):  # then its processes are not seen from here
            self._id = self._id_file.read_text(encoding="ascii").strip()
        self.adopt()

    async def remove(self) -> None:
        """End every process in it and remove it. Nothing happens if it is gone already."""
        if self._life is None:
            return
        life, self._life = self._life, None
        await self._ask_to_remove()  # if that fails, the end of its input ends it
        if life.stdin is not None:
            life.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(life.wait(), _SWEEP_S)
        await end(life)
        if not self._has_run:  # it may have been made since it was asked for, and what never ran ends by nothing else
            await self._ask_to_remove()

    async def end_processes(self, mark: str) -> None:
        """End every process that carries a mark; if that cannot be done, end all of them."""
        with suppress(LaunchError):
            words = ("exec", self.name, "sh", "-c", END, "end", mark, "0", "0.05")
            if (await self.client.call(*words, timeout_s=_SWEEP_S)).code == 0:
                return
        await self.remove()

    async def _ask_to_remove(self) -> None:
        with suppress(LaunchError):
            await self.client.call("rm", "--force", self.name, timeout_s=_PATIENCE_S)

    def _arguments(self) -> list[str]:
        options, user = self._options, f"{os.getuid()}:{os.getgid()}"
        arguments = ["--rm", "--interactive", "--init", "--name", self.name, "--label", f"{LABEL}={this_process()}"]
        arguments += ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", user]
        if self.client.is_podman and os.getuid():
            arguments += ["--userns", "keep-id"]
        arguments += ["--cidfile", str(self._id_file), "--log-driver", "none", "--no-healthcheck"]
        arguments += ["--pids-limit", str(options.processes), "--ulimit", f"fsize={options.file_mb * _MIB}"]
        arguments += ["--memory", f"{options.memory_mb}m", "--memory-swap", f"{options.memory_mb}m"]
        if options.cpus is not None:
            arguments += ["--cpus", f"{options.cpus:g}"]
        if not self._network:
            arguments += ["--network", "none"]
        for place in ("/tmp", *self._image.volumes):
            arguments += ["--tmpfs", f"{place}:rw,nosuid,nodev,size={options.tmp_mb}m,mode=1777"]
        return arguments
