"""A program under probe: started with nothing of the user's, asked by the protocol or run to its end, and ended."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_PROTOCOL = 1
_STDERR_CHARACTERS = 500
_KINDS = ("allow_once", "allow_always")


class ProbeError(Exception):
    """The program did not do what was asked; the text says what it did instead."""


@dataclass
class Program:
    """A process that is ended, with all that it started, when the block is left.

    Args:
        argv: program and arguments.
        env: all variables that it sees.
        cwd: its working folder.
        deadline: time of `time.monotonic` at which nobody waits for it any more.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    deadline: float
    updates: list[Mapping[str, Any]] = field(default_factory=list)
    """Messages about its session, as they came."""
    _number: int = 0

    def __enter__(self) -> Self:
        self._errors = (self.cwd.parent / "stderr").open("w+b")
        try:
            self._process = subprocess.Popen(
                self.argv,
                env=dict(self.env),
                cwd=self.cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
            )
        except OSError as error:
            self._errors.close()
            raise ProbeError(f"it cannot be started: {error}") from error
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        with suppress(ProcessLookupError):  # it had ended, and nothing of it is left
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with suppress(OSError):  # what it did not read any more
                    stream.close()

    def output(self, text: str) -> str:
        """Return its output, once it has ended; `text` is its input.

        Raises:
            ProbeError: it does not end in time.
        """
        try:
            output, _ = self._process.communicate(text.encode(), timeout=self._left())
        except subprocess.TimeoutExpired:
            raise ProbeError(f"it does not come to an end{self.complaints()}") from None
        return output.decode("utf-8", "replace")

    def complaints(self) -> str:
        """The end of what it wrote to stderr, to be added to a message."""
        self._errors.flush()
        errors = " ".join(Path(self._errors.name).read_text("utf-8", "replace").split())
        return f": {errors[-_STDERR_CHARACTERS:]}" if errors else ""

    def converse(self) -> None:
        """Begin to take what it writes as messages of the protocol."""
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        assert self._process.stdout
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()

    def _read(self, stdout: Any) -> None:
        with suppress(OSError, ValueError):  # closed meanwhile
            for line in stdout:
                self._lines.put(line)
        self._lines.put(None)

    def ask(self, method: str, params: Mapping[str, Any], limit_s: float | None = None) -> Mapping[str, Any]:
        """Ask for something, answer what is asked meanwhile, and return the result.

        Raises:
            ProbeError: the answer is an error, or there is none in time.
        """
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        until = min(self.deadline, time.monotonic() + limit_s) if limit_s else self.deadline
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise ProbeError(f"no answer to {method}{self.complaints()}") from None
            if line is None:
                raise ProbeError(f"it ended before it answered {method}{self.complaints()}")
            message = _message(line)
            if message.get("id") == self._number and "method" not in message:
                if "error" in message:
                    raise ProbeError(f"{method} failed: {json.dumps(message['error'])[:_STDERR_CHARACTERS]}")
                return message.get("result") or {}
            self._take(message)

    def _take(self, message: Mapping[str, Any]) -> None:
        params = message.get("params") or {}
        if message.get("method") == "session/update":
            self.updates.append(params.get("update") or {})
        elif message.get("method") == "session/request_permission":
            self.updates.append({"sessionUpdate": "tool_call_update", **(params.get("toolCall") or {})})
            kinds = {one.get("kind"): one.get("optionId") for one in params.get("options") or ()}
            allowed = next((kinds[kind] for kind in _KINDS if kind in kinds), None)
            outcome = {"outcome": "selected", "optionId": allowed} if allowed else {"outcome": "cancelled"}
            self._send({"id": message.get("id"), "result": {"outcome": outcome}})
        elif "method" in message and "id" in message:
            self._send({"id": message["id"], "error": {"code": -32601, "message": "not offered"}})

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            return  # it has ended, which whoever waits for an answer learns

    def _left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())


def _message(line: bytes) -> Mapping[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def initialize(program: Program, limit_s: float) -> Mapping[str, Any]:
    """Greet a program that may speak the protocol, and return what it tells of itself.

    Raises:
        ProbeError: it does not speak it.
    """
    nothing = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    client = {"name": "skillgauge", "version": "0"}
    params = {"protocolVersion": _PROTOCOL, "clientCapabilities": nothing, "clientInfo": client}
    return program.ask("initialize", params, limit_s)
