"""Calls that have to end: a deadline for what awaits, and an alarm for what is stuck."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

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


class _Alarms:
    """The alarms that are set. The system has one timer for all of them, which rings for the first that is due.

    They need not end in the order in which they were set: plugins are checked at once.
    """

    def __init__(self) -> None:
        self._due: dict[object, tuple[float, float]] = {}
        """The moment at which each is due, by the monotonic clock, and its seconds as a message tells them."""
        self._others: tuple[Any, tuple[float, float]] = (signal.SIG_DFL, (0.0, 0.0))
        """The handler and the timer of somebody else, which come back after the last one."""

    def set(self, seconds: float, grace_s: float) -> object:
        """Set one, and return its key."""
        key = object()
        if not self._due:
            handler = signal.signal(signal.SIGALRM, self._ring)
            self._others = handler, signal.setitimer(signal.ITIMER_REAL, 0)
        self._due[key] = (time.monotonic() + seconds + grace_s, seconds)
        self._wind()
        return key

    def end(self, key: object) -> None:
        """End one that was set."""
        del self._due[key]
        if self._due:
            self._wind()
            return
        handler, timer = self._others
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)

    def _wind(self) -> None:
        left_s = min(due for due, _ in self._due.values()) - time.monotonic()
        # One that has rung in the code of another is still set, and has that time to be cancelled.
        signal.setitimer(signal.ITIMER_REAL, left_s if left_s > 0 else GRACE_S)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        overdue = [seconds for due, seconds in self._due.values() if due <= now]
        if overdue:
            raise Overdue(f"no end after {min(overdue):g} s")
        if self._due:  # the one that it was for has ended in this moment
            self._wind()


_alarms = _Alarms()


@contextmanager
def alarm(seconds: float, grace_s: float = 0.0) -> Iterator[None]:
    """Raise `Overdue` in code that is stuck; only where the system can: in the main thread, and not on Windows."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    key = _alarms.set(seconds, grace_s)
    try:
        yield
    finally:
        _alarms.end(key)
