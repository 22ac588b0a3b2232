"""A process that makes attempts: `python -m acme_fresh.job`.

Its stdin brings the recipe of the run and then trials, a line each; its stdout takes what came of them, and before that
a paid session, which is graded when stdin says that it is safe. When stdin ends because nobody needs it any more, or
because the process at the other end died, an attempt under way is cancelled, which ends the processes of skills and
agents, and this one ends.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from typing import BinaryIO

from skillgauge.api import KeptExecution, RunTrial, SkillgaugeError, Trial
from skillgauge.api.run import worker

from .jobs import LONGEST_LINE


async def work(answers: BinaryIO) -> None:
    """Prepare the run, and make attempts until stdin ends."""
    reader = asyncio.StreamReader(LONGEST_LINE)
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    recipe = base64.b64decode(await reader.readline())
    keeper = _Keeper(answers)
    try:
        async with worker(recipe, 1, keeper=keeper) as run_trial:
            line = await reader.readline()
            while line:
                line = await _attempted(run_trial, line, reader, keeper)
    except SkillgaugeError as error:
        _tell(answers, json.dumps({"failed": f"the run could not be prepared here: {error}"}))


class _Keeper:
    """Has the process that runs the evaluation keep a session before it is graded."""

    def __init__(self, answers: BinaryIO) -> None:
        self.answers = answers
        self.given: KeptExecution | None = None
        """The session of an earlier attempt of the trial, to be graded and not made again."""
        self.safe = asyncio.Event()
        """Set when the session that was sent last is safe."""

    async def keep(self, kept: KeptExecution) -> None:
        """Send a session, and wait until it is safe."""
        self.safe.clear()
        _tell(self.answers, f'{{"keep":{kept.model_dump_json()}}}')
        await self.safe.wait()

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """Return the session that came with the trial."""
        return self.given


async def _attempted(run_trial: RunTrial, line: bytes, reader: asyncio.StreamReader, keeper: _Keeper) -> bytes:
    """Make one attempt; the next line, or nothing if stdin has ended meanwhile."""
    words, answers = json.loads(line), keeper.answers
    keeper.given = KeptExecution.model_validate(words["kept"]) if words["kept"] else None
    attempt = asyncio.ensure_future(run_trial(Trial.model_validate(words["trial"])))
    following = asyncio.ensure_future(reader.readline())
    await asyncio.wait({attempt, following}, return_when=asyncio.FIRST_COMPLETED)
    while not attempt.done() and await following:
        keeper.safe.set()  # nothing else is said meanwhile
        following = asyncio.ensure_future(reader.readline())
        await asyncio.wait({attempt, following}, return_when=asyncio.FIRST_COMPLETED)
    if not attempt.done():
        attempt.cancel()
        await asyncio.wait({attempt})
        return b""
    error = attempt.exception()
    told = json.dumps({"failed": f"{type(error).__name__}: {error}"}) if error else None
    _tell(answers, told or f'{{"result":{attempt.result().model_dump_json()}}}')
    return await following


def _tell(answers: BinaryIO, line: str) -> None:
    answers.write(line.encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "wb") as ours:
        os.dup2(2, 1)  # what a plugin prints must not stand between the answers
        asyncio.run(work(ours))
