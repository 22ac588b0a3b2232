"""The sessions that a run has at a service which other runs of its store ask as well."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from ...errors import StoreError
from ...types.usage import ServiceShare, ServiceStanding


class Occupy(Protocol):
    """`LimitingStore.occupy` for one run and service."""

    async def __call__(self, share: ServiceShare, *, must_fit: bool) -> ServiceStanding:
        """Put a share in place of the earlier one."""


class SharedPlaces:
    """The places of this run at one service, as the store of the run is told of them.

    Args:
        occupy: tells the store.
    """

    def __init__(self, occupy: Occupy) -> None:
        self._occupy = occupy
        self._held = 0
        self._wanted = 0
        """Sessions that wait for a place."""
        self._paused_until = 0.0
        self._turn = asyncio.Lock()
        self._writing = asyncio.Lock()
        """One share after another, so that an older one never comes last."""
        self._is_behind = False
        """Whether the store was told of something else than how it is."""
        self._telling: asyncio.Task[None] | None = None
        self._broken: StoreError | None = None

    @property
    def is_idle(self) -> bool:
        """True if the run has no place."""
        return self._held == 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until nobody else of this run waits at the store; the body asks until it has a place."""
        self._wanted += 1
        try:
            async with self._turn:
                yield
        except BaseException:
            self._wanted -= 1
            self.tell()  # that it does not wait; what was asked for may be with the store, too
            raise
        self._wanted -= 1

    async def ask(self) -> ServiceStanding:
        """Ask for one more place, which the run has if it fits.

        Raises:
            StoreError: this, or what it was told before, cannot be kept.
        """
        self._require_store()
        async with self._writing:
            standing = await self._occupy(self._share(1), must_fit=True)
            self._held += standing.fits
        return standing

    def leave(self) -> None:
        """Give a place back."""
        self._held -= 1
        self.tell()

    def pause(self, pause_s: float) -> None:
        """Have all runs wait: the service asks for it."""
        self._paused_until = max(self._paused_until, asyncio.get_running_loop().time() + pause_s)
        self.tell()

    def tell(self) -> None:
        """Tell the store how it is; what changes meanwhile is told with the next call."""
        self._is_behind = True
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def close(self) -> None:
        """Wait until the store knows what was given back.

        Raises:
            StoreError: it could not be told.
        """
        if self._telling:
            await self._telling
        self._require_store()

    async def _tell(self) -> None:
        while self._is_behind:
            async with self._writing:
                self._is_behind = False  # what changes from now on is told anew
                try:
                    await self._occupy(self._share(0), must_fit=False)
                except StoreError as error:
                    self._broken = error  # raised where somebody awaits

    def _require_store(self) -> None:
        if self._broken:
            raise self._broken

    def _share(self, more: int) -> ServiceShare:
        pause_s = max(0.0, self._paused_until - asyncio.get_running_loop().time())
        return ServiceShare(sessions=self._held + more, waits=self._wanted > more, pause_s=pause_s)
