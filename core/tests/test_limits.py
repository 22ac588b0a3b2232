"""How many sessions a provider gets at once, and when everybody waits."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from skillgauge.limits import LONGEST_PAUSE_S, ProviderLimit
from skillgauge.types.trial import Blame, Failure, FailureClass


def too_much(retry_after_s: float | None = None, kind: FailureClass = FailureClass.RATE_LIMITED) -> Failure:
    """What a provider says that has had enough."""
    return Failure(
        failure_class=kind,
        blame=Blame.INFRASTRUCTURE,
        message="slow down",
        retryable=True,
        retry_after_s=retry_after_s,
    )


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        """Seconds."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.pauses.append(seconds)
        self.now += seconds


def test_it_halves_and_grows_by_one() -> None:
    """8, then 4 and 2 after two complaints; then one more after each full round of good sessions."""
    limit = ProviderLimit(8)
    limit.heard(too_much())
    limit.heard(too_much(kind=FailureClass.OVERLOADED))
    assert limit.allowed == 2
    grown = []
    for _ in range(2 + 3 + 4):
        limit.heard(None)
        grown.append(limit.allowed)
    assert grown == [2, 3, 3, 3, 4, 4, 4, 4, 5]


def test_other_failures_say_nothing_about_load() -> None:
    """A wrong key or a crash is no reason to go slower, and none to go faster."""
    limit = ProviderLimit(4)
    limit.heard(too_much(kind=FailureClass.AUTH))
    assert limit.allowed == 4
    limit.heard(too_much())
    limit.heard(too_much(kind=FailureClass.CRASH))
    limit.heard(None)
    assert limit.allowed == 2


@given(st.lists(st.sampled_from(["good", "too much", "crash"]), max_size=60), st.integers(1, 12))
def test_it_stays_between_one_and_the_most(heard: list[str], most: int) -> None:
    """Whatever happens: somebody may always go on, and nobody exceeds what the user allows."""
    limit = ProviderLimit(most)
    for word in heard:
        limit.heard({"good": None, "too much": too_much(), "crash": too_much(kind=FailureClass.CRASH)}[word])
        assert 1 <= limit.allowed <= most


def test_no_more_sessions_than_allowed_are_under_way() -> None:
    """Twelve want in; at most three are, and all of them get their turn."""
    limit = ProviderLimit(3)
    seen: list[int] = []

    async def session() -> None:
        async with limit.session():
            seen.append(limit.under_way)
            await asyncio.sleep(0)

    async def all_of_them() -> None:
        await asyncio.gather(*(session() for _ in range(12)))

    asyncio.run(all_of_them())
    assert len(seen) == 12
    assert max(seen) == 3
    assert limit.under_way == 0


def test_a_pause_that_is_asked_for_holds_everybody_back() -> None:
    """Retry-After counts for all sessions of the provider, and nobody waits for ever."""
    clock = Clock()
    limit = ProviderLimit(2, clock=clock, sleep=clock.sleep)

    async def enter() -> None:
        async with limit.session():
            pass

    limit.heard(too_much(retry_after_s=7))
    asyncio.run(enter())
    asyncio.run(enter())
    assert clock.pauses == [7.0]
    limit.heard(too_much(retry_after_s=1e9))
    asyncio.run(enter())
    assert clock.pauses == [7.0, LONGEST_PAUSE_S]


def test_a_cancelled_session_gives_its_place_back() -> None:
    """Else a stop would leave the next run of this process waiting."""
    limit = ProviderLimit(1)

    async def stay() -> None:
        async with limit.session():
            await asyncio.Event().wait()

    async def cancel() -> None:
        task = asyncio.create_task(stay())
        while not limit.under_way:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cancel())
    assert limit.under_way == 0
