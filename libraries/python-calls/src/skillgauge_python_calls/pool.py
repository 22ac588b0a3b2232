"""Child processes at hand: each loads the object once, and there are as many as calls at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from skillgauge.api import Command, JsonObject, LaunchError, Workspace, canonical_json

from .outcomes import ended, not_loaded, not_started
from .worker import Gone, Worker

_BESIDE_RESULT = 65536
"""Bytes that a reply may need beside its result."""


class Pool:
    """Lends workers to calls and keeps them for the next ones.

    Args:
        workspace: where they start.
        argv: starts the interpreter with the child's program.
        cwd: their working directory; default: the workspace's root.
        order: says what they load.
    """

    def __init__(
        self, workspace: Workspace, argv: tuple[str, ...], cwd: str | None, order: Mapping[str, object]
    ) -> None:
        self._workspace = workspace
        self._argv = argv
        self._cwd = cwd
        self._order = order
        self._idle: list[Worker] = []
        self._leaving: set[asyncio.Task[None]] = set()

    async def take(self, env: JsonObject, output_bytes: int) -> Worker:
        """A worker for one call; it comes back by `give_back`, or is stopped.

        One with another environment makes way for a new one, so that there are never more than calls at once.

        Args:
            env: environment variables of the call.
            output_bytes: the longest result that will be asked for.

        Raises:
            FailedError: none can be started, or it cannot load the object.
        """
        key = canonical_json((env, output_bytes))
        self._idle = [worker for worker in self._idle if worker.is_alive]
        for worker in reversed(self._idle):  # the one used last, whose memory is still at hand
            if worker.key == key:
                self._idle.remove(worker)
                return worker
        if self._idle:
            self._dismiss(self._idle.pop(0))
        command = Command(
            argv=self._argv, cwd=self._cwd, env=env, interactive=True, output_bytes=output_bytes + _BESIDE_RESULT
        )
        return await self._start(command, key)

    def give_back(self, worker: Worker) -> None:
        """Keep a worker for the next call."""
        self._idle.append(worker)

    async def close(self) -> None:
        """End every worker that is not lent."""
        while self._idle:
            self._dismiss(self._idle.pop())
        if self._leaving:
            await asyncio.wait(self._leaving)

    async def _start(self, command: Command, key: str) -> Worker:
        try:
            worker = Worker(await self._workspace.start(command), key)
        except LaunchError as error:
            raise not_started(error) from error
        try:
            reply = await worker.ask(self._order)
        except Gone as gone:
            raise ended(await worker.end()) from gone
        except BaseException:
            await worker.stop()
            raise
        if reply.raised is not None:
            await worker.stop()
            raise not_loaded(reply)
        return worker

    def _dismiss(self, worker: Worker) -> None:
        task = asyncio.create_task(worker.dismiss())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)
