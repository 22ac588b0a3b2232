"""Care for services that models are asked from: how many may ask at once, and when to wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from .types.trial import Failure, FailureClass

OVERLOAD = frozenset({FailureClass.RATE_LIMITED, FailureClass.OVERLOADED})
LONGEST_PAUSE_S = 300.0
"""What a service that asks for a longer pause gets; its trials fail and are retried or not by their own rule."""


class ProviderLimit:
    """How many sessions one provider gets at once.

    The number grows by one after as many good sessions in a row and halves when the provider says that it is too much:
    additive increase and multiplicative decrease, as congestion control does it (Chiu and Jain 1989). A pause that the
    provider asks for holds everybody back.

    Args:
        most: never more than these.
        clock: seconds, monotonic.
        sleep: waits; replaceable so that tests need not.
    """

    def __init__(
        self,
        most: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._most = most
        self.allowed = most
        """Sessions that may be under way now."""
        self.under_way = 0
        self._good = 0
        self._not_before = 0.0
        self._clock, self._sleep = clock, sleep
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Wait for a place, and for the end of a pause that the provider asked for."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.under_way < self.allowed)
            self.under_way += 1
        try:
            while (pause := self._not_before - self._clock()) > 0:
                await self._sleep(pause)
            yield
        finally:
            async with self._changed:
                self.under_way -= 1
                self._changed.notify_all()

    def heard(self, failure: Failure | None) -> None:
        """Learn from how a session ended."""
        if failure is not None and failure.failure_class in OVERLOAD:
            self._good = 0
            self.allowed = max(1, self.allowed // 2)
            if failure.retry_after_s is not None:
                pause = min(failure.retry_after_s, LONGEST_PAUSE_S)
                self._not_before = max(self._not_before, self._clock() + pause)
        elif failure is None:
            self._good += 1
            if self._good >= self.allowed and self.allowed < self._most:
                self._good = 0
                self.allowed += 1
