"""A worker: `python -m acme_queue.worker HOST:PORT`, here or wherever the address can be reached.

It lives as long as the connection. When that ends because nobody needs it any more, or
because the process at the other end is gone, an attempt under way is cancelled, which
ends the processes of skills and agents, and so does this one.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
import sys
from collections.abc import Callable

from skillgauge.api import (
    GivenUp,
    KeptExecution,
    RunTrial,
    SkillgaugeError,
    Trial,
)
from skillgauge.api.run import worker
from skillgauge_run_content import laid_down
from skillgauge_workers import Admission

from .queue import LONGEST_LINE, TOKEN

_SILENCE = {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 3, "TCP_KEEPCNT": 3}
"""After this the other machine is taken for dead, in 14 seconds, though no connection was closed."""


async def work(address: str) -> None:
    """Prepare the run and make attempts, until the connection ends."""
    host, port = address.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port), limit=LONGEST_LINE)
    _notice_silence(writer.get_extra_info("socket"))

    def tell(**what: object) -> None:
        writer.write(json.dumps(what).encode() + b"\n")

    def spent(trial: Trial, attempts: tuple[GivenUp, ...]) -> None:
        tell(of=trial.trial_id, spent=attempts[-1].model_dump(mode="json"))

    keeper = _Keeper(tell)
    writer.write(os.environ.get(TOKEN, "").encode() + b"\n")
    recipe = base64.b64decode(await reader.readline())
    if not recipe:
        sys.exit(f"{address} sent no recipe: is the token in {TOKEN} the right one?")
    try:
        async with (
            laid_down(_Files(reader, writer)) as laid,
            worker(recipe, 1, spent, keeper, folder=laid.folder, home=laid.home) as run_trial,
        ):
            tell(ready=os.getpid())
            line = await reader.readline()
            while line:
                words = json.loads(line)
                if trial := words.get("trial"):
                    keeper.take(words["kept"])
                    made = Trial.model_validate(trial)
                    line = await _attempted(run_trial, made, reader, tell, keeper)
                else:  # a stop that came after the end
                    line = await reader.readline()
    except SkillgaugeError as error:
        tell(**Admission.refused(error).model_dump(mode="json"))
        await writer.drain()
        writer.close()
        sys.exit(str(error))
    writer.close()


class _Files:
    """The files of the run, which this machine need not have."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def manifest(self) -> bytes:
        """Ask for their list."""
        return await self._asked(manifest=True)

    async def content(self, digest: str) -> bytes:
        """Ask for one of them."""
        return await self._asked(content=digest)

    async def _asked(self, **what: object) -> bytes:
        self._writer.write(json.dumps(what).encode() + b"\n")
        return base64.b64decode(await self._reader.readline())


class _Keeper:
    """Has the process that runs the evaluation keep a session before it is graded."""

    def __init__(self, tell: Callable[..., None]) -> None:
        self._tell = tell
        self._given: KeptExecution | None = None
        self.safe = asyncio.Event()
        """Set when the other process has what was sent last."""

    def take(self, kept: object) -> None:
        """Take the session of an earlier attempt of the trial that follows, or None."""
        self._given = KeptExecution.model_validate(kept) if kept else None

    async def keep(self, kept: KeptExecution) -> None:
        """Send it, and wait until it is safe: only then is it graded."""
        self.safe.clear()
        self._tell(of=kept.trial_id, keep=kept.model_dump(mode="json"))
        await self.safe.wait()

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """Return the session that came with the trial."""
        return self._given


async def _attempted(
    run_trial: RunTrial,
    trial: Trial,
    reader: asyncio.StreamReader,
    tell: Callable[..., None],
    keeper: _Keeper,
) -> bytes:
    """Make one attempt; the next line, which is empty at the end of the connection."""
    attempt = asyncio.ensure_future(run_trial(trial))
    following = asyncio.ensure_future(reader.readline())
    await asyncio.wait({attempt, following}, return_when=asyncio.FIRST_COMPLETED)
    while not attempt.done() and "safe" in json.loads(await following or "{}"):
        keeper.safe.set()
        following = asyncio.ensure_future(reader.readline())
        await asyncio.wait({attempt, following}, return_when=asyncio.FIRST_COMPLETED)
    if not attempt.done():
        attempt.cancel()
        await asyncio.wait({attempt})
        tell(of=trial.trial_id, stopped=True)
        return await reader.readline() if await following else b""
    if error := attempt.exception():
        tell(of=trial.trial_id, failed=f"{type(error).__name__}: {error}")
    else:
        tell(of=trial.trial_id, result=attempt.result().model_dump(mode="json"))
    return await following


def _notice_silence(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _SILENCE.items():
        if number := getattr(socket, name, None):
            connection.setsockopt(socket.IPPROTO_TCP, number, value)


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1]))
