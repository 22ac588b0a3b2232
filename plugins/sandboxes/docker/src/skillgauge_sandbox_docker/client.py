"""The command line of Docker or Podman, of which only what both have in common is used."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType

from skillgauge.api import LaunchError, host_environment

PROGRAMS = ("docker", "podman")
_NEEDED = ("PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS")
_PREFIXES = ("DOCKER_", "CONTAINER_", "CONTAINERS_", "BUILDKIT_", "BUILDAH_")
_TOLD_CHARACTERS = 600
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Answer:
    """The answer of one call of the program."""

    code: int
    stdout: str
    stderr: str

    @property
    def told(self) -> str:
        """The last words of the program, in short."""
        text = self.stderr.strip() or self.stdout.strip() or f"exit code {self.code}, and it said nothing"
        return " ".join(text.split())[-_TOLD_CHARACTERS:]


class Client:
    """Calls the program.

    Args:
        path: of the program, absolute.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def is_podman(self) -> bool:
        """True if it is Podman, which maps users in its own way."""
        return "podman" in os.path.basename(os.path.realpath(self.path))  # noqa: PTH119 - a name is wanted

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the part of the user's environment that the program gets; none that is meant for processes inside."""
        environ = host_environment()
        return {name: value for name, value in environ.items() if name in _NEEDED or name.startswith(_PREFIXES)}

    async def call(self, *arguments: str, timeout_s: float, env: Mapping[str, str] = _NOTHING) -> Answer:
        """Run the program to its end. Cancelling ends it.

        Args:
            arguments: of the program.
            timeout_s: how long it may take.
            env: variables that it gets besides.

        Raises:
            LaunchError: it does not start, or takes too long.
        """
        process = await self.start(*arguments, stdin=asyncio.subprocess.DEVNULL, env=env)
        try:  # not `asyncio.timeout`, which tells no time-out to a task that is being cancelled (Python 3.11.2)
            out, err = await asyncio.wait_for(process.communicate(), timeout_s)
        except TimeoutError as error:
            raise LaunchError(f"`{self.path} {arguments[0]}` took longer than {timeout_s:g} s") from error
        finally:
            await end(process)
        return Answer(process.returncode or 0, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))

    async def start(
        self, *arguments: str, stdin: int = asyncio.subprocess.PIPE, env: Mapping[str, str] = _NOTHING
    ) -> asyncio.subprocess.Process:
        """Start the program with pipes. Raises `LaunchError` if it does not start."""
        pipe = asyncio.subprocess.PIPE
        try:
            return await asyncio.create_subprocess_exec(
                self.path,
                *arguments,
                stdin=stdin,
                stdout=pipe,
                stderr=pipe,
                env={**self.environment, **env},
                start_new_session=True,
            )
        except OSError as error:
            raise LaunchError(f"{self.path!r} cannot be started: {error}") from error


async def end(process: asyncio.subprocess.Process) -> None:
    """End a call of the program, if it has not ended; what it asked the daemon for goes on."""
    with suppress(ProcessLookupError):
        if process.returncode is None:
            process.kill()
    process._transport.close()  # type: ignore[attr-defined]  # else pipes that a descendant holds stay open
    await process.wait()


def find_client(program: str | None) -> Client | None:
    """The program that is wanted, or the first of those that are known; `None` if there is none."""
    path = host_environment().get("PATH", os.defpath)
    names: Sequence[str] = (program,) if program else PROGRAMS
    found = next((one for name in names if (one := shutil.which(name, path=path))), None)
    return Client(os.path.abspath(found)) if found else None  # noqa: PTH100 - links must stay, they tell names apart
