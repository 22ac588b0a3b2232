"""Calls of one target, and the time that each may take."""

from __future__ import annotations

import asyncio
import time

from skillgauge.api import CallRequest, Execution, thaw

from .outcomes import FailedError, ended, executed, late
from .pool import Pool
from .worker import Gone, Worker

OUTPUT_BYTES = 5 * 1024 * 1024
"""Bytes of a result as JSON unless the suite sets another limit."""
LOADING_S = 4.0
"""How much longer than its limit a call may take with loading; the kernel cuts it off at five."""


class CallSession:
    """Calls an object in child processes. Calls may overlap.

    Args:
        pool: the processes.
        tier: sandbox and tier that they run in.
    """

    def __init__(self, pool: Pool, tier: str) -> None:
        self._pool = pool
        self._tier = tier

    async def call(self, request: CallRequest) -> Execution:
        """Call the object once; the duration is that of the call, or of failing to load the object."""
        limit_s = request.limits.timeout_s
        output_bytes = request.limits.output_bytes or OUTPUT_BYTES
        started = time.perf_counter()
        try:
            worker = await self._worker(request, output_bytes)
        except FailedError as failed:
            return failed.execution(time.perf_counter() - started, self._tier)
        if limit_s is not None:
            limit_s = max(0.0, min(limit_s, limit_s + LOADING_S - (time.perf_counter() - started)))
        return await self._ask(worker, {"input": thaw(request.input), "limit": output_bytes}, limit_s)

    async def close(self) -> None:
        """End every process."""
        await self._pool.close()

    async def _worker(self, request: CallRequest, output_bytes: int) -> Worker:
        limit_s = request.limits.timeout_s
        limit_s = None if limit_s is None else limit_s + LOADING_S
        deadline = asyncio.timeout(limit_s)
        try:
            async with deadline:
                return await self._pool.take(request.env, output_bytes)
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise late("not loaded", limit_s) from error

    async def _ask(self, worker: Worker, question: dict[str, object], limit_s: float | None) -> Execution:
        started = time.perf_counter()
        deadline = asyncio.timeout(limit_s)
        try:
            async with deadline:
                reply = await worker.ask(question)
        except Gone:
            took_s = time.perf_counter() - started
            return ended(await worker.end()).execution(took_s, self._tier)
        except TimeoutError:
            took_s = time.perf_counter() - started
            end = await worker.stop()
            if not deadline.expired():
                raise
            return late("no answer", limit_s, end.said).execution(took_s, self._tier)
        except BaseException:
            await worker.stop()
            raise
        took_s = time.perf_counter() - started
        self._pool.give_back(worker)
        return executed(reply, took_s, self._tier)
