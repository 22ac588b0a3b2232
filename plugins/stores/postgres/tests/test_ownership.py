"""One process works on a run at a time, and one that lost its connection writes nothing over another's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from skillgauge.api import ResultOrder, RunQuery, StoreError
from skillgauge.api.report import RunState
from skillgauge_store_postgres.ownership import Ownership
from skillgauge_testkit.contract import samples

pytestmark = pytest.mark.postgres


def ordinals(source: Any) -> list[int]:
    """The places of the results of a run."""
    return [result.ordinal for result in getattr(source, "source", source).results(ResultOrder.PLAN)]


@pytest.mark.slow
def test_a_run_that_was_taken_over_is_closed_to_its_first_owner(place: Any) -> None:
    """Whose connection was ended, and whose run another process resumed, writes nothing into it any more."""

    async def main() -> None:
        first, second = place.store(), place.store()
        log = await first.begin(samples.head(), fresh=False)
        await log.commit([samples.result(0)], paid=True)
        place.end_connections()
        taken = await second.begin(samples.head(), fresh=False)
        assert (taken.info.run_id, taken.info.resumed) == (log.info.run_id, True)
        calls: list[Callable[[], Any]] = [
            lambda: log.claim([samples.trial(1)]),
            lambda: log.commit([samples.result(1)], paid=True),
            lambda: log.spend([samples.unfinished(1, 1, 5)]),
            lambda: log.finish(RunState.FINISHED, None),
        ]
        for call in calls:
            with pytest.raises(StoreError, match="was taken over by another process") as caught:
                await call()
            assert int(caught.value.exit_code) == 3
        await taken.commit([samples.result(2)], paid=True)
        assert ordinals(taken) == [0, 2]
        assert not list(taken.unfinished())
        await taken.finish(RunState.FINISHED, samples.summary(2))
        await first.close()
        await second.close()

    asyncio.run(main())
    assert place.sql("SELECT token, state FROM skillgauge.owners JOIN skillgauge.runs USING (run)") == "2|finished"


@pytest.mark.slow
def test_a_lost_connection_is_made_again_and_owns_again(place: Any) -> None:
    """Whose connection was ended goes on, nobody having come between, and still nobody else gets the run."""

    async def main() -> None:
        first, second = place.store(), place.store()
        log = await first.begin(samples.head(), fresh=False)
        for number in range(3):
            assert place.end_connections() >= 1
            claimed = await log.claim([samples.trial(number)])
            assert claimed.attempts == {samples.trial(number).trial_id: 1}
            assert place.end_connections() >= 1
            await log.commit([samples.result(number)], paid=True)
            assert ordinals(log) == list(range(number + 1))
        other = await second.begin(samples.head(), fresh=False)
        assert other.info.run_id != log.info.run_id
        (newest, oldest) = second.scan(RunQuery())
        assert [view.run.state for view in (newest, oldest)] == [RunState.RUNNING] * 2
        await first.close()
        await second.close()

    asyncio.run(main())


@pytest.mark.slow
def test_what_was_done_before_the_answer_was_lost_counts_once(place: Any, proxy: Any) -> None:
    """A connection that breaks behind a commit does not double a claim, a result, a run or an end."""
    address = place.server.tcp_address(place.name, port=proxy.port)

    async def main() -> None:
        store = place.store(address)
        await (await store.begin(samples.head("another plan"), fresh=False)).finish(RunState.FINISHED, None)

        async def cut(call: Any) -> Any:
            proxy.cut_next_commit()
            return await call

        log = await cut(store.begin(samples.head(), fresh=False))
        await cut(log.claim([samples.trial(0), samples.trial(1)], [samples.case(0)]))
        claimed = await cut(log.claim([samples.trial(0), samples.trial(1)]))
        assert set(claimed.attempts.values()) == {2}
        await cut(log.spend([samples.unfinished(0, 2, 7)]))
        await cut(log.commit([samples.result(0), samples.result(1)], paid=True))
        info = await cut(log.finish(RunState.FINISHED, samples.summary(2)))
        assert info.state is RunState.FINISHED
        assert proxy.cuts == 6
        (view,) = (one for one in store.scan(RunQuery()) if one.head.plan_id == "plan")
        assert (view.run.run_id, view.run.state, view.summary.counts.total) == (log.info.run_id, info.state, 2)
        assert ordinals(view) == [0, 1]
        assert [case.index for case in view.cases()] == [0]
        await store.close()

    asyncio.run(main())
    assert place.sql("SELECT count(*), sum(attempts) FROM skillgauge.attempts") == "2|4"


def test_an_end_that_was_lost_is_not_written_twice(place: Any, proxy: Any) -> None:
    """A run from elsewhere whose answer was lost is stored once, and a run that has ended takes nothing more."""

    async def main() -> None:
        store = place.store(place.server.tcp_address(place.name, port=proxy.port))
        log = await store.begin(samples.head(), fresh=False)
        await log.finish(RunState.FINISHED, None)
        with pytest.raises(StoreError, match="has ended; nothing can be added"):
            await log.commit([samples.result(0)], paid=True)
        await store.close()
        await store.close()
        with pytest.raises(StoreError, match="is closed"):
            await store.begin(samples.head(), fresh=False)

    asyncio.run(main())


@pytest.mark.slow
def test_a_run_that_becomes_free_at_the_last_moment_is_resumed(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose owner goes between the last try and the end of the wait: no second run of the plan is begun."""

    async def main() -> None:
        first, second = place.store(), place.store()
        log = await first.begin(samples.head(), fresh=False)

        def owner_goes(_ownership: Ownership, db: Any) -> bool:
            own = db.info.backend_pid
            place.sql(f"SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE objid = 1 AND pid <> {own}")
            return False

        monkeypatch.setattr(Ownership, "has_just_restarted", owner_goes)
        resumed = await second.begin(samples.head(), fresh=False)
        assert (resumed.info.run_id, resumed.info.resumed) == (log.info.run_id, True)
        await first.close()
        await second.close()

    asyncio.run(main())


