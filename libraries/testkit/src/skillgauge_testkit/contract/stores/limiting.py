"""The contract of stores that also keep how many sessions runs have at a service: see `LimitingStore`."""

from __future__ import annotations

import asyncio

from skillgauge.api import LimitingStore, ServiceShare, ServiceStanding, SharedService

from .. import samples
from ..clauses import answered, require, shown
from ..shapes import require_shape
from .places import Place

_SERVICE = SharedService(name="api.example", sessions=3)
_RUNS, _ROUNDS, _AT_ONCE = 8, 8, 4
_PAUSE_S = 900.0


async def shares_services(place: Place) -> None:
    """Sessions of runs are weighed against each other, given back, kept apart by service, and end with their run."""
    async with place.store() as store:
        if not isinstance(store, LimitingStore):
            return
        require_shape(store, LimitingStore)
        log = await place.begin(store, samples.head())
        first, second = log.info.run_id, (await place.begin(store, samples.head("another plan"))).info.run_id
        await _require(place, store, first, ServiceShare(sessions=2), True, "two sessions of three")
        await _require(place, store, second, ServiceShare(sessions=1), True, "the third session of three")
        full = await _require(place, store, second, ServiceShare(sessions=2), False, "a fourth session of three")
        expected = ServiceStanding(fits=False, sessions=2, pause_s=0.0)
        require(full == expected, f"LimitingStore.occupy must answer {shown(expected)}, not {shown(full)}")
        await _occupy(place, store, first, ServiceShare(sessions=1), must_fit=False)
        await _require(place, store, first, ServiceShare(sessions=2), True, "a session where one was given back")
        await _occupy(place, store, second, ServiceShare(), must_fit=False)
        await _require(place, store, second, ServiceShare(sessions=2), False, "more sessions than are left")
        words = "a session that would leave none for a run which waits and has fewer"
        await _require(place, store, first, ServiceShare(sessions=3), False, words)
        await _require(place, store, second, ServiceShare(sessions=1), True, "a session of the run with fewer")
        other = _SERVICE.model_copy(update={"name": "other.example"})
        words = "sessions at another service"
        await _require(place, store, second, ServiceShare(sessions=3), True, words, service=other)
        over = await _occupy(place, store, second, ServiceShare(sessions=5), must_fit=False)
        require(not over.fits, f"LimitingStore.occupy must not fit what is above the limit, but said {shown(over)}")
        await _pauses(place, store, first, second)
    if store.durable:
        async with place.store() as again:
            assert isinstance(again, LimitingStore)
            third = (await place.begin(again, samples.head("a third plan"))).info.run_id
            words = "sessions where nobody works on the runs that had some"
            await _require(place, again, third, ServiceShare(sessions=3), True, words)


async def _pauses(place: Place, store: LimitingStore, first: str, second: str) -> None:
    service = _SERVICE.model_copy(update={"name": "busy.example"})
    await _occupy(place, store, first, ServiceShare(pause_s=_PAUSE_S), must_fit=False, service=service)
    await _occupy(place, store, first, ServiceShare(pause_s=1.0), must_fit=False, service=service)
    words = "a session at a service that has asked another run to wait"
    standing = await _require(place, store, second, ServiceShare(sessions=1), False, words, service=service)
    rest = f"LimitingStore.occupy must tell the rest of the longest pause, of {_PAUSE_S:g} s, not {shown(standing)}"
    require(_PAUSE_S - place.patience_s <= standing.pause_s <= _PAUSE_S, rest)


async def occupies_for_one_at_a_time(place: Place) -> None:
    """Of several runs that ask at the same time, each by a store of its own, as many get a session as there may be."""
    async with place.store() as one, place.store() as other:
        if not isinstance(one, LimitingStore) or not isinstance(other, LimitingStore):
            return
        stores = (one, other)
        logs = [await place.begin(stores[number % 2], samples.head(f"plan {number}")) for number in range(_RUNS)]
        for number in range(_ROUNDS):
            service = SharedService(name=f"round-{number}.example", sessions=_AT_ONCE)
            standings = await asyncio.gather(
                *(
                    _occupy(place, stores[number % 2], log.info.run_id, ServiceShare(sessions=1), service=service)
                    for number, log in enumerate(logs)
                )
            )
            fitting = sum(standing.fits for standing in standings)
            message = f"of {_RUNS} runs at once, {_AT_ONCE} must get a session by LimitingStore.occupy, not {fitting}"
            require(fitting == _AT_ONCE, message)


OF_SERVICES = (shares_services, occupies_for_one_at_a_time)
"""All clauses of it."""


async def _require(
    place: Place,
    store: LimitingStore,
    run_id: str,
    share: ServiceShare,
    fits: bool,
    words: str,
    *,
    service: SharedService = _SERVICE,
) -> ServiceStanding:
    standing = await _occupy(place, store, run_id, share, service=service)
    verb = "give room to" if fits else "refuse"
    require(standing.fits is fits, f"LimitingStore.occupy must {verb} {words}, but answered {shown(standing)}")
    return standing


async def _occupy(
    place: Place,
    store: LimitingStore,
    run_id: str,
    share: ServiceShare,
    *,
    must_fit: bool = True,
    service: SharedService = _SERVICE,
) -> ServiceStanding:
    async def occupy() -> ServiceStanding:
        return await store.occupy(service, run_id, share, must_fit=must_fit)

    return await answered("LimitingStore.occupy", place.patience_s, occupy)
