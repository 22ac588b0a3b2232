"""Commands of skillgauge in processes of their own, so that none can write to the stdout of the protocol."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .workplace import RefusedError

_QUESTION_S = 120.0
_ENDING_S = 30.0
_LINE_BYTES = 1 << 20
_PROGRESS = re.compile(r"(\d+)/(\d+) trials")
_KEPT_LINES = 200


@dataclass(frozen=True)
class Done:
    """The end of a command."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document on stdout.

        Raises:
            RefusedError: there is none; the text holds the words of the command.
        """
        try:
            document = json.loads(self.stdout)
        except ValueError:
            raise RefusedError(f"the command ended with code {self.code}: {self.stderr.strip()[-2000:]}") from None
        if not isinstance(document, dict):
            raise RefusedError(f"the command ended with code {self.code} and no document")
        if self.code == 2 and set(document) == {"exit_code", "problems"}:
            raise RefusedError(problems_text(document["problems"]))
        return document

    @property
    def verdict(self) -> str:
        """The last line on stderr."""
        return next(reversed(self.stderr.strip().splitlines()), "")


class Running:
    """A command that is under way.

    Args:
        process: of it, the leader of a process group.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._lines: list[str] = []
        self.progress: tuple[int, int] | None = None
        """Trials that have ended, and trials in all, once the command has said so."""
        self.done = asyncio.create_task(self._finish())

    async def stop(self) -> None:
        """End it as Ctrl-C does, and by force if it takes too long."""
        self._signal(signal.SIGINT)
        finished, _ = await asyncio.wait({self.done}, timeout=_ENDING_S)
        if not finished:
            self._signal(signal.SIGKILL)
            await asyncio.wait({self.done}, timeout=_ENDING_S)

    def _signal(self, number: int) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                if number == signal.SIGKILL:
                    os.killpg(self._process.pid, number)
                else:
                    self._process.send_signal(number)

    async def _finish(self) -> Done:
        assert self._process.stdout is not None
        stdout, _ = await asyncio.gather(self._process.stdout.read(), self._read_lines())
        return Done(await self._process.wait(), stdout, "".join(self._lines))

    async def _read_lines(self) -> None:
        assert self._process.stderr is not None
        while True:
            try:
                line = await self._process.stderr.readline()
            except ValueError:  # longer than any that a person reads
                continue
            if not line:
                return
            text = line.decode("utf-8", "replace")
            self._lines = [*self._lines[1 - _KEPT_LINES :], text]
            if match := _PROGRESS.match(text):
                self.progress = int(match[1]), int(match[2])


class Program:
    """The program `skillgauge`.

    Args:
        cwd: folder that commands run in, whose configuration and store count.
        options: global options of every command.
    """

    def __init__(self, cwd: Path, options: Sequence[str]) -> None:
        self._cwd = cwd
        self._options = tuple(options)

    async def start(self, *arguments: str) -> Running:
        """Start a command."""
        process = await asyncio.create_subprocess_exec(
            # `-P`: the current folder is no place for modules.
            *(sys.executable, "-P", "-m", "skillgauge", *self._options, *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._cwd,
            start_new_session=True,
            limit=_LINE_BYTES,
        )
        return Running(process)

    async def ask(self, *arguments: str) -> Done:
        """Carry out a command that runs no agent, and wait for its end.

        Raises:
            RefusedError: it takes too long.
        """
        running = await self.start(*arguments)
        try:
            finished, _ = await asyncio.wait({running.done}, timeout=_QUESTION_S)
            if not finished:
                raise RefusedError(f"no answer within {_QUESTION_S:g} s; name a smaller part of the folder")
        except BaseException:
            await asyncio.shield(running.stop())
            raise
        return running.done.result()


def problems_text(problems: Sequence[dict[str, Any]]) -> str:
    """Return problems as text: where, what, and what to do next."""
    lines = []
    for problem in problems[:50]:
        place = ":".join(str(problem[key]) for key in ("file", "line", "column") if problem.get(key) is not None)
        lines.append(f"{f'{place}: ' if place else ''}{problem['severity']}[{problem['code']}]: {problem['message']}")
        if problem.get("hint"):
            lines.append(f"  next: {problem['hint']}")
    if len(problems) > 50:
        lines.append(f"and {len(problems) - 50} more")
    return "\n".join(lines)
