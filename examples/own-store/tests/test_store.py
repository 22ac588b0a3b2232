"""What becomes of runs where machines are silent and the service refuses."""

import asyncio
import json
from pathlib import Path

import pytest
from acme_shelf.log import ShelfRun
from conftest import TOKEN, Service

from skillgauge.api import PlanHead, RunLog, StoreError
from skillgauge.api.report import RunState
from skillgauge_testkit import STORES, Maker

make = Maker(STORES, "acme_shelf.plugin")
PLAN = PlanHead(plan_id="plan", suites=(), trial_count=0, runs=1, seed=0)


async def begun(service: Service) -> str:
    """Id of a run that was begun and closed."""
    store = make({"location": service.location()})
    log = await store.begin(PLAN, fresh=False)
    await store.close()
    return log.info.run_id


@pytest.mark.parametrize(("left_s", "resumed"), [(3600.0, False), (-3600.0, True)])
def test_a_run_of_a_silent_machine(service: Service, left_s: float, resumed: bool) -> None:
    """A run of another machine is resumed when its lease is over, and not before."""

    async def check() -> RunLog:
        store = make({"location": service.location()})
        log = await store.begin(PLAN, fresh=False)
        path = service.folder / "team" / log.info.run_id / "owner.json"
        owner = json.loads(path.read_text())
        path.write_text(json.dumps(owner | {"machine": "elsewhere", "until": owner["until"] + left_s}))
        other = make({"location": service.location()})
        again = await other.begin(PLAN, fresh=False)
        assert (again.info.run_id == log.info.run_id) is resumed
        assert again.info.resumed is resumed
        await other.close()
        return log

    asyncio.run(check())


def test_who_was_taken_for_dead_writes_no_more(service: Service) -> None:
    """The process that lost its run finds out before it keeps anything in it."""

    async def check() -> None:
        store = make({"location": service.location()})
        log = await store.begin(PLAN, fresh=False)
        assert isinstance(log, ShelfRun)
        (service.folder / "team" / log.info.run_id / "owner.json").write_text('{"of": "somebody else"}')
        log.renew()
        with pytest.raises(StoreError, match="belongs to another process now"):
            await log.finish(RunState.FINISHED, None)

    asyncio.run(check())


def test_a_token_that_is_refused(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the variable and not its value."""
    monkeypatch.setenv("ACME_SHELF_TOKEN", "another-made-up-token")
    with pytest.raises(StoreError, match="refuses the token in ACME_SHELF_TOKEN") as caught:
        asyncio.run(begun(service))
    assert "made-up" not in str(caught.value)


def test_a_service_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, with the address."""
    monkeypatch.setenv("ACME_SHELF_TOKEN", TOKEN)
    with pytest.raises(StoreError, match=r"cannot keep runs on acme-shelf://127\.0\.0\.1:9/team: ConnectError"):
        asyncio.run(begun(Service(9, Path())))
