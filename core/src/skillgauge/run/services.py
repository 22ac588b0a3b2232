"""Care for services that models are asked from: how many may ask at once, when to wait, and when to give up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import urlsplit

from ..contract.stores import LimitingStore
from ..log import get_logger
from ..types.trial import LONGEST_PAUSE_S, Failure, FailureClass, Identity
from ..types.usage import SharedService
from .scheduling.shared_places import Occupy, SharedPlaces

log = get_logger(__name__)

OVERLOAD = frozenset({FailureClass.RATE_LIMITED, FailureClass.OVERLOADED})
REFUSALS = frozenset({FailureClass.AUTH, FailureClass.BUDGET, FailureClass.MODEL_NOT_FOUND})
"""What is the same for every session: nothing about a single one of them can change it."""
REFUSED_OFTEN = 5
"""So many refusals of one kind in a row, and who was refused does not ask again."""
PATIENCE_S = 600.0
"""Pauses without a good session between them that a service gets, all in all."""
_LONGEST_BACKOFF_S = 60.0
_FIRST_LOOK_S, _LONGEST_LOOK_S = 1.0, 5.0
"""How long to wait before looking again whether other runs have left a place."""


class NotTried(Exception):  # noqa: N818 - an outcome
    """A service is not asked any more; `failure` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Place:
    """One of the places at a service; to be left when its answer is there, which may be before the context ends."""

    def __init__(self, service: Service, asker: str, period: int, *, is_held: bool = True) -> None:
        self._service = service
        self._is_held = is_held
        self.asker = asker
        self.period = period

    def leave(self, failure: Failure | None) -> None:
        """Give the place back and tell how the session ended; `None`: well."""
        self._service.heard(self, failure)
        self.free()

    def is_held_at(self, service: Service) -> bool:
        """Tell whether it is a place at a service that was not given back yet."""
        return self._is_held and self._service is service

    def free(self) -> None:
        """Give the place back, unless it is already."""
        if self._is_held:
            self._is_held = False
            self._service.freed()


_lent: ContextVar[Place | None] = ContextVar("place", default=None)


def lend(place: Place) -> None:
    """Have judges that this task asks share the place of its session, which waits for them between its turns."""
    _lent.set(place)


