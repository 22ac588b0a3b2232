"""JSON-RPC in lines, over the stdin and stdout of a process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from itertools import count

from skillgauge.api import JsonObject, JsonValue, Running, thaw
from skillgauge_agent_programs.json_lines import dig, parse_line, text_at
from skillgauge_agent_programs.raw import RawStream

METHOD_NOT_FOUND = -32601

Notified = Callable[[str, JsonObject], None]
"""Takes the method of a notification and its parameters; must not block."""
Asked = Callable[[str, JsonObject], Mapping[str, JsonValue] | None]
"""Takes the method of a request and its parameters and gives the result; `None` refuses it."""


class RemoteError(Exception):
    """The agent answered a request with an error.

    Args:
        code: of JSON-RPC, or whatever number the agent put there.
        message: what it says.
        data: what else it tells.
    """

    def __init__(self, code: int, message: str, data: JsonValue = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class ConnectionLostError(Exception):
    """The agent closed its output before it had answered."""


class Connection:
    """Asks an agent and answers it. `read` must run meanwhile.

    Args:
        running: the agent's process.
        raw: keeps what the agent writes.
        notified: told of notifications, in their order.
        on_request: answers what the agent asks.
    """

    def __init__(self, running: Running, raw: RawStream, notified: Notified, on_request: Asked) -> None:
        self._running = running
        self._raw = raw
        self._notified = notified
        self._asked = on_request
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}
        self._is_lost = False
        self.records = 0
        """Lines that were JSON objects."""
        self.noise = 0
        """Lines that were not."""

    async def read(self) -> None:
        """Take what the agent writes until it closes its output."""
        try:
            async for line in self._running.lines():
                if not line.strip():
                    continue
                self._raw.add(line)
                record = parse_line(line)
                if record is None:
                    self.noise += 1
                    continue
                self.records += 1
                await self._take(record)
        finally:
            self._is_lost = True
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(ConnectionLostError())

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        """Ask for something and wait for the answer.

        Raises:
            RemoteError: the answer is an error.
            ConnectionLostError: there will be none.
        """
        number = next(self._numbers)
        future: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            await self._send({"id": number, "method": method, "params": params})
            return await future
        finally:
            del self._waiting[number]
            if future.done() and not future.cancelled():
                future.exception()  # an answer that came too late for anybody is no mistake

    async def notify(self, method: str, params: JsonObject) -> None:
        """Tell something. Raises `ConnectionLostError` if nobody listens any more."""
        await self._send({"method": method, "params": params})

    async def _send(self, message: Mapping[str, JsonValue]) -> None:
        if self._is_lost:
            raise ConnectionLostError
        line = json.dumps({"jsonrpc": "2.0", **{key: thaw(value) for key, value in message.items()}})
        try:
            await self._running.write(f"{line}\n".encode("utf-8", "replace"))
        except BrokenPipeError as error:
            raise ConnectionLostError from error

    async def _take(self, record: Mapping[str, JsonValue]) -> None:
        method, number = text_at(record, "method"), record.get("id")
        params = _object(record.get("params"))
        if method is None:
            self._answered(number, record)
        elif number is None:
            self._notified(method, params)
        else:
            result = self._asked(method, params)
            if result is None:
                error: JsonObject = {"code": METHOD_NOT_FOUND, "message": f"{method} is not offered"}
                await self._reply({"id": number, "error": error})
            else:
                await self._reply({"id": number, "result": result})

    async def _reply(self, message: Mapping[str, JsonValue]) -> None:
        try:
            await self._send(message)
        except ConnectionLostError:
            return  # what it wrote before it went is still to be read

    def _answered(self, number: JsonValue, record: Mapping[str, JsonValue]) -> None:
        future = self._waiting.get(number) if isinstance(number, int) else None
        if future is None or future.done():
            return
        error = record.get("error")
        if error is None:
            future.set_result(_object(record.get("result")))
            return
        code = dig(error, "code")
        message = text_at(error, "message") or "no reason given"
        future.set_exception(RemoteError(code if isinstance(code, int) else 0, message, dig(error, "data")))


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
