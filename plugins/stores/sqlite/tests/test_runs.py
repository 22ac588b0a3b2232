"""Beginning, claiming, committing, reading and ending runs."""

from __future__ import annotations

import asyncio
import re
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge.api import ResultOrder, RunQuery, StoreError, Verdict
from skillgauge.api.report import RunState, Summary, case_order
from skillgauge_store_sqlite.store import SqliteStore

Stores = Callable[..., SqliteStore]


def test_run_from_begin_to_finish(make: ModuleType, store: Stores) -> None:
    """What was committed comes back from the log and from a scan, with the summary and the times of the run."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        assert (log.info.state, log.info.resumed, log.info.finished_at) == (RunState.RUNNING, False, None)
        await log.claim([make.trial(0), make.trial(1)])
        await log.commit([make.result(0), make.result(1)], paid=False)
        ended = await log.finish(RunState.FINISHED, make.summary(2))
        await one.close()
        assert ended == log.info
        assert ended.finished_at is not None
        assert ended.finished_at >= ended.started_at
        assert list(log.results(ResultOrder.PLAN)) == [make.result(0), make.result(1)]
        (view,) = store().scan(RunQuery())
        assert (view.run, view.head, view.summary) == (ended, make.head(), make.summary(2))
        assert list(view.results()) == list(view.results()) == [make.result(0), make.result(1)]

    asyncio.run(main())


def test_run_ids_sort_by_time(make: ModuleType, store: Stores) -> None:
    """A run id is the UTC second of its start and six random digits, so ids sort as runs began."""

    async def main() -> None:
        one = store()
        before = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        ids = [(await one.begin(make.head(f"plan-{n}"), fresh=False)).info.run_id for n in range(3)]
        await one.close()
        assert len(set(ids)) == 3
        for run_id in ids:
            assert re.fullmatch(r"\d{8}T\d{6}[0-9a-f]{6}", run_id)
            assert before <= run_id[:15] <= datetime.now(UTC).strftime("%Y%m%dT%H%M%S")

    asyncio.run(main())


def test_claims_are_counted_and_done_trials_are_named(make: ModuleType, store: Stores) -> None:
    """A trial without a result counts each claim; one with a result is done and is not claimed again."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        many = [make.trial(n) for n in range(1200)]
        first = await log.claim(many)
        assert (first.done, set(first.attempts.values()), len(first.attempts)) == (frozenset(), {1}, 1200)
        await log.commit([make.result(n) for n in range(0, 1200, 2)], paid=False)
        second = await log.claim(many)
        assert second.done == {make.trial_id(n) for n in range(0, 1200, 2)}
        assert second.attempts == {make.trial_id(n): 2 for n in range(1, 1200, 2)}
        await one.close()

    asyncio.run(main())


def test_a_claim_tells_of_its_own_trials_only(make: ModuleType, store: Stores) -> None:
    """Others may lie between them in the plan, done or under way, and others around them."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.claim([make.trial(n) for n in range(10)])
        await log.commit([make.result(n) for n in (0, 2, 4)], paid=False)
        claimed = await log.claim([make.trial(n) for n in (1, 2, 7)])
        assert claimed.done == {make.trial_id(2)}
        assert claimed.attempts == {make.trial_id(1): 2, make.trial_id(7): 2}
        await one.close()

    asyncio.run(main())


def test_nothing_to_claim_or_commit(make: ModuleType, store: Stores) -> None:
    """Empty batches are no error."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        claimed = await log.claim([])
        await log.commit([], paid=True)
        assert (claimed.done, dict(claimed.attempts), list(log.results(ResultOrder.CASE))) == (frozenset(), {}, [])
        await one.close()

    asyncio.run(main())


def test_committing_again_replaces(make: ModuleType, store: Stores) -> None:
    """A commit that was repeated because its answer got lost leaves one result per trial, the last one."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.commit([make.result(0), make.result(1)], paid=False)
        changed = make.result(1, verdict=Verdict.FAIL, value=0.0, arm="with_skill")
        await log.commit([changed], paid=False)
        assert list(log.results(ResultOrder.PLAN)) == [make.result(0), changed]
        assert list(log.results(ResultOrder.CASE)) == [make.result(0), changed]
        await one.close()

    asyncio.run(main())


def test_other_trials_at_the_same_place_are_refused(make: ModuleType, store: Stores) -> None:
    """A plan that says it is the same and is not cannot overwrite what is stored."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.claim([make.trial(0), make.trial(1)])
        await log.commit([make.result(0)], paid=False)
        for attempt in (
            log.claim([make.trial(0, trial_id="other")]),
            log.claim([make.trial(1, trial_id="other")]),
            log.commit([make.result(0, trial_id="other")], paid=False),
        ):
            with pytest.raises(StoreError, match="plan-mismatch"):
                await attempt
        with pytest.raises(ValueError, match="ordinal -1"):
            await log.commit([make.result(-1)], paid=False)
        assert list(log.results(ResultOrder.PLAN)) == [make.result(0)]
        await one.close()

    asyncio.run(main())


