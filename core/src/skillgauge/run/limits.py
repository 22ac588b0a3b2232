"""Time limits for what hardly ever waits."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from functools import partial
from types import coroutine
from typing import Any, TypeVar, cast

T = TypeVar("T")


async def ended_by(until: float, call: Coroutine[Any, Any, T]) -> T:
    """Await a call as within `asyncio.timeout_at`, which takes as long as most checks and is entered only if it waits.

    Args:
        until: time of the event loop at which the call is cancelled.
        call: what is awaited.

    Raises:
        TimeoutError: the call was cancelled, or raises one itself.
    """
    try:
        waits_for = call.send(None)
    except StopIteration as end:
        return cast("T", end.value)
    async with asyncio.timeout_at(until):
        return await _resumed(call, waits_for)


@coroutine
def _resumed(call: Coroutine[Any, Any, T], waits_for: object) -> Generator[Any, Any, T]:
    """Go on with a call that has begun, and what it waits for is here to be waited for."""
    while True:
        try:
            go_on = partial(call.send, (yield waits_for))
        except BaseException as error:  # noqa: BLE001 - it is the call's to handle
            go_on = partial(call.throw, error)
        try:
            waits_for = go_on()
        except StopIteration as end:
            return cast("T", end.value)
