"""The contract of stores, for those that tell how far a run is: counts, sessions under way, results as they come."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import time
from collections.abc import Sequence

from skillgauge.api import (
    EventKind,
    Execution,
    Followed,
    RunLog,
    RunQuery,
    Store,
    Trajectory,
    TrajectoryEvent,
    TrialResult,
    UnderWay,
    Verdict,
)
from skillgauge.api.report import Progress, RunState, abridged

from .. import samples
from ..clauses import answered, require, shown
from ..shapes import require_shape
from .crashes import run_child
from .places import Place

_SESSION = Execution(
    text="done",
    trajectory=Trajectory(events=(TrajectoryEvent(kind=EventKind.MESSAGE, text="step " * 2_000),), turns=1),
)


async def tells_how_far(place: Place) -> None:
    """Check what others see of a run while it goes on; a store whose runs are not `Followed` need not tell."""
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        source = await _source(place, store)
        if not isinstance(source, Followed):
            return
        require_shape(source, Followed)
        await _require_progress(place, store, Progress({}))
        began = time.time()
        paid = [samples.trial(n, paid=True) for n in (2, 1)]
        await answered("RunLog.claim", place.patience_s, log.claim, [*paid, samples.trial(0)])
        expected = tuple(UnderWay.of(trial, since=began, where="") for trial in paid[::-1])
        await _require_progress(place, store, Progress({}, expected))
        for step in ("message", "tool_call Bash"):
            spent = samples.unfinished(1, 1, 10).model_copy(update={"last_step": step})
            await answered("RunLog.spend", place.patience_s, log.spend, [spent])
            stepped = expected[0].model_copy(update={"last_step": step})
            await _require_progress(place, store, Progress({}, (stepped, *expected[1:])))
        if store.durable:
            await _require_seen(place, under_way=[1, 2])
        await _require_committed(place, log, store)
        if not store.durable:
            return
        await place.finish(log, RunState.INTERRUPTED, None)
        again = await place.begin(store, samples.head())
        await answered("RunLog.claim", place.patience_s, again.claim, [samples.trial(3, paid=True)])
        await place.commit(again, [samples.result(3)])
        source = await _source(place, store)
        since = await _since(place, source, 0)
        ordinals = [result.ordinal for _, result in since]
        is_whole = set(ordinals) == {0, 1, 2, 3} and ordinals[-1] == 3
        require(is_whole, f"Followed.results_since must go on in a run that was resumed, not give {shown(ordinals)}")


async def _require_committed(place: Place, log: RunLog, store: Store) -> None:
    """Commit in another order than that of the plan, and again; what comes must come in that order."""
    first, failed = (
        samples.result(2, execution=_SESSION),
        samples.result(0, verdict=Verdict.FAIL, value=0.0, scores=(), arm="with"),
    )
    await answered("RunLog.commit", place.patience_s, lambda: log.commit([first], paid=True))
    source = await _source(place, store)
    [(cursor, _)] = await _require_since(place, source, 0, [first])
    await answered("RunLog.commit", place.patience_s, lambda: log.commit([samples.result(1), failed], paid=False))
    await _require_since(place, source, cursor, [samples.result(1), failed])
    mended = samples.result(0, arm="with")
    (*_, (cursor, _)) = await _since(place, source, 0)
    await _require_since(place, source, cursor, [])
    counts = {first.group: {Verdict.PASS: 2}, failed.group: {Verdict.FAIL: 1}}
    await _require_progress(place, store, Progress(counts))
    await answered("RunLog.commit of a trial again", place.patience_s, lambda: log.commit([mended], paid=False))
    await _require_since(place, source, cursor, [mended])
    await _require_progress(place, store, Progress({**counts, mended.group: {Verdict.PASS: 1}}))


async def _require_seen(place: Place, under_way: Sequence[int]) -> None:
    """Check what another process sees meanwhile."""
    payload = pickle.dumps((place.make, place.location))
    timeout_s = 6 * place.patience_s
    call = "looking at a run from another process"
    ended = await answered(call, 2 * timeout_s, asyncio.to_thread, run_child, payload, timeout_s, "look_on")
    require(ended.returncode == 0, f"{call} must be possible, but: {ended.stderr.decode('utf-8', 'replace')[-500:]}")
    facts = json.loads(ended.stdout)
    ordinals = [ordinal for ordinal, _ in facts["under_way"]]
    is_ours = all(str(os.getpid()) in where for _, where in facts["under_way"])
    is_right = facts["state"] == RunState.RUNNING and facts["done"] == 0 and ordinals == list(under_way) and is_ours
    require(
        is_right,
        f"{call} must show it as running, with its sessions under way and their process, not {shown(facts)}",
    )


async def _source(place: Place, store: Store) -> Followed:
    views = await place.scan(store, RunQuery(limit=1))
    require(len(views) == 1, "Store.scan must give a run that is under way")
    source: Followed = views[0].source  # type: ignore[assignment] # the caller looks
    return source


async def _require_progress(place: Place, store: Store, expected: Progress) -> None:
    source = await _source(place, store)
    got = await answered("Followed.progress", place.patience_s, asyncio.to_thread, source.progress)
    counts = {group: dict(by_verdict) for group, by_verdict in got.counts.items()}
    message = (
        f"Followed.progress must count results by group and verdict: {shown(expected.counts)}, not {shown(counts)}"
    )
    require(counts == expected.counts, message)
    facts = [one.model_copy(update={"since": 0.0, "where": ""}) for one in got.under_way]
    due = [one.model_copy(update={"since": 0.0}) for one in expected.under_way]
    clause = "Followed.progress must give the paid trials that were claimed and have no result, in plan order"
    require(facts == due, f"{clause}: {shown(due)}, not {shown(facts)}")
    for session in got.under_way:
        is_known = abs(session.since - time.time()) < 3600 and str(os.getpid()) in session.where
        require(is_known, f"a session under way must tell since when it is, and in which process, not {shown(session)}")


async def _since(place: Place, source: Followed, after: int) -> list[tuple[int, TrialResult]]:
    call = f"Followed.results_since({after})"
    return await answered(call, place.patience_s, asyncio.to_thread, lambda: list(source.results_since(after)))


async def _require_since(
    place: Place, source: Followed, after: int, expected: Sequence[TrialResult]
) -> list[tuple[int, TrialResult]]:
    got = await _since(place, source, after)
    cursors = [cursor for cursor, _ in got]
    clause = "Followed.results_since must give cursors that grow, behind the one that it was given"
    grows = cursors == sorted(set(cursors)) and all(cursor > after for cursor in cursors)
    require(grows, f"{clause} ({after}), not {shown(cursors)}")
    ordinals, due = [one.ordinal for _, one in got], [one.ordinal for one in expected]
    message = f"Followed.results_since must give results as they were committed: {due}, not {ordinals}"
    require([one for _, one in got] == [abridged(one) for one in expected], message)
    return got
