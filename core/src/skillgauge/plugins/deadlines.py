"""Calls that have to end: a deadline for what awaits, and an alarm for what is stuck."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

CHECK_S = 40.0
"""Longest time that a plugin may take to find out what keeps it from working."""
CLAIM_S = 10.0
"""Longest time that a format may look at one path."""
SCORE_S = 60.0
"""Longest time for one check, beyond what the scorer's own option `timeout_s` grants."""
CLOSE_S = 10.0
"""Longest time that a scorer may take to close its connection."""
JUDGED_S = 3600.0
"""The same of a scorer that asks a judge: its service may have all who ask it wait for minutes."""
GRACE_S = 1.0
"""How much later a call is ended that blocks the event loop, so that it cannot be cancelled."""


class Overdue(BaseException):
    """A call did not end. No `Exception`, so that code which is stuck does not catch it and go on."""


def is_cancelled() -> bool:
    """Tell whether the present task was cancelled, as opposed to a plugin that awaited a cancelled task of its own."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False
    return task is not None and task.cancelling() > 0


async def bounded(call: Awaitable[T], seconds: float) -> T:
    """Await a call, for so long.

    Raises:
        Overdue: it did not end.
    """
    try:
        async with asyncio.timeout(seconds) as limit:
            return await call
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise Overdue(f"no end after {seconds:g} s") from error


@contextmanager
def alarm(seconds: float, grace_s: float = 0.0) -> Iterator[None]:
    """Raise `Overdue` in code that is stuck; only where the system can: in the main thread, and not on Windows."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise Overdue(f"no end after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds + grace_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, before)