class Service:
    """The number of sessions that one service gets at once, and whether it gets any.

    The number grows by one after as many good sessions in a row and halves when the service says that it is too much:
    additive increase and multiplicative decrease, as congestion control does it (Chiu and Jain 1989). What is said
    by sessions that began before it was halved is about the old number, so several complaints at once halve it once.
    The pause that the service asks for holds everybody back; if it asks for none, it is 1 s, and twice that each
    further time.

    Args:
        name: of the service, in messages.
        most: never more than these.
        shared: asked for each place, if the store of the run counts those of several runs.
    """

    def __init__(self, name: str, most: int, shared: SharedPlaces | None = None) -> None:
        self.name = name
        self._most = most
        self._shared = shared
        self.allowed = most
        """Sessions that may be under way now."""
        self.under_way = 0
        self._good = 0
        self._period = 0
        """Grows whenever the number is halved."""
        self._bursts = 0
        """Periods without a good session."""
        self._not_before = 0.0
        self._waited_s = 0.0
        """Pauses since the last good session."""
        self._refusals: dict[str, tuple[FailureClass, int]] = {}
        self._closed: Failure | None = None
        self._closed_to: dict[str, Failure] = {}
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def place(self, asker: str) -> AsyncIterator[Place]:
        """Wait for the end of a pause and for a place.

        Args:
            asker: whose key and model are used; one that is refused often is not let in again.

        Raises:
            NotTried: there is no point in asking.
            StoreError: the places of several runs cannot be counted.
        """
        session = _lent.get()
        is_lent = session is not None and session.is_held_at(self)
        while (pause_s := self._pause_s(asker)) > 0 or not (is_lent or self.under_way < self.allowed):
            await self._news(pause_s if pause_s > 0 else None)
        if not is_lent:
            await self._take(asker)
        place = Place(self, asker, self._period, is_held=not is_lent)
        try:
            yield place
        finally:
            place.free()

    def freed(self) -> None:
        """Somebody else may have the place."""
        if self._shared:
            self._shared.leave()
        self._left()

    async def _take(self, asker: str) -> None:
        """Take a place of this run, which there is, and one of all runs, when there is one."""
        self.under_way += 1
        if self._shared is None:
            return
        try:
            async with self._shared.turn():
                await self._share(self._shared, asker)
        except BaseException:
            self._left()
            raise

    async def _share(self, shared: SharedPlaces, asker: str) -> None:
        look_s = _FIRST_LOOK_S
        while True:
            while (pause_s := self._pause_s(asker)) > 0:
                await self._news(pause_s)
            standing = await shared.ask()
            if standing.fits:
                return
            if standing.pause_s > 0:
                self._hold_back(_asked_elsewhere(standing.pause_s), is_news=False)
            else:
                if look_s == _FIRST_LOOK_S and shared.is_idle:  # else the run goes on, and nobody wonders
                    log.warning("provider.full", service=self.name, sessions_of_other_runs=standing.sessions)
                await self._news(look_s)
                look_s = min(2 * look_s, _LONGEST_LOOK_S)

    def _pause_s(self, asker: str) -> float:
        """Return how long nobody may ask, from now on.

        Raises:
            NotTried: there is no point in waiting.
        """
        if closed := self._closed or self._closed_to.get(asker):
            raise NotTried(closed)
        return self._not_before - asyncio.get_running_loop().time()

    async def _news(self, most_s: float | None) -> None:
        """Wait until something is different here, or for so long."""
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                await self._changed.wait()

    def _left(self) -> None:
        self.under_way -= 1
        self._changed.set()

    def heard(self, place: Place, failure: Failure | None) -> None:
        """Learn from how a session ended."""
        if failure is None:
            self._refusals.pop(place.asker, None)
            self._bursts, self._waited_s = 0, 0.0
            if place.period == self._period:
                self._grow()
        elif failure.failure_class in OVERLOAD:
            self._overloaded(failure, is_news=place.period == self._period)
        elif failure.failure_class in REFUSALS:
            self._refused(place.asker, failure)

    def _overloaded(self, failure: Failure, *, is_news: bool) -> None:
        if is_news:
            self._period += 1
            self._bursts += 1
            self._good, self.allowed = 0, max(1, self.allowed // 2)
        if self._shared and failure.retry_after_s:
            self._shared.pause(failure.retry_after_s)
        if self._closed is None:
            self._hold_back(failure, is_news=is_news)

    def _refused(self, asker: str, failure: Failure) -> None:
        kind, before = self._refusals.get(asker, (failure.failure_class, 0))
        times = before + 1 if kind is failure.failure_class else 1
        self._refusals[asker] = (failure.failure_class, times)
        if times >= REFUSED_OFTEN and asker not in self._closed_to:
            why = f"{asker} was refused {times} times in a row: {failure.message}"
            self._closed_to[asker] = _not_tried(failure.failure_class, why)
            log.warning("provider.refuses", service=self.name, asker=asker, why=failure.message)

    def _grow(self) -> None:
        self._good += 1
        if self._good >= self.allowed and self.allowed < self._most:
            self._good = 0
            self.allowed += 1

    def _hold_back(self, failure: Failure, *, is_news: bool) -> None:
        own_s = min(2.0 ** min(self._bursts - 1, 10), _LONGEST_BACKOFF_S) if is_news else 0.0
        pause_s = own_s if failure.retry_after_s is None else failure.retry_after_s
        now = asyncio.get_running_loop().time()
        longer_s = max(0.0, now + pause_s - max(now, self._not_before))
        why = ""
        if pause_s > LONGEST_PAUSE_S:
            end = datetime.now(UTC) + timedelta(seconds=pause_s)
            why = (
                f"it asks for a pause of {pause_s:.0f} s, and the longest that is granted is {LONGEST_PAUSE_S:.0f} s: "
                f"run the same command again after {end:%Y-%m-%d %H:%M} UTC"
            )
        elif self._waited_s + longer_s > PATIENCE_S:
            why = f"after pauses of {self._waited_s:.0f} s it asks for more, and all may last {PATIENCE_S:.0f} s"
        if why:
            self._closed = _not_tried(failure.failure_class, f"{self.name} is overloaded; {why}")
            log.warning("provider.closed", service=self.name, why=why)
        elif longer_s:
            self._waited_s += longer_s
            self._not_before = now + pause_s
            log.info("provider.pause", service=self.name, pause_s=pause_s, allowed=self.allowed)
        self._changed.set()


def _asked_elsewhere(pause_s: float) -> Failure:
    """Return the failure of another run that was asked to wait."""
    message = "another run of this store was asked to wait"
    return Failure.of_agent(FailureClass.RATE_LIMITED, message, retry_after_s=pause_s)


def _not_tried(kind: FailureClass, why: str) -> Failure:
    return Failure.of_agent(kind, f"not tried: {why}").model_copy(update={"retryable": False})


class Services:
    """The services that a run asks, each with one limit for all engines and judges that ask it.

    Args:
        most: sessions of this run that any of them gets at once.
        shared: those of which other runs have sessions, too.
    """

    def __init__(self, most: int, shared: Iterable[SharedService] = ()) -> None:
        self._most = most
        self._shared = {service.name: service for service in shared}
        self._places: list[SharedPlaces] = []
        self._services: dict[str, Service] = {}
        self._occupy: Callable[[SharedService], Occupy] | None = None

    def share(self, store: LimitingStore, run_id: str) -> None:
        """From now on have the store of a run count its sessions at services that several runs share."""
        self._occupy = lambda service: partial(store.occupy, service, run_id)

    def of(self, asker: Identity) -> Service:
        """The service behind an engine or a judge."""
        name = service_of(asker)
        if name not in self._services:
            self._services[name] = Service(name, self._most, self._places_at(name))
        return self._services[name]

    async def close(self) -> None:
        """Have the store know that no session is under way any more.

        Raises:
            StoreError: it could not be told.
        """
        for places in self._places:
            await places.close()

    def _places_at(self, name: str) -> SharedPlaces | None:
        if self._occupy is None or name not in self._shared:
            return None
        self._places.append(SharedPlaces(self._occupy(self._shared[name])))
        return self._places[-1]


def service_of(asker: Identity) -> str:
    """Return the service that a limit belongs to: host and port that are asked, else the name of the asking plugin."""
    name = asker.service or asker.name
    return urlsplit(name).netloc.rpartition("@")[2].lower() or name
