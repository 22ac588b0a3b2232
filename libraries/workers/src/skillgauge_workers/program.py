"""A worker process: prepares the evaluation and makes attempts of the trials that it is handed.

It lives as long as the connection. When the process at the other end closes it or dies, in whatever way, attempts under
way are cancelled, which ends the processes of skills and agents, and the worker ends; it is killed if that takes longer
than it was told that it may.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import sys
import threading
import time
from contextlib import AsyncExitStack, suppress
from functools import partial

from skillgauge.api import GivenUp, Keeper, KeptExecution, RunTrial, TrajectoryEvent, Trial
from skillgauge.api.run import worker
from skillgauge_run_content import laid_down

from .admission import Admission
from .wire import Frame, Kind, receive, send


def main() -> None:
    """Serve a connection.

    Arguments: its file descriptor, and the seconds that stopping may take once it is closed.
    """
    connection = socket.socket(fileno=int(sys.argv[1]))
    threading.Thread(target=_end_with, args=(connection.fileno(), float(sys.argv[2])), daemon=True).start()
    asyncio.run(_serve(connection))


def _end_with(connection: int, grace_s: float) -> None:
    """Kill this process and what is left of its group if it outlives the connection; plugins may block its loop."""
    poll = select.poll()
    poll.register(connection, 0)  # nothing but the end is waited for, which is always told
    poll.poll()
    time.sleep(grace_s)
    os.killpg(os.getpgrp(), signal.SIGKILL)


async def _serve(connection: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=connection)
    numbers: dict[str, int] = {}
    keeper = _Keeper(writer, numbers)

    def spent(trial: Trial, attempts: tuple[GivenUp, ...]) -> None:
        content = attempts[-1].model_dump_json().encode()
        send(writer, Frame(Kind.SPENT, numbers[trial.trial_id], content))

    def step(trial: Trial, event: TrajectoryEvent) -> None:
        send(writer, Frame(Kind.STEP, numbers[trial.trial_id], event.model_dump_json().encode()))

    async with AsyncExitStack() as stack:
        try:
            first = await receive(reader)
            folder, home = None, None
            if first.kind is Kind.FETCH:
                laid = await stack.enter_async_context(laid_down(_Files(reader, writer)))
                folder, home = laid.folder, laid.home
            working = worker(first.content, first.number, spent, keeper, step, folder=folder, home=home)
            run_trial = await stack.enter_async_context(working)
        except EOFError:
            return
        except Exception as error:  # noqa: BLE001 - told where somebody can see it
            send(writer, Frame(Kind.REFUSED, content=Admission.refused(error).model_dump_json().encode()))
        else:
            send(writer, Frame(Kind.READY))
            await _work(reader, writer, run_trial, keeper)
    with suppress(OSError):
        await writer.drain()
    writer.close()


class _Files:
    """The files of the run, asked for at the other end: a `Content`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def manifest(self) -> bytes:
        return await self._fetched("")

    async def content(self, digest: str) -> bytes:
        return await self._fetched(digest)

    async def _fetched(self, digest: str) -> bytes:
        send(self._writer, Frame(Kind.ASK, content=digest.encode()))
        return (await receive(self._reader)).content


class _Keeper(Keeper):
    """Has the process at the other end keep executions: a `Keeper`."""

    def __init__(self, writer: asyncio.StreamWriter, numbers: dict[str, int]) -> None:
        self._writer = writer
        self.numbers = numbers
        """Of the attempts under way, by trial."""
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self.given: dict[int, bytes] = {}
        """Executions of earlier attempts, as JSON, by the number of the attempt that each is for."""

    async def keep(self, kept: KeptExecution) -> None:
        number = self.numbers[kept.trial_id]
        content = await asyncio.to_thread(lambda: kept.model_dump_json().encode())
        self._waiting[number] = asyncio.get_running_loop().create_future()
        send(self._writer, Frame(Kind.KEEP, number, content))
        await self._waiting[number]

    async def kept(self, trial: Trial) -> KeptExecution | None:
        content = self.given.pop(self.numbers[trial.trial_id], None)
        return await asyncio.to_thread(KeptExecution.model_validate_json, content) if content else None

    def is_safe(self, number: int) -> None:
        """Take note that the execution which an attempt sent is kept."""
        if (waiting := self._waiting.pop(number, None)) and not waiting.done():
            waiting.set_result(None)


async def _work(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, run_trial: RunTrial, keeper: _Keeper
) -> None:
    numbers = keeper.numbers
    under_way: dict[int, asyncio.Task[bytes]] = {}

    def answer(number: int, trial: Trial, task: asyncio.Task[bytes]) -> None:
        del under_way[number], numbers[trial.trial_id]
        if task.cancelled():
            send(writer, Frame(Kind.CANCELLED, number))
        elif error := task.exception():
            send(writer, Frame(Kind.FAILED, number, f"{type(error).__name__}: {error}".encode()))
        else:
            send(writer, Frame(Kind.RESULT, number, task.result()))

    try:
        while True:
            frame = await receive(reader)
            if frame.kind is Kind.ATTEMPT:
                trial = Trial.model_validate_json(frame.content)
                numbers[trial.trial_id] = frame.number
                task = under_way[frame.number] = asyncio.create_task(_attempt(run_trial, trial))
                task.add_done_callback(partial(answer, frame.number, trial))
            elif frame.kind is Kind.KEPT:
                keeper.given[frame.number] = frame.content
            elif frame.kind is Kind.SAFE:
                keeper.is_safe(frame.number)
            elif attempt := under_way.get(frame.number):
                attempt.cancel()
    except EOFError:
        pass  # nobody waits for anything any more
    finally:
        tasks = list(under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _attempt(run_trial: RunTrial, trial: Trial) -> bytes:
    result = await run_trial(trial)
    return result.model_dump_json().encode()


if __name__ == "__main__":
    main()
