"""An event loop whose clock jumps, so that tests of waiting need not wait."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    """Never waits for time to pass: where a real one would, the clock jumps."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(timeout if timeout is None else 0)
        if not ready and timeout:
            self.now += timeout
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when nothing else is to be done."""

    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        """Seconds since the loop was made, all of them jumped over."""
        return self._clock.now


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end without ever waiting; what hangs for a day of the loop's time has failed."""

    async def bounded() -> T:
        return await asyncio.wait_for(work, 86_400)

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(bounded())
