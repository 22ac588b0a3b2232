"""A process that makes attempts: `python -m acme_fresh.job`.

Its stdin brings the recipe of the run and then trials, a line each; its stdout takes what came of them. When stdin ends
because nobody needs it any more, or because the process at the other end died, an attempt under way is cancelled, which
ends the processes of skills and agents, and this one ends.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from typing import BinaryIO

from skillgauge.api import RunTrial, SkillgaugeError, Trial
from skillgauge.api.run import worker

from .jobs import LONGEST_LINE


async def work(answers: BinaryIO) -> None:
    """Prepare the run, and make attempts until stdin ends."""
    reader = asyncio.StreamReader(LONGEST_LINE)
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    recipe = base64.b64decode(await reader.readline())
    try:
        async with worker(recipe, 1) as run_trial:
            line = await reader.readline()
            while line:
                line = await _attempted(run_trial, line, reader, answers)
    except SkillgaugeError as error:
        _tell(answers, json.dumps({"failed": f"the run could not be prepared here: {error}"}))


async def _attempted(run_trial: RunTrial, line: bytes, reader: asyncio.StreamReader, answers: BinaryIO) -> bytes:
    """Make one attempt; the next line, or nothing if stdin has ended meanwhile."""
    attempt = asyncio.ensure_future(run_trial(Trial.model_validate_json(line)))
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
