"""Calls that have to end: a deadline for what awaits, and an alarm for what is stuck."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from types import CoroutineType, FrameType, coroutine
from typing import Any, TypeVar, cast

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
    """Whether somebody cancelled the present task, as opposed to a plugin that awaited a cancelled one of its own."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False
    return task is not None and task.cancelling() > 0


async def bounded(call: Awaitable[T], seconds: float) -> T:
    """Await a call, for so long. Most calls wait for nothing, and need no timer, which costs more than they do.

    Raises:
        Overdue: it did not end.
    """
    if not isinstance(call, CoroutineType):
        call = _coroutine_of(call)
    try:
        waits_for = call.send(None)
    except StopIteration as done:
        return cast("T", done.value)
    task = cast("asyncio.Task[Any]", asyncio.current_task())
    late = Overdue(f"no end after {seconds:g} s")
    timer = asyncio.get_running_loop().call_later(seconds, task.cancel, late)
    try:
        return await _rest(call, waits_for)
    except asyncio.CancelledError as error:
        if late not in error.args or task.uncancel() > 0:
            raise
        raise late from error
    finally:
        timer.cancel()


async def _coroutine_of(call: Awaitable[T]) -> T:
    return await call


@coroutine
def _rest(call: Coroutine[Any, Any, T], waits_for: Any) -> Generator[Any, Any, T]:
    """The rest of a coroutine whose first step waits for something."""
    try:
        while True:
            try:
                sent = yield waits_for
            except GeneratorExit:
                call.close()
                raise
            except BaseException as error:  # noqa: BLE001 - it goes on inside
                waits_for = call.throw(error)
            else:
                waits_for = call.send(sent)
    except StopIteration as done:
        return cast("T", done.value)


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