@pytest.mark.slow
def test_fresh_leaves_runs_under_way_alone(place: Any) -> None:
    """A fresh run gives up those that nobody owns, and none that is being worked on."""

    async def main() -> None:
        first, second = place.store(), place.store()
        busy = await first.begin(samples.head(), fresh=False)
        idle = await second.begin(samples.head(), fresh=False)
        await idle.finish(RunState.INTERRUPTED, None)
        fresh = await second.begin(samples.head(), fresh=True)
        await fresh.finish(RunState.FINISHED, None)
        await first.close()
        resumed = await second.begin(samples.head(), fresh=False)
        assert (resumed.info.run_id, resumed.info.resumed) == (busy.info.run_id, True)
        await resumed.finish(RunState.FINISHED, None)
        again = await second.begin(samples.head(), fresh=False)
        assert not again.info.resumed
        await second.close()

    asyncio.run(main())


@pytest.mark.slow
def test_two_processes_at_once(place: Any, child: Callable[[str], Any]) -> None:
    """Two runs into one database at the same time, the database being empty: both keep everything."""
    pair = [child(place.address), child(place.address)]
    for number, process in enumerate(pair):
        process.tell(f"begin plan-{number}")
    for process in pair:
        assert process.hear().endswith("False")
        process.tell("work 0 600 20")
    for process in pair:
        assert [process.hear() for _ in range(30)] == [f"done {n}" for n in range(20, 601, 20)]
    store = place.store()
    assert [ordinals(view) for view in store.scan(RunQuery())] == [list(range(600))] * 2
    asyncio.run(store.close())


@pytest.mark.slow
@pytest.mark.parametrize("point", range(6))
def test_kill_loses_nothing_that_was_acknowledged(place: Any, child: Callable[[str], Any], point: int) -> None:
    """After SIGKILL at any moment batches are whole, what was acknowledged is there, and the run goes on at once."""
    process, size = child(place.address), 20
    process.tell("begin plan")
    run_id = process.hear().split()[1]
    process.tell(f"work 0 1000000 {size}")
    done = 0
    while done < size * (1 + point):
        done = int(process.hear().split()[1])
    process.process.kill()
    while line := process.hear():
        done = int(line.split()[1])

    async def main() -> None:
        store = place.store()
        log = await store.begin(samples.head("plan"), fresh=False)
        assert (log.info.run_id, log.info.resumed) == (run_id, True)
        kept = ordinals(log)
        assert kept == list(range(len(kept)))
        assert len(kept) % size == 0
        assert done <= len(kept) <= done + size
        claimed = await log.claim([samples.trial(n) for n in range(len(kept) + 2 * size)])
        assert claimed.done == {samples.trial(n).trial_id for n in kept}
        attempts = [claimed.attempts[samples.trial(n).trial_id] for n in range(len(kept), len(kept) + 2 * size)]
        assert attempts in ([1] * 2 * size, [2] * size + [1] * size), "a claim is counted as a whole or not at all"
        await store.close()

    asyncio.run(main())
