"""Services whose sessions several runs share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from skillgauge.api import ServiceShare, ServiceStanding, SharedService
from skillgauge_testkit.contract import samples

SERVICE = SharedService(name="api.example", sessions=2)


@pytest.mark.postgres
def test_a_pause_ends(place: Any) -> None:
    """By the clock of the server; what was given back, and what was deleted with its run, holds nobody up."""
    store = place.store()

    async def run() -> list[ServiceStanding]:
        first = (await store.begin(samples.head(), fresh=False)).info.run_id
        other = (await store.begin(samples.head("another"), fresh=False)).info.run_id
        await store.occupy(SERVICE, first, ServiceShare(sessions=2, pause_s=60), must_fit=False)
        asked = ServiceShare(sessions=1)
        standings = [await store.occupy(SERVICE, other, asked, must_fit=True)]
        place.sql("UPDATE skillgauge.services SET paused_until = now() - interval '1 second'")
        standings.append(await store.occupy(SERVICE, other, asked, must_fit=True))
        place.sql(f"DELETE FROM skillgauge.runs WHERE run_id = '{first}'")
        standings.append(await store.occupy(SERVICE, other, asked, must_fit=True))
        await store.close()
        return standings

    paused, full, free = asyncio.run(run())
    assert (paused.fits, 50 < paused.pause_s <= 60) == (False, True)
    assert full == ServiceStanding(fits=False, sessions=2, pause_s=0)
    assert free == ServiceStanding(fits=True, sessions=0, pause_s=0)


@pytest.mark.slow
@pytest.mark.postgres
def test_a_run_goes_on_until_its_connection_has_ended(place: Any) -> None:
    """Its sessions count as long, and right after a start of the server for a while."""
    first, second = place.store(), place.store()

    async def run() -> list[int]:
        busy = (await first.begin(samples.head(), fresh=False)).info.run_id
        other = (await second.begin(samples.head("another"), fresh=False)).info.run_id
        await first.occupy(SERVICE, busy, ServiceShare(sessions=2), must_fit=True)
        seen = [(await second.occupy(SERVICE, other, ServiceShare(sessions=1), must_fit=True)).sessions]
        await first.close()
        while not (standing := await second.occupy(SERVICE, other, ServiceShare(sessions=1), must_fit=True)).fits:
            await asyncio.sleep(0.2)
        await second.close()
        return [*seen, standing.sessions]

    assert asyncio.run(asyncio.wait_for(run(), 60)) == [2, 0]
