"""A process on a machine of the cloud."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from skillgauge.api import Finished

from .client import Cloud, packed, unpacked


class CloudProcess:
    """Asks for what it does.

    Args:
        cloud: where.
        path: of the process in the API.
    """

    def __init__(self, cloud: Cloud, path: str) -> None:
        self._cloud = cloud
        self._path = path

    async def wait(self) -> Finished:
        """Wait for its end. Cancelling the caller kills the whole process group."""
        try:
            return _finished(await self._cloud.ask("GET", f"{self._path}/end", waits=True))
        except asyncio.CancelledError:
            with suppress(OSError):
                await asyncio.shield(asyncio.ensure_future(self.stop()))
            raise

    async def write(self, data: bytes) -> None:
        """Send bytes to an interactive process."""
        told = await self._cloud.ask("POST", f"{self._path}/input", {"data": packed(data)})
        if told is not None:
            raise BrokenPipeError(told["message"])

    async def lines(self) -> AsyncIterator[bytes]:
        """Lines of its stdout, without their ends, until it closes it."""
        while (told := await self._cloud.ask("GET", f"{self._path}/line", waits=True)) is not None:
            yield unpacked(told["line"])

    async def stop(self) -> Finished:
        """Kill the whole process group and report."""
        return _finished(await self._cloud.ask("POST", f"{self._path}/stop"))


def _finished(told: dict[str, object]) -> Finished:
    streams = {name: unpacked(str(told[name])) for name in ("stdout", "stderr")}
    return Finished(**{**told, **streams})  # type: ignore[arg-type]  # the API has the fields of `Finished`
