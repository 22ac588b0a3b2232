"""Values as they are stored: round trips, and records of newer versions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.api import (
    Block,
    EventKind,
    Execution,
    Failure,
    FileChange,
    FiredSkill,
    Parted,
    PlanHead,
    ResultOrder,
    RunQuery,
    Score,
    StoreError,
    Trajectory,
    TrajectoryEvent,
    TrialResult,
    Usage,
)
from skillgauge.api.report import RunState, RunView
from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.store import SqliteStore
from skillgauge_stored_runs import encode

Stores = Callable[..., SqliteStore]

text = st.text(max_size=12)
number = st.floats(allow_nan=False, allow_infinity=False)
unit = st.floats(0, 1)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | number | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def optional(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """A value or nothing."""
    return st.none() | values


def several(values: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    """A few values."""
    return st.lists(values, max_size=3).map(tuple)


events = st.builds(
    TrajectoryEvent, kind=st.sampled_from(EventKind), text=text, data=json_values, is_error=st.booleans()
)
trajectories = st.builds(
    Trajectory,
    events=several(events),
    skills_offered=optional(several(text)),
    skills_fired=optional(several(st.builds(FiredSkill, name=text, how=st.sampled_from(["invoked", "read"])))),
    blocked=optional(several(st.builds(Block, tool=text, by=st.just("hook"), event=optional(text)))),
)
executions = st.builds(
    Execution,
    output=json_values,
    text=optional(text),
    exit_code=optional(st.integers()),
    stdout=optional(text),
    stderr=optional(text),
    truncated=st.booleans(),
    trajectory=optional(trajectories),
    files=several(st.builds(FileChange, path=text, change=st.just("deleted"))),
    usage=optional(st.builds(Usage, cost_usd=optional(number))),
    duration_s=optional(number),
    failure=optional(st.builds(Failure, message=text)),
    notes=several(text),
)
for model in (Score, Execution, Failure, Usage, Trajectory, TrialResult):
    model.model_rebuild()  # hypothesis learns from a model that is built which of its fields are required
scores = st.builds(Score, value=optional(unit), reason=text, evidence=json_values, weight=number)
results = st.builds(
    TrialResult,
    trial_id=text,
    suite_id=text,
    case_id=text,
    target_id=optional(text),
    arm=text,
    runner=text,
    model=optional(text),
    ordinal=st.integers(0, 2**40 - 1),
    case_index=st.integers(-(2**63), 2**63 - 1),
    repeat=st.integers(1, 2**63 - 1),
    tags=several(text),
    value=optional(unit),
    weight=number,
    scores=several(scores),
    execution=executions,
    attempts=st.integers(1),
    started_at=number,
)


@given(batch=st.lists(results, max_size=4, unique_by=lambda result: result.ordinal))
@settings(max_examples=40, deadline=None)
@pytest.mark.slow
def test_results_come_back_equal(tmp_path_factory: pytest.TempPathFactory, batch: list[TrialResult]) -> None:
    """Whatever a result holds, odd characters and huge numbers too, the store gives it back equal."""
    head = PlanHead(plan_id="p", suites=(), trial_count=1, runs=1, seed=0)

    async def main() -> None:
        store = SqliteStore(SqliteOptions(location=str(tmp_path_factory.mktemp("db") / "runs.db")))
        log = await store.begin(head, fresh=True)
        await log.commit(batch, paid=False)
        in_order = sorted(batch, key=lambda result: result.ordinal)
        assert list(log.results(ResultOrder.PLAN)) == in_order
        assert sorted(log.results(ResultOrder.CASE), key=lambda result: result.ordinal) == in_order
        await store.close()

    asyncio.run(main())


def test_stored_json_leaves_out_defaults(make: ModuleType, path: Path, store: Stores) -> None:
    """A record holds what differs from the defaults, as JSON that SQLite itself can search."""

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.commit([make.result(7)], paid=False)
        await one.close()

    asyncio.run(main())
    ((body,),) = make.query(path, "SELECT body FROM results WHERE verdict = 'pass'")
    assert json.loads(body)["execution"] == {"output": {"answer": 7}, "duration_s": 0.25}


def test_long_records_are_compressed(make: ModuleType, path: Path, store: Stores) -> None:
    """What an agent did takes a fraction of its length, whether it is run here or taken in, and comes back equal.

    It is stored apart, so that nobody reads it who does not ask for it.
    """
    raw = "".join(json.dumps({"number": number, "text": "said " * 20}) + "\n" for number in range(5000))
    long = make.result(3, execution=Execution(text="done " * 2000, trajectory=Trajectory(raw=raw, turns=2)))
    short = long.execution.model_copy(update={"trajectory": Trajectory(turns=2)})

    async def main() -> None:
        one = store()
        log = await one.begin(make.head(), fresh=False)
        await log.commit([long, make.result(4)], paid=True)
        await log.finish(RunState.FINISHED, make.summary())
        (view,) = one.scan(RunQuery())
        assert list(view.results()) == [long, make.result(4)]
        copy = RunView(view.run.model_copy(update={"run_id": "copy"}), view.head, view.summary, view.source)
        assert await one.keep(copy)
        (copied,) = one.scan(RunQuery(run_ids=("copy",)))
        assert list(copied.results()) == [long, make.result(4)]
        await one.close()

    asyncio.run(main())
    rows = make.query(path, "SELECT typeof(body), typeof(trajectory), length(trajectory) FROM results ORDER BY id")
    assert [kinds for *kinds, _ in rows] == [["blob", "blob"], ["text", "null"]] * 2
    assert rows[0][2] < len(raw) / 20
    assert path.stat().st_size < len(raw)

    async def damaged(*, is_listed: bool) -> None:
        one = store()
        (view,) = one.scan(RunQuery(run_ids=("copy",)))
        assert isinstance(view.source, Parted)
        if is_listed:
            listed = list(view.source.abridged(ResultOrder.PLAN))
            assert listed == [long.model_copy(update={"execution": short}), make.result(4)]
            assert view.source.of_trial(4) == make.result(4)
        with pytest.raises(StoreError, match=r"damaged.*the result in row [0-9]+ of run .* cannot be read"):
            list(view.results())
        await one.close()

    for column in ("trajectory", "body"):
        make.query(path, f"UPDATE results SET {column} = ? WHERE typeof({column}) = 'blob'", b"broken")
        asyncio.run(damaged(is_listed=column == "trajectory"))


async def newer(store: SqliteStore, make: ModuleType, path: Path, version: str) -> str:
    """Store a run and rewrite it as if that schema version had written it; its id."""
    log = await store.begin(make.head(), fresh=False)
    await log.commit([make.result(0)], paid=False)
    await log.finish(RunState.INTERRUPTED, make.summary())
    make.query(path, "UPDATE runs SET schema_version = ?", version)
    make.query(path, "UPDATE runs SET head = json_set(head, '$.schema_version', ?, '$.later', 1)", version)
    make.query(path, "UPDATE runs SET summary = json_set(summary, '$.later', 1, '$.counts.later', 2)")
    make.query(path, "UPDATE results SET body = json_set(body, '$.later', 1, '$.execution.later', '{}')")
    return log.info.run_id


def test_records_of_a_newer_minor_version_stay_readable(make: ModuleType, path: Path, store: Stores) -> None:
    """Fields that a later minor version added are passed over; such a run is not resumed by this program."""

    async def main() -> None:
        one = store()
        run_id = await newer(one, make, path, "1.11")
        (view,) = one.scan(RunQuery())
        assert (view.head.schema_version, view.summary) == ("1.11", make.summary())
        assert list(view.results()) == [make.result(0)]
        assert (await one.begin(make.head(), fresh=False)).info.run_id != run_id
        await one.close()

    asyncio.run(main())


def test_records_of_a_newer_major_version_are_refused(make: ModuleType, path: Path, store: Stores) -> None:
    """A run of a later major version is named together with what to do; other runs stay readable by their ids."""

    async def main() -> None:
        one = store()
        run_id = await newer(one, make, path, "2.0")
        other = (await one.begin(make.head("other"), fresh=False)).info.run_id
        message = rf"newer-run.*run {run_id} has schema version 2\.0; this program reads 1\.x\n  next: Upgrade"
        with pytest.raises(StoreError, match=message):
            list(one.scan(RunQuery()))
        assert [view.run.run_id for view in one.scan(RunQuery(run_ids=(other,)))] == [other]
        await one.close()

    asyncio.run(main())


def test_unknown_fields_of_our_own_version_are_damage(make: ModuleType, path: Path, store: Stores) -> None:
    """A record that this version cannot have written is refused by name."""

    async def main() -> None:
        one = store()
        await newer(one, make, path, "1.0")
        with pytest.raises(StoreError, match=r"damaged.*the plan of run .* cannot be read"):
            list(one.scan(RunQuery()))
        make.query(path, "UPDATE runs SET head = ?, summary = NULL", encode(make.head()))
        (view,) = one.scan(RunQuery())
        with pytest.raises(StoreError, match=r"damaged.*the result in row [0-9]+ of run .* cannot be read"):
            list(view.results())
        await one.close()

    asyncio.run(main())
