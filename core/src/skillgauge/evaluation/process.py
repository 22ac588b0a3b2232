"""Prepare this process for a run: signals that end it, and as many open files as it needs."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from ..errors import Problem, UsageError
from .remarks import said_if

T = TypeVar("T")

PATIENCE_S = 1.0
"""Time in which a run hears of the first signal, unless code of a plugin holds it up."""


def run_to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine without handing its result to `asyncio.run`.

    As it ends, Python 3.11 formats its main task with its result for a message that nobody sees: with large suites that
    took half of the time.
    """
    results: list[T] = []

    async def main() -> None:
        results.append(await work)

    asyncio.run(main())
    return results[0]


@contextmanager
def stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    """Within, Ctrl-C and its like set an event of the running loop.

    Code that blocks the loop keeps it from hearing of that. Then a further signal, `PATIENCE_S` seconds later or more,
    raises `KeyboardInterrupt` in that code.
    """
    loop = asyncio.get_running_loop()
    first: list[float] = []

    def ask(_number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if first and not stop.is_set() and now - first[0] >= PATIENCE_S:
            raise KeyboardInterrupt
        first.append(now)
        loop.call_soon_threadsafe(stop.set)

    before = {number: signal.signal(number, ask) for number in _ending_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ending_signals() -> list[signal.Signals]:
    """Those that ask for an end: a closed terminal, too, unless somebody started us with `nohup`."""
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    signals = [signal.Signals[name] for name in names]
    return [one for one in signals if one.name != "SIGHUP" or signal.getsignal(one) is not signal.SIG_IGN]


_OWN = 48
"""Store, event loop, reports, and what was open before."""
_PER_TRIAL = 6
"""Streams of a process, what tells of its end, and what is open while it starts."""


def require_descriptors(trials_at_once: int) -> None:
    """Allow ourselves as many file descriptors as a run needs.

    Raises:
        UsageError: the system allows fewer.
    """
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not everywhere

    needed = _OWN + _PER_TRIAL * trials_at_once
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard == resource.RLIM_INFINITY or hard >= needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
        return
    possible = (hard - _OWN) // _PER_TRIAL
    fewer = said_if(possible > 0, f"ask for fewer trials at once: --concurrency {possible}; or ")
    message = f"{trials_at_once} trials at once need {needed} file descriptors, and {hard} are allowed"
    raise UsageError(Problem("run.descriptors", message, hint=f"{fewer}raise the limit: ulimit -n {needed}"))
