"""What a session uses is known while it is under way, and what the agent's shell asks of the model is part of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

from skillgauge.api import EventKind, Execution, TrajectoryEvent, Usage
from skillgauge_agent_programs.spending import SpendingWatch, with_relayed


@dataclass
class Relayed:
    """A workspace of which its relay's sums matter."""

    relayed: Usage | None
    broken_off: int = 0


def used(told: Usage | None, seen: Usage | None) -> tuple[Usage | None, tuple[str, ...]]:
    """Usage and notes of a session."""
    found = with_relayed(Execution(usage=told), cast(Any, Relayed(seen)))
    return found.usage, found.notes


def test_more_than_the_program_tells_is_counted() -> None:
    """All tokens are the relay's, and the cost grows with them; a note says why."""
    told = Usage(input_tokens=80, output_tokens=20, cost_usd=0.5, cost_basis="reported")
    usage, notes = used(told, Usage(input_tokens=350, output_tokens=50, total_tokens=400))
    assert usage is not None
    assert (usage.all_tokens, usage.cost_usd) == (400, 2.0)
    assert usage.cost_basis == "reported, in proportion to all tokens"
    assert usage.input_tokens == 80
    assert "300 tokens" in notes[0]


def test_what_the_program_tells_stands() -> None:
    """Where the relay saw no more, saw nothing, or there is none."""
    told = Usage(input_tokens=80, output_tokens=20, cost_usd=0.5)
    for seen in (None, Usage(total_tokens=100), Usage(total_tokens=3)):
        assert used(told, seen) == (told, ())
    assert with_relayed(Execution(usage=told), cast(Any, object())).usage == told


def test_thinking_is_told_by_the_relay_where_both_count_the_same() -> None:
    """What the program itself tells of it stands, and a relay that saw something else cannot say whose it was."""
    told = Usage(input_tokens=80, output_tokens=20)
    for own, seen, known in ((None, 100, 7), (3, 100, 3), (None, 99, None), (None, 101, None)):
        reported = told.model_copy(update={"reasoning_tokens": own})
        usage, _ = used(reported, Usage(total_tokens=seen, reasoning_tokens=7))
        assert usage is not None
        assert usage.reasoning_tokens == known


def test_a_program_that_tells_nothing_is_counted_by_the_relay() -> None:
    """Its cost stays unknown."""
    seen = Usage(input_tokens=1, output_tokens=2, total_tokens=3)
    assert used(None, seen) == (seen, ())


def test_answers_that_broke_off_are_told_from_requests_of_others() -> None:
    """Where an answer broke off, nobody else is accused of having asked."""
    told, seen = Usage(total_tokens=100), Usage(total_tokens=400)
    for broken_off, words in ((1, "an answer of the model broke off"), (2, "2 answers of the model broke off")):
        (note,) = with_relayed(Execution(usage=told), cast(Any, Relayed(seen, broken_off))).notes
        assert words in note
        assert "somebody else" not in note


Told = list[TrajectoryEvent | Usage]


def watched(
    workspace: object, read: Callable[[], Usage | None], session: Callable[[SpendingWatch, Told], Awaitable[None]]
) -> Told:
    """What is emitted of a session."""
    told: Told = []

    async def go() -> None:
        async with SpendingWatch(cast(Any, workspace), told.append, read) as watch:
            await session(watch, told)

    asyncio.run(go())
    return told


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, for a while."""
    for _ in range(1000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never held")


def test_usage_is_emitted_as_the_relay_sees_it() -> None:
    """Each time that there is more, and never less; the program is not asked then."""
    workspace = Relayed(None)

    async def session(watch: SpendingWatch, told: Told) -> None:
        for tokens, emitted in ((10, 1), (30, 2), (20, 2), (40, 3)):
            workspace.relayed = Usage(total_tokens=tokens)
            await until(lambda count=emitted: len(told) >= count)  # type: ignore[misc]

    told = watched(workspace, lambda: None, session)
    assert [one.all_tokens for one in told if isinstance(one, Usage)] == [10, 30, 40]


def test_without_a_relay_the_program_is_read() -> None:
    """After its events, which are passed on."""
    event = TrajectoryEvent(kind=EventKind.MESSAGE, text="hello")
    counts = [0]

    def read() -> Usage | None:
        return Usage(total_tokens=counts[0]) if counts[0] else None

    async def session(watch: SpendingWatch, told: Told) -> None:
        watch.emit(event)
        counts[0] = 7
        await until(lambda: len(told) == 2)

    assert watched(object(), read, session) == [event, Usage(total_tokens=7)]


def test_a_session_that_is_cancelled_is_looked_at_once_more() -> None:
    """The relay and the program are asked at the end, and the larger count holds."""
    workspace = Relayed(None)
    told: Told = []

    async def go() -> None:
        begun = asyncio.Event()

        async def session() -> None:
            async with SpendingWatch(cast(Any, workspace), told.append, lambda: Usage(total_tokens=9)):
                begun.set()
                await asyncio.sleep(60)

        task = asyncio.create_task(session())
        await begun.wait()
        workspace.relayed = Usage(total_tokens=5)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(go())
    assert [one.all_tokens for one in told if isinstance(one, Usage)][-1] == 9
