"""Processes that make attempts, seen from the one that runs the evaluation."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process

from skillgauge.api import Blame, Failure, FailureClass, Keeper, KeptExecution, Trial, TrialResult

LONGEST_LINE = 1 << 30
GRACE_S = 10.0
"""How long a process may take to end when nobody needs it any more; one that takes longer is blocked, and killed."""


class Jobs:
    """Hands each attempt to a process that has nothing to do, or to a new one.

    Args:
        recipe: what the processes prepare the same run from, as JSON.
        keeper: keeps paid sessions before they are graded.
        most: attempts that one process makes.
    """

    def __init__(self, recipe: bytes, keeper: Keeper, most: int) -> None:
        self._recipe = recipe
        self._keeper = keeper
        self._most = most
        self._idle: list[_Job] = []

    async def attempt(self, trial: Trial) -> TrialResult | Failure:
        """Have one attempt made. Cancelled, it ends when the process has, with all that it had started."""
        kept = await self._keeper.kept(trial)
        job = self._idle.pop() if self._idle else _Job(await _started(), self._keeper)
        try:
            if not job.made:
                job.send(base64.b64encode(self._recipe))
            job.made += 1
            words = f'{{"trial":{trial.model_dump_json()},"kept":{kept.model_dump_json() if kept else "null"}}}'
            job.send(words.encode())
            answer = await job.answer()
        except BaseException:
            await job.end()
            raise
        if isinstance(answer, Failure) or job.made >= self._most:
            await job.end()
        else:
            self._idle.append(job)
        return answer

    async def close(self) -> None:
        """End every process."""
        await asyncio.gather(*(job.end() for job in self._idle))


async def _started() -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", f"{__package__}.job"),
        stdin=PIPE,
        stdout=PIPE,
        limit=LONGEST_LINE,
        process_group=0,  # Ctrl-C is for the process that runs the evaluation, which ends this one in time
    )


class _Job:
    """One process, which makes one attempt at a time and lives as long as its stdin is open."""

    def __init__(self, process: Process, keeper: Keeper) -> None:
        self._process = process
        self._keeper = keeper
        self.made = 0

    def send(self, line: bytes) -> None:
        """Write a line."""
        assert self._process.stdin is not None  # it is a pipe
        if not self._process.stdin.is_closing():
            self._process.stdin.write(line + b"\n")

    async def answer(self) -> TrialResult | Failure:
        """What came of the attempt; that the process died over it is a failure, too, and another attempt may help."""
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            match json.loads(line):
                case {"keep": kept}:
                    await self._keeper.keep(KeptExecution.model_validate(kept))
                    self.send(b'{"safe":true}')
                case {"result": result}:
                    return TrialResult.model_validate(result)
                case {"failed": str(why)}:
                    return _failure(FailureClass.INTERNAL, why, again=False)
                case _:
                    message = "the process that made the attempt answered nonsense"
                    return _failure(FailureClass.PROTOCOL, message, again=False)
        code = await self._process.wait()
        return _failure(FailureClass.KILLED, f"the process that made the attempt ended with {code}", again=True)

    async def end(self) -> None:
        """Close its stdin and wait for its end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), GRACE_S)
        except TimeoutError:
            if self._process.returncode is None:
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()


def _failure(kind: FailureClass, message: str, *, again: bool) -> Failure:
    return Failure(failure_class=kind, blame=Blame.INFRASTRUCTURE, message=message, retryable=again)
