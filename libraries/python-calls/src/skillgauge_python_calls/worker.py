"""One child process: started with an order, asked one question at a time, and ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from skillgauge.api import Finished, Frozen, Json, Running, Usage, freeze

EXITING_S = 0.5
"""How long a process that closed its stream may take to end by itself, so that its own exit code is told."""
LEAVING_S = 0.3
"""How long a process that is not needed any more may take to end by itself."""


class Gone(Exception):  # noqa: N818 - that is what it is
    """The process does not answer any more."""


class Reply(Frozen):
    """The reply of a child process to a question."""

    result: Json = None
    usage: Usage | None = None
    notes: tuple[str, ...] = ()
    raised: str | None = None
    """Type and text of an exception of the user's code."""
    trace: str = ""
    """Where that came from."""
    unusable: str | None = None
    """Why there is a result that is no answer."""


@dataclass(frozen=True)
class End:
    """The end of a process."""

    how: str
    """`exited with code 3`, for example."""
    exit_code: int | None
    said: str
    """What it printed since it was asked last, as far as that was kept."""
    sandbox_failure: str = ""
    """Why the sandbox around it broke, if it did: then the rest says nothing about the user's code."""


class Worker:
    """A child process that is running.

    Args:
        running: the process, interactive.
        key: what it was started with; calls that have the same key may share it.
    """

    def __init__(self, running: Running, key: str) -> None:
        self.key = key
        self._running = running
        self._number = -1
        self._is_open = True
        self._reply: asyncio.Future[Reply] | None = None
        self._attending = asyncio.create_task(self._attend())

    @property
    def is_alive(self) -> bool:
        """True if it may be asked."""
        return self._is_open

    async def ask(self, question: Mapping[str, object]) -> Reply:
        """Ask, and wait for the reply. Whoever is cancelled here must `stop` the worker.

        Raises:
            Gone: the process has ended, or does not listen or speak any more.
        """
        if not self._is_open:
            raise Gone
        self._number += 1
        self._reply = asyncio.get_running_loop().create_future()
        try:
            await self._running.write(json.dumps({**question, "id": self._number}).encode() + b"\n")
            return await self._reply
        except BrokenPipeError as error:
            raise Gone from error
        finally:
            self._reply = None

    async def end(self) -> End:
        """Wait a moment for the end of a process that is `Gone`, then make one; tells how it ended."""
        await asyncio.wait({self._attending}, timeout=EXITING_S)
        is_own_end = self._attending.done()
        end = await self.stop()
        return end if is_own_end else replace(end, how="closed its connection")

    async def stop(self) -> End:
        """Kill it and all of its descendants; takes less than a second, also if the caller is cancelled meanwhile."""
        finished = await self._running.stop()
        await asyncio.wait({self._attending})
        text = _stderr_of(finished, self._number)
        return End(_how(finished), finished.exit_code, text, finished.sandbox_failure)

    async def dismiss(self) -> None:
        """Let it end as programs do, and kill it if it does not."""
        try:
            await self._running.write(b"null\n")
            await asyncio.wait({self._attending}, timeout=LEAVING_S)
        except BrokenPipeError:
            pass
        finally:
            await self.stop()

    async def _attend(self) -> None:
        async for line in self._running.lines():
            if self._reply is not None and not self._reply.done():
                reply = read_reply(line, self._number)
                if reply is not None:
                    self._reply.set_result(reply)
        self._is_open = False
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(Gone())
        await self._running.wait()


def read_reply(line: bytes, number: int) -> Reply | None:
    """The reply in a line; `None` if it is none, since a program in front of the interpreter may write, too."""
    if not line.startswith((b'{"id": %d,' % number, b'{"id": %d}' % number)):
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Reply(unusable=f"the result cannot be read: {error}")
    del message["id"]
    result = message.pop("result", None)
    try:
        return Reply(result=freeze(result), **_whole(message))
    except ValueError as error:
        return Reply(unusable=f"the result is no JSON value: {error}")


def _whole(value: Any) -> Any:
    """The value without halves of surrogate pairs, which Python's texts can hold and ours cannot."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return value


def _how(finished: Finished) -> str:
    if finished.signal is not None:
        return f"was killed by signal {finished.signal}"
    return f"exited with code {finished.exit_code}"


def _stderr_of(finished: Finished, number: int) -> str:
    """Return the text on stderr after the mark of a question; nothing if that was beyond the part that is kept."""
    _, mark, text = finished.stderr.rpartition(b"\x1e%d\x1e" % max(number, 0))
    if not mark and number > 0:
        return ""
    return text.decode("utf-8", "replace").strip()
