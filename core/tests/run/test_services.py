"""How many sessions a service gets at once, when everybody waits, and when nobody asks any more."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.run.services import (
    LONGEST_PAUSE_S,
    PATIENCE_S,
    REFUSALS,
    REFUSED_OFTEN,
    NotTried,
    Service,
    Services,
    lend,
    service_of,
)
from skillgauge.types.trial import Blame, Failure, FailureClass, Identity

from .jumping import run


def failure(kind: FailureClass = FailureClass.RATE_LIMITED, retry_after_s: float | None = None) -> Failure:
    """What a service says in place of an answer."""
    return Failure.of_agent(kind, f"{kind}, sorry", retry_after_s=retry_after_s)


async def session(limit: Service, end: Failure | None = None, *, asker: str = "a", lasts_s: float = 1.0) -> float:
    """Hold one session; the time at which it began."""
    async with limit.place(asker) as place:
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(lasts_s)
        place.leave(end)
    return began


async def at_once(limit: Service, *ends: Failure | None) -> None:
    """Hold sessions that begin together."""
    await asyncio.gather(*(session(limit, end) for end in ends))


def test_complaints_at_once_halve_it_once() -> None:
    """Eight sessions that are refused together say one thing: 4 and not 1; the next burst makes it 2."""

    async def bursts() -> list[int]:
        limit, allowed = Service("s", 8), []
        for size in (8, 4, 2, 1):
            await at_once(limit, *[failure()] * size)
            allowed.append(limit.allowed)
        return allowed

    assert run(bursts()) == [4, 2, 1, 1]


def test_a_judge_between_two_turns_shares_the_place_of_its_session() -> None:
    """With one place at the service of both, the session would wait for itself; other sessions wait as ever."""

    async def talk() -> list[int]:
        limit, under_way = Service("s", 1), []
        async with limit.place("agent") as place:
            lend(place)
            async with limit.place("judge") as shared:
                under_way.append(limit.under_way)
                shared.leave(None)
            under_way.append(limit.under_way)
            place.leave(None)
            async with limit.place("judge"):
                under_way.append(limit.under_way)
        return [*under_way, limit.under_way]

    assert run(talk()) == [1, 1, 1, 0]


def test_it_grows_by_one_after_a_full_round() -> None:
    """After a complaint at 6 it takes 3, 4 and 5 good sessions to be back, and then it stays."""

    async def grow() -> list[int]:
        limit, allowed = Service("s", 6), []
        await session(limit, failure(FailureClass.OVERLOADED))
        for _ in range(3 + 4 + 5 + 7):
            await session(limit)
            allowed.append(limit.allowed)
        return allowed

    assert run(grow()) == [3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5] + [6] * 8


def test_a_good_end_of_an_old_session_makes_it_no_faster() -> None:
    """What began before the number was halved is no proof that the new one can grow."""

    async def old_ones() -> int:
        limit = Service("s", 8)
        slow = [asyncio.create_task(session(limit, lasts_s=50)) for _ in range(7)]
        await session(limit, failure())
        await asyncio.gather(*slow)
        return limit.allowed

    assert run(old_ones()) == 4


def test_other_failures_say_nothing_about_load() -> None:
    """A crash or an agent that ran out of turns is no reason to go slower, and none to go faster."""

    async def others() -> int:
        limit = Service("s", 4)
        for kind in set(FailureClass) - {FailureClass.RATE_LIMITED, FailureClass.OVERLOADED}:
            await session(limit, failure(kind), asker=kind)
        return limit.allowed

    assert run(others()) == 4


@dataclass
class Bearing:
    """Bears so many sessions at once, and refuses all beyond them with a pause."""

    bears: int
    retry_after_s: float | None
    refused: int = 0
    most_at_once: int = 0
    now: int = 0

    async def session(self, limit: Service) -> None:
        """Try until it was answered."""
        end: Failure | None = failure()
        while end is not None:
            async with limit.place("a") as place:
                self.now += 1
                self.most_at_once = max(self.most_at_once, self.now)
                end = None if self.now <= self.bears else failure(retry_after_s=self.retry_after_s)
                await asyncio.sleep(0.1 if end else 4.0)
                self.now -= 1
                place.leave(end)
            self.refused += end is not None


@given(
    bears=st.integers(1, 12),
    most=st.integers(1, 12),
    sessions=st.integers(1, 60),
    retry_after_s=st.none() | st.floats(0.2, 5),
)
def test_what_a_service_bears_is_found(bears: int, most: int, sessions: int, retry_after_s: float | None) -> None:
    """All sessions come to a good end, never more than allowed are under way, and few are refused."""
    service = Bearing(bears, retry_after_s)

    async def simulate() -> Service:
        limit = Service("s", most)
        await asyncio.gather(*(service.session(limit) for _ in range(sessions)))
        return limit

    limit = run(simulate())
    assert service.most_at_once <= most
    assert limit.under_way == 0
    assert 1 <= limit.allowed <= most
    if most <= bears:
        assert service.refused == 0
        assert limit.allowed == most
    # The first burst costs what is too much of it; then a growing number meets the bound once per round at most.
    assert service.refused <= max(0, most - bears) + 2 * most + sessions


@given(st.lists(st.sampled_from(["good", "too much", "crash", "auth"]), max_size=40), st.integers(1, 12))
def test_it_stays_between_one_and_the_most(ends: list[str], most: int) -> None:
    """Whatever happens: somebody may go on unless it is closed, and nobody exceeds what the user allows."""
    kinds = {"too much": FailureClass.OVERLOADED, "crash": FailureClass.CRASH, "auth": FailureClass.AUTH}

    async def go() -> None:
        limit = Service("s", most)
        for number, end in enumerate(ends):
            try:
                await session(limit, failure(kinds[end]) if end in kinds else None, asker=f"{number % 3}")
            except NotTried:
                continue
            assert 1 <= limit.allowed <= most
            assert limit.under_way == 0

    run(go())


def test_no_more_sessions_than_allowed_are_under_way() -> None:
    """Twelve want in; at most three are, and all of them get their turn, in the order in which they came."""

    async def all_of_them() -> list[float]:
        limit = Service("s", 3)
        return await asyncio.gather(*(session(limit) for _ in range(12)))

    assert run(all_of_them()) == [0.0] * 3 + [1.0] * 3 + [2.0] * 3 + [3.0] * 3


def test_a_place_is_free_before_the_grading() -> None:
    """Who has left a place holds none, although its context is still open: a judge gets in."""

    async def graded() -> int:
        limit = Service("s", 1)
        async with limit.place("engine") as place:
            place.leave(None)
            async with limit.place("judge"):
                return limit.under_way

    assert run(graded()) == 1


def test_a_pause_that_is_asked_for_holds_everybody_back() -> None:
    """Retry-After counts for all who ask the service, and a later, shorter one does not shorten it."""

    async def waits() -> list[float]:
        limit = Service("s", 4)
        await at_once(limit, failure(retry_after_s=70), failure(retry_after_s=7))
        return await asyncio.gather(session(limit, asker="a"), session(limit, asker="b"))

    assert run(waits()) == [71.0, 71.0]


def test_without_a_word_the_pauses_double() -> None:
    """1 s after the first burst, twice that after each further one, 1 s again after a good session; none over 60 s."""

    async def waits() -> list[float]:
        limit, pauses, ended = Service("s", 1), [], 0.0
        for end in [failure()] * 8 + [None] + [failure()] * 2:
            began = await session(limit, end)
            pauses.append(began - ended)
            ended = began + 1.0
        return pauses

    assert run(waits()) == [0, 1, 2, 4, 8, 16, 32, 60, 60, 0, 1]


def not_tried(limit: Service, asker: str = "a") -> Failure | None:
    """Why there is no place for somebody; `None` if there is one."""

    async def attempt() -> Failure | None:
        try:
            await session(limit, asker=asker)
        except NotTried as outcome:
            return outcome.failure
        return None

    return run(attempt())


def test_nobody_waits_for_longer_than_the_longest_pause() -> None:
    """A service that asks for hours is closed for this run: everybody is told at once, and why."""
    limit = Service("api.test", 2)

    async def ask() -> float:
        await session(limit, failure(retry_after_s=LONGEST_PAUSE_S))
        return await session(limit, failure(retry_after_s=10_800))

    assert run(ask()) == LONGEST_PAUSE_S + 1
    why = not_tried(limit)
    assert why is not None
    assert (why.failure_class, why.blame, why.retryable) == (
        FailureClass.RATE_LIMITED,
        Blame.INFRASTRUCTURE,
        False,
    )
    assert why.message.startswith("not tried: api.test is overloaded; it asks for a pause of 10800 s")


@given(st.lists(st.floats(0, LONGEST_PAUSE_S), min_size=1, max_size=60))
def test_all_pauses_together_are_bounded(pauses: list[float]) -> None:
    """However a service divides them: without a good session between, it gets no more than so many seconds."""

    async def go() -> float:
        limit, asked = Service("s", 1), cycle(max(0.5, pause) for pause in pauses)

        async def on_and_on() -> None:
            while True:
                await session(limit, failure(retry_after_s=next(asked)), lasts_s=0.0)

        with pytest.raises(NotTried):
            await on_and_on()
        return asyncio.get_running_loop().time()

    assert run(go()) <= PATIENCE_S


def test_who_waits_is_told_that_it_is_closed() -> None:
    """Those that wait for a place and those that wait for a pause end at once."""

    async def go() -> float:
        limit = Service("s", 2)
        first = asyncio.create_task(session(limit, failure(retry_after_s=200)))
        last = asyncio.create_task(session(limit, failure(retry_after_s=9_999), lasts_s=2.0))
        await asyncio.sleep(0)
        waiting = [asyncio.create_task(session(limit)) for _ in range(3)]
        ends = await asyncio.gather(first, last, *waiting, return_exceptions=True)
        assert [isinstance(end, NotTried) for end in ends] == [False, False, True, True, True]
        return asyncio.get_running_loop().time()

    assert run(go()) == 2.0


@pytest.mark.parametrize("kind", sorted(REFUSALS))
def test_who_is_refused_often_does_not_ask_again(kind: FailureClass) -> None:
    """Five refusals of one kind in a row close the service to that engine, and to nobody else."""
    limit = Service("s", 2)
    for _ in range(REFUSED_OFTEN):
        assert not_tried(limit, "b") is None
        run(session(limit, failure(kind), asker="engine 'x'"))
    why = not_tried(limit, "engine 'x'")
    assert why is not None
    assert (why.failure_class, why.blame, why.retryable) == (kind, Blame.INFRASTRUCTURE, False)
    assert why.message == f"not tried: engine 'x' was refused 5 times in a row: {kind}, sorry"
    assert not_tried(limit, "b") is None


@pytest.mark.parametrize("between", [None, FailureClass.BUDGET])
def test_refusals_count_in_a_row(between: FailureClass | None) -> None:
    """A good session between them, or a refusal of another kind, makes the count begin anew."""
    limit = Service("s", 2)
    for _ in range(3):
        for _ in range(REFUSED_OFTEN - 1):
            run(session(limit, failure(FailureClass.AUTH)))
        run(session(limit, failure(between) if between else None))
    assert not_tried(limit) is None


def test_a_cancelled_session_gives_its_place_back() -> None:
    """Else a stop would leave the next run of this process waiting; whoever still waited leaves nothing behind."""

    async def cancel() -> tuple[int, float]:
        limit = Service("s", 1)
        tasks = [asyncio.create_task(session(limit, lasts_s=1e4)) for _ in range(3)]
        await asyncio.sleep(1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return limit.under_way, await session(limit)

    assert run(cancel()) == (0, 1.0)


@pytest.mark.parametrize(
    ("asker", "service"),
    [
        (Identity(name="x", service="https://API.acme.test/v1"), "api.acme.test"),
        (Identity(name="x", service="http://me:canary@127.0.0.1:8080"), "127.0.0.1:8080"),
        (Identity(name="x", service="acme"), "acme"),
        (Identity(name="x"), "x"),
    ],
)
def test_a_service_is_known_by_its_host(asker: Identity, service: str) -> None:
    """Path and spelling make no other service; who tells no address has one of its own."""
    assert service_of(asker) == service


def test_engines_and_judges_of_one_service_share_its_limit() -> None:
    """Whoever asks the same host, whatever its name and path."""
    services = Services(3)
    engine = services.of(Identity(name="agent", service="https://api.test"))
    assert services.of(Identity(name="judge", service="https://api.test/v1")) is engine
    assert services.of(Identity(name="agent", service="https://other.test")) is not engine
    assert engine.allowed == 3
