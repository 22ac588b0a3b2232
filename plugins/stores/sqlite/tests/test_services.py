"""Services whose sessions several runs share."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import ModuleType

from skillgauge.api import ServiceShare, ServiceStanding, SharedService
from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.ownership import Timing
from skillgauge_store_sqlite.store import SqliteStore

SERVICE = SharedService(name="api.example", sessions=2)


def test_a_pause_ends(make: ModuleType, path: Path) -> None:
    """By the clock, and a shorter one that is asked for meanwhile does not end it earlier."""
    now = [1000.0]
    store = SqliteStore(SqliteOptions(location=str(path)), timing=Timing(clock=lambda: now[0]))

    async def run() -> list[ServiceStanding]:
        run_id = (await store.begin(make.head(), fresh=False)).info.run_id
        await store.occupy(SERVICE, run_id, ServiceShare(pause_s=60), must_fit=False)
        standings = []
        for later_s, pause_s in ((20, 10), (20, 0), (20, 0)):
            now[0] += later_s
            share = ServiceShare(sessions=1, pause_s=pause_s)
            standings.append(await store.occupy(SERVICE, run_id, share, must_fit=True))
        await store.close()
        return standings

    assert [(one.fits, one.pause_s) for one in asyncio.run(run())] == [(False, 40), (False, 20), (True, 0)]


def test_nothing_is_left_of_what_was_given_back(make: ModuleType, path: Path) -> None:
    """A run that has no session and wants none has no row; a deleted one holds nobody up."""
    store = SqliteStore(SqliteOptions(location=str(path)))

    async def run() -> tuple[ServiceStanding, list[tuple[object, ...]]]:
        first = (await store.begin(make.head(), fresh=False)).info.run_id
        other = (await store.begin(make.head("another"), fresh=False)).info.run_id
        await store.occupy(SERVICE, first, ServiceShare(sessions=2), must_fit=True)
        make.query(path, f"DELETE FROM runs WHERE run_id = '{first}'")
        standing = await store.occupy(SERVICE, other, ServiceShare(sessions=2), must_fit=True)
        await store.occupy(SERVICE, other, ServiceShare(), must_fit=False)
        await store.close()
        return standing, make.query(path, f"SELECT * FROM service_shares WHERE run_id = '{other}'")

    standing, rows = asyncio.run(run())
    assert (standing.fits, rows) == (True, [])
