"""Several runs that ask one service: together never more sessions than it gets, and all of them equally many."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.errors import Problem, StoreError
from skillgauge.run import services
from skillgauge.run.services import NotTried, Service, Services
from skillgauge.types.trial import Failure, FailureClass, Identity
from skillgauge.types.usage import ServiceShare, ServiceStanding, SharedService
from skillgauge_stored_runs import share_after, standing_at

from .jumping import run

HOST = "api.example"
LATENCY_S = 0.01


class Table:
    """What a store keeps of a service, in this process."""

    def __init__(self) -> None:
        self.shares: dict[str, ServiceShare] = {}
        self.gone: set[str] = set()
        """Runs whose processes are dead."""
        self.asked = Counter[str]()
        """Calls by each run."""
        self._paused_until = 0.0

    async def occupy(
        self, service: SharedService, run_id: str, share: ServiceShare, *, must_fit: bool
    ) -> ServiceStanding:
        """See `LimitingStore.occupy`."""
        await asyncio.sleep(LATENCY_S / 2)
        self.asked[run_id] += 1
        now = asyncio.get_running_loop().time()
        self._paused_until = max(self._paused_until, now + share.pause_s)
        others = [one for name, one in self.shares.items() if name not in {run_id, *self.gone}]
        standing = standing_at(service, share, others, self._paused_until - now)
        earlier = self.shares.get(run_id, ServiceShare())
        self.shares[run_id] = share_after(standing, share, earlier, must_fit=must_fit)
        await asyncio.sleep(LATENCY_S / 2)
        return standing

    def services(self, run_id: str, sessions: int, *, concurrency: int = 100) -> Services:
        """The services of a run, of which one gets so many sessions of all runs."""
        made = Services(concurrency, [SharedService(name=HOST, sessions=sessions)])
        made.share(self, run_id)
        return made


class Watch:
    """Counts the sessions that are under way."""

    def __init__(self) -> None:
        self.now = Counter[str]()
        self.most = 0
        self.done = Counter[str]()

    async def session(self, service: Service, run_id: str, lasts_s: float, end: Failure | None = None) -> None:
        """Hold one."""
        async with service.place("a") as place:
            self.now[run_id] += 1
            self.most = max(self.most, self.now.total())
            await asyncio.sleep(lasts_s)
            self.now[run_id] -= 1
            self.done[run_id] += 1
            place.leave(end)


def of(services: Services) -> Service:
    """The service that all of them share."""
    return services.of(Identity(name="engine", version="1", service=f"https://{HOST}/v1"))


@given(
    limit=st.integers(1, 6),
    runs=st.lists(st.lists(st.integers(1, 40), min_size=1, max_size=8), min_size=1, max_size=4),
    concurrency=st.integers(1, 8),
)
def test_together_never_more_than_the_service_gets(limit: int, runs: list[list[int]], concurrency: int) -> None:
    """However many want how much; every session is held in the end, and nothing stays occupied."""
    table, watch = Table(), Watch()

    async def carry_out(run_id: str, lengths: list[int]) -> None:
        services = table.services(run_id, limit, concurrency=concurrency)
        await asyncio.gather(*(watch.session(of(services), run_id, length) for length in lengths))
        await services.close()

    async def all_of_them() -> None:
        await asyncio.gather(*(carry_out(f"run{number}", lengths) for number, lengths in enumerate(runs)))

    run(all_of_them())
    assert watch.most <= limit
    assert watch.done.total() == sum(map(len, runs))
    assert set(table.shares.values()) == {ServiceShare()}


def test_a_run_alone_gets_all_places() -> None:
    """At once, though it asks for one after another."""
    table, watch = Table(), Watch()

    async def carry_out() -> float:
        services = table.services("one", 8)
        await asyncio.gather(*(watch.session(of(services), "one", 60) for _ in range(16)))
        await services.close()
        return asyncio.get_running_loop().time()

    took_s = run(carry_out())
    assert watch.most == 8
    assert took_s < 2 * 60 + 5


@pytest.mark.parametrize("late", [1, 2])
def test_runs_that_come_later_get_as_many(late: int) -> None:
    """The first one gives places away as its sessions end, until all have as many."""
    table, watch = Table(), Watch()
    names = ["first", *(f"late{number}" for number in range(late))]

    async def carry_out() -> dict[str, int]:
        tasks = []
        for name in names:
            service = of(table.services(name, 12))
            tasks += [asyncio.create_task(watch.session(service, name, 50 + 3 * number)) for number in range(200)]
            await asyncio.sleep(100)
        await asyncio.sleep(1000)
        seen = dict(watch.now)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return seen

    seen = run(carry_out())
    assert watch.most == 12
    share = 12 // len(names)
    assert all(abs(seen[name] - share) <= 1 for name in names), seen


def test_a_run_that_waits_and_hangs_costs_one_place() -> None:
    """Only that much is left free for it."""
    table, watch = Table(), Watch()
    table.shares["hangs"] = ServiceShare(waits=True)

    async def carry_out() -> None:
        services = table.services("one", 4)
        await asyncio.gather(*(watch.session(of(services), "one", 10) for _ in range(9)))
        await services.close()

    run(carry_out())
    assert watch.most == 3


def test_the_dead_hold_nothing() -> None:
    """Nobody works on their sessions any more."""
    table, watch = Table(), Watch()
    table.shares["dead"] = ServiceShare(sessions=2, waits=True)
    table.gone.add("dead")
    run(watch.session(of(table.services("one", 2)), "one", 1))
    assert watch.done == {"one": 1}


def test_all_runs_wait_when_one_was_asked_to() -> None:
    """As long as the service said, although the other run has never heard from it."""
    table, watch = Table(), Watch()

    async def carry_out() -> tuple[float, float]:
        first, second = table.services("first", 5), table.services("second", 5)
        limited = Failure.of_agent(FailureClass.RATE_LIMITED, "slow down", retry_after_s=120.0)
        await watch.session(of(first), "first", 1, limited)
        told = asyncio.get_running_loop().time()
        await asyncio.sleep(2)
        await watch.session(of(second), "second", 0)
        return told, asyncio.get_running_loop().time()

    told, began = run(carry_out())
    assert told + 120 <= began < told + 121


def test_a_long_pause_is_granted_to_nobody() -> None:
    """A pause that one run gives up for ends the others, too, and they say when to come again."""
    table, watch = Table(), Watch()

    async def carry_out() -> str:
        first, second = table.services("first", 5), table.services("second", 5)
        limited = Failure.of_agent(FailureClass.RATE_LIMITED, "slow down", retry_after_s=3600.0)
        await watch.session(of(first), "first", 1, limited)
        await first.close()
        with pytest.raises(NotTried) as not_tried:
            await watch.session(of(second), "second", 0)
        await second.close()
        return not_tried.value.failure.message

    message = run(carry_out())
    assert message.startswith(f"not tried: {HOST} is overloaded; it asks for a pause of 3")
    assert not any(share.sessions or share.waits for share in table.shares.values())


@pytest.mark.parametrize("after_s", [0, LATENCY_S / 4, LATENCY_S * 3 / 4, LATENCY_S, 3, 50])
def test_who_stops_waiting_is_in_nobodys_way(after_s: float) -> None:
    """Whether it waits for the store, for a place or for its turn."""
    table, watch = Table(), Watch()

    async def carry_out() -> int:
        busy, other = table.services("busy", 1), table.services("other", 1)
        holding = asyncio.create_task(watch.session(of(busy), "busy", 100))
        await asyncio.sleep(1)
        waiting = [asyncio.create_task(watch.session(of(other), "other", 1)) for _ in range(3)]
        await asyncio.sleep(after_s)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await other.close()
        assert table.shares.get("other", ServiceShare()) == ServiceShare()
        await holding
        await watch.session(of(other), "other", 1)
        await busy.close()
        await other.close()
        return of(other).under_way

    assert run(carry_out()) == 0
    assert set(table.shares.values()) == {ServiceShare()}


def test_a_wait_asks_seldom() -> None:
    """Once in five seconds, however many sessions of the run wait."""
    table, watch = Table(), Watch()

    async def carry_out() -> None:
        busy, other = table.services("busy", 1), table.services("other", 1)
        holding = asyncio.create_task(watch.session(of(busy), "busy", 1000))
        await asyncio.sleep(1)
        waiting = [asyncio.create_task(watch.session(of(other), "other", 1)) for _ in range(30)]
        await asyncio.sleep(990)
        for task in waiting:
            task.cancel()
        await asyncio.gather(holding, *waiting, return_exceptions=True)

    run(carry_out())
    assert 190 <= table.asked["other"] <= 210


def test_a_run_that_waits_for_others_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, and only where nothing of its own is under way."""
    table, watch = Table(), Watch()
    said: list[tuple[str, dict[str, object]]] = []

    class _Log:
        def warning(self, event: str, **facts: object) -> None:
            said.append((event, facts))

    monkeypatch.setattr(services, "log", _Log())

    async def carry_out() -> None:
        busy, other = table.services("busy", 2), table.services("other", 2)
        holding = [asyncio.create_task(watch.session(of(busy), "busy", 30)) for _ in range(4)]
        await asyncio.sleep(1)
        await watch.session(of(other), "other", 1)
        await asyncio.gather(*holding)

    run(carry_out())
    assert said == [("provider.full", {"service": HOST, "sessions_of_other_runs": 2})]


def test_other_services_are_no_business_of_the_store() -> None:
    """Only what has a limit is looked up."""
    table, watch = Table(), Watch()
    services = table.services("one", 1)
    run(watch.session(services.of(Identity(name="engine", version="1", service="https://other.example")), "one", 1))
    assert not table.asked


class _Broken(Table):
    """Fails at some call and from then on."""

    def __init__(self, call: int) -> None:
        super().__init__()
        self._call = call

    async def occupy(
        self, service: SharedService, run_id: str, share: ServiceShare, *, must_fit: bool
    ) -> ServiceStanding:
        """Answer some calls."""
        if self.asked.total() >= self._call:
            raise StoreError(Problem("store.gone", "the store is gone"))
        return await super().occupy(service, run_id, share, must_fit=must_fit)


def test_a_store_that_fails_ends_it() -> None:
    """Where a place is taken, and where the store was to be told that one is free."""

    async def carry_out(call: int) -> None:
        services, watch = _Broken(call).services("one", 1), Watch()
        try:
            for _ in range(5):
                await watch.session(of(services), "one", 1)
        finally:
            assert of(services).under_way == 0
        await services.close()

    for call in range(4):
        with pytest.raises(StoreError, match="the store is gone"):
            run(carry_out(call))
