"""A time limit that is set only when what it limits begins to wait holds as `asyncio.timeout_at` does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from skillgauge.run.grading import ended_by

LONG_S = 60.0
"""How long a test waits for a limit that does not hold before it gives up."""


def limited(call: Coroutine[Any, Any, Any], seconds: float = LONG_S) -> Any:
    """Run a call with so much time."""

    async def go() -> Any:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        loop.call_later(LONG_S, task.cancel)
        return await ended_by(loop.time() + seconds, call)

    return asyncio.run(go())


@pytest.mark.parametrize("seconds", [LONG_S, -1.0], ids=["in time", "late"])
def test_a_call_that_never_waits_sets_no_timer(seconds: float) -> None:
    """Its answer comes back, even after the end of its time: nobody could have cancelled it."""

    async def answer() -> str:
        timers = getattr(asyncio.get_running_loop(), "_scheduled")  # noqa: B009 - no public name tells of them
        assert len(timers) == 1  # that of `limited`
        return "done"

    assert limited(answer(), seconds) == "done"


def test_a_call_that_waits_goes_on_where_it_was() -> None:
    """As often as it waits, for whatever it waits: timers, other tasks, groups, limits of its own."""

    async def answer() -> list[object]:
        found: list[object] = [await asyncio.sleep(0, "first")]
        found += await asyncio.gather(asyncio.sleep(0.001, "second"), asyncio.to_thread(lambda: "third"))
        async with asyncio.TaskGroup() as group:
            task = group.create_task(asyncio.sleep(0, "fourth"))
        async with asyncio.timeout(LONG_S):
            await asyncio.sleep(0)
        return [*found, task.result()]

    assert limited(answer()) == ["first", "second", "third", "fourth"]


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("error", [ValueError("mine"), TimeoutError("mine"), KeyError("mine"), SystemExit(3)], ids=repr)
def test_what_a_call_raises_is_raised(error: BaseException, waits: bool) -> None:
    """Before it waits and after, and a time-out of its own as well."""

    async def fails() -> None:
        if waits:
            await asyncio.sleep(0)
        raise error

    with pytest.raises(type(error)) as caught:
        limited(fails())
    assert caught.value is error


def test_a_failure_of_what_it_waits_for_is_the_calls_to_handle() -> None:
    """An exception of an awaited future arrives inside the call, which may go on."""

    async def answer() -> str:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_exception, ValueError("no"))
        try:
            await future
        except ValueError as error:
            await asyncio.sleep(0)
            return f"{error}, but yes"
        raise AssertionError("the future failed")

    assert limited(answer()) == "no, but yes"


def test_a_call_ends_with_its_time() -> None:
    """It is cancelled where it waits, may clean up, which may wait as well, and `TimeoutError` is raised."""
    cleaned: list[str] = []

    async def hangs() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append("up")

    with pytest.raises(TimeoutError):
        limited(hangs(), seconds=0.0)
    assert cleaned == ["up"]


def test_a_call_that_answers_although_it_was_cancelled() -> None:
    """A call that swallows its cancellation gives its answer, as within `asyncio.timeout_at`."""

    async def stubborn() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "all the same"
        raise AssertionError("nobody wakes it")

    assert limited(stubborn(), seconds=0.0) == "all the same"


def test_cancelled_from_outside() -> None:
    """It arrives in the call, and is no time-out."""
    seen: list[str] = []

    async def hangs() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def go() -> None:
        task = asyncio.create_task(ended_by(asyncio.get_running_loop().time() + LONG_S, hangs()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()

    asyncio.run(go())
    assert seen == ["cancelled"]