def test_orders(make: ModuleType, store: Stores) -> None:
    """Plan order is the ordinal; case order keeps all of a case together; of one group the same orders hold."""
    keys = [
        (suite, target, arm, runner, model, case, repeat)
        for repeat in (1, 2)
        for case in range(2)
        for model in (None, "m1", "m2")
        for runner in ("a", "b")
        for arm in ("with", "without")
        for target in (None, "s", "é")
        for suite in ("x", "ä")
    ]
    names = ("suite_id", "target_id", "arm", "runner", "model", "case_index", "repeat")
    results = [make.result(n, **dict(zip(names, key, strict=True))) for n, key in enumerate(keys)]

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        other = await one.begin(make.head("other"), fresh=False)
        await other.commit(results[:5], paid=False)
        for start in (100, 200, 0):
            await log.commit(results[start : start + 100], paid=False)
        await log.finish(RunState.FINISHED, None)
        await one.close()
        assert list(log.results(ResultOrder.PLAN)) == results
        by_case = list(log.results(ResultOrder.CASE))
        assert by_case == sorted(results, key=case_order)
        for group in {result.group for result in results}:
            inside = [result for result in results if result.group == group]
            assert list(log.results(ResultOrder.PLAN, group)) == inside
            assert list(log.results(ResultOrder.CASE, group)) == sorted(inside, key=case_order)
        absent = results[0].group.in_arm("absent")
        assert not any(list(log.results(order, absent)) for order in ResultOrder)

    asyncio.run(main())


def test_reading_is_paged(make: ModuleType, store: Stores) -> None:
    """Many pages come back whole in both orders, readable step by step from changing threads, while a run writes."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        results = [make.result(n, case_index=n // 3, repeat=1 + n % 3) for n in range(1700)]
        for start in range(0, 1700, 200):
            await log.commit(results[start : start + 200], paid=False)
        for order in ResultOrder:
            stream = log.results(order)
            begun = list(islice(stream, 600))
            await log.commit([make.result(5000)], paid=False)
            rest = await asyncio.to_thread(list, stream)
            assert (begun + rest)[:1700] == results
        await one.close()

    asyncio.run(main())


def test_a_paused_reader_keeps_nothing_locked(make: ModuleType, path: Path, store: Stores) -> None:
    """The log beside the database is emptied although somebody reads slowly."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.commit([make.result(n) for n in range(1000)], paid=False)
        stream = log.results(ResultOrder.PLAN)
        assert len(list(islice(stream, 500))) == 500
        next(stream)  # inside the second page
        stream.close()  # type: ignore[attr-defined]  # it is a generator
        assert make.query(path, "PRAGMA wal_checkpoint(TRUNCATE)")[0][0] == 0
        assert Path(f"{path}-wal").stat().st_size == 0
        await one.close()

    asyncio.run(main())


@pytest.mark.slow
def test_memory_does_not_grow(make: ModuleType, store: Stores) -> None:
    """Three thousand large results need no more memory to write and to read than a few."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        tracemalloc.start()
        for start in range(0, 3000, 100):
            batch = [make.result(n, execution={"text": make.noise(5_000)}) for n in range(start, start + 100)]
            await log.commit(batch, paid=False)
        for order in ResultOrder:
            assert sum(1 for _ in log.results(order)) == 3000
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 6_000_000, f"{peak} bytes for 15,000,000 bytes of results"
        await one.close()

    asyncio.run(main())


def test_scan_is_newest_first_and_filtered(make: ModuleType, store: Stores) -> None:
    """Runs are found by id, by suite, by a target of that suite, and up to a limit."""

    async def main() -> None:
        one = store()
        ids = []
        for plan, suite, target in (("a", "s1", "t1"), ("b", "s2", "t1"), ("c", "s1", "t2")):
            suites = [make.head().suites[0].model_copy(update={"id": suite, "targets": ({"id": target},)})]
            dumped = [value.model_dump(warnings=False) for value in suites]
            log = await one.begin(make.head(plan, suites=dumped), fresh=False)
            await log.finish(RunState.FINISHED, make.summary())
            ids.append(log.info.run_id)

        def found(**fields: object) -> list[str]:
            return [view.run.run_id for view in one.scan(RunQuery(**fields))]  # type: ignore[arg-type]  # by test

        a, b, c = ids
        assert found() == [c, b, a]
        assert found(limit=2) == [c, b]
        assert found(limit=0) == []
        assert found(run_ids=(a, "unknown", c)) == [c, a]
        assert found(suite_id="s1") == [c, a]
        assert found(target_id="t1") == [b, a]
        assert found(suite_id="s1", target_id="t1") == [a]
        assert found(suite_id="s2", target_id="t2") == []
        assert found(suite_id="s1", limit=1) == [c]
        await one.close()

    asyncio.run(main())


def test_scan_of_nothing(store: Stores, path: Path) -> None:
    """Asking for the history where there is none finds nothing and makes no file."""
    assert list(store().scan(RunQuery())) == []
    assert not path.exists()
    path.touch()
    assert list(store().scan(RunQuery())) == []


def test_scan_of_unfinished_runs(make: ModuleType, store: Stores) -> None:
    """A run in progress is running, one whose process left is interrupted; both have an empty summary and results."""

    async def main() -> None:
        one, two = store(), store()
        left = await two.begin(make.head("left"), fresh=False)
        await left.commit([make.result(0)], paid=False)
        await two.close()
        await one.begin(make.head("busy"), fresh=False)
        busy_view, left_view = one.scan(RunQuery())
        assert (busy_view.run.state, left_view.run.state) == (RunState.RUNNING, RunState.INTERRUPTED)
        assert busy_view.summary == left_view.summary == Summary.empty()
        assert list(left_view.results()) == [make.result(0)]
        await one.close()

    asyncio.run(main())
