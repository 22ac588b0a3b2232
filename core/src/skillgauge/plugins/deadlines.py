"""Calls that have to end: a deadline for what awaits, and an alarm for what is stuck."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import iscoroutine
from types import FrameType, coroutine
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Overdue(BaseException):
    """A call did not end. No `Exception`, so that code which is stuck does not catch it and go on."""


def is_cancelled() -> bool:
    """Whether somebody cancelled the present task, as opposed to a plugin that awaited a cancelled one of its own."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False
    return task is not None and task.cancelling() > 0


class _Patience:
    """How long the call under way may still take."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waits = 0
        self._bound: asyncio.Timeout | None = None

    def bind(self, bound: asyncio.Timeout | None) -> None:
        """What ends the call, once it takes longer than its first step; `None` when it has ended."""
        self._bound = bound
        self.wait(0)

    def wait(self, change: int) -> None:
        """Begin (1) or end (-1) a wait that is not the call's own; with the last one its time begins anew."""
        self._waits += change
        if self._bound is not None and not self._bound.expired():
            until = None if self._waits else asyncio.get_running_loop().time() + self._seconds
            self._bound.reschedule(until)


_patience: ContextVar[_Patience | None] = ContextVar("patience", default=None)


@contextmanager
def not_its_time() -> Iterator[None]:
    """Time inside does not count against the call into a plugin that it is part of: somebody else is waited for."""
    patience = _patience.get()
    if patience is None:
        yield
        return
    patience.wait(1)
    try:
        yield
    finally:
        patience.wait(-1)


async def bounded(call: Awaitable[T], seconds: float) -> T:
    """Await a call, for so long. What ends without waiting for anything needs no timer."""
    if not iscoroutine(call):
        return await call
    patience = _Patience(seconds)
    _patience.set(patience)
    bound = None
    try:
        try:
            waits_for = call.send(None)
        except StopIteration as done:
            return cast("T", done.value)
        async with asyncio.timeout(None) as bound:
            patience.bind(bound)
            return await _rest(call, waits_for)
    except TimeoutError as error:
        if bound is None or not bound.expired():
            raise  # the plugin's own
        raise Overdue(f"no end after {seconds:g} s") from error
    finally:
        patience.bind(None)
        _patience.set(None)


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
            except BaseException as error:  # noqa: BLE001 - goes on inside
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
