"""The contract of stores that also keep what people say: see `NotedStore` and `TrialNotedStore`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from skillgauge.api import NotedStore, RunNotes, RunQuery, Store, TrialNotedStore, TrialNotes

from .. import samples
from ..clauses import answered, require, shown
from ..shapes import require_shape
from .places import Place

_FIRST = RunNotes(name="before the change", note="two lines\nof a <note>", labels=(("team", "search"), ("x/y", "é")))


async def keeps_notes(place: Place) -> None:
    """Words about a run are kept to the letter, replaced, taken back, and change nothing of the run."""
    async with place.store() as store:
        if not isinstance(store, NotedStore):
            return
        require_shape(store, NotedStore)
        await _require_notes(place, store, {})
        log = await place.begin(store, samples.head())
        second = await place.begin(store, samples.head("another plan"))
        run_id, other_id = log.info.run_id, second.info.run_id
        is_kept = await _annotate(place, store, "no such run", _FIRST)
        require(is_kept is False, f"NotedStore.annotate must be false of a run that is not there, not {shown(is_kept)}")
        before = await _runs(place, store)
        is_kept = await _annotate(place, store, run_id, _FIRST)
        require(is_kept is True, f"NotedStore.annotate of a run that goes on must be true, not {shown(is_kept)}")
        await _require_notes(place, store, {run_id: _FIRST})
        await _annotate(place, store, other_id, RunNotes(name="another"))
        await place.commit(log, [samples.result(0)])
        await place.finish(log)
        after = RunNotes(note="now it has ended")
        await _annotate(place, store, run_id, after)
        await _require_notes(place, store, {run_id: after, other_id: RunNotes(name="another")})
        await _annotate(place, store, run_id, RunNotes())
        await _require_notes(place, store, {other_id: RunNotes(name="another")})
        heads = await _runs(place, store)
        require(
            heads == before, f"NotedStore.annotate must change nothing of a run, but its plan became {shown(heads)}"
        )
    if store.durable:
        async with place.store() as again:
            await _require_notes(place, again, {other_id: RunNotes(name="another")})


async def keeps_trial_notes(place: Place) -> None:
    """Words about a trial are kept to the letter, replaced, taken back, and are of that trial of that run alone."""
    first, second = TrialNotes(note="two lines\nof a <note>", tags=("flaky", "wrong-tool")), TrialNotes(tags=("x/y",))
    async with place.store() as store:
        if not isinstance(store, TrialNotedStore):
            return
        require_shape(store, TrialNotedStore)
        log = await place.begin(store, samples.head())
        neighbour = await place.begin(store, samples.head("another plan"))
        run_id, other_id = log.info.run_id, neighbour.info.run_id
        await place.commit(log, [samples.result(0), samples.result(1)])
        await place.commit(neighbour, [samples.result(0)])
        for wrong_id, ordinal, words in (("no such run", 0, "of a run"), (run_id, 2, "of a trial")):
            is_kept = await _annotate_trial(place, store, wrong_id, ordinal, first)
            message = f"TrialNotedStore.annotate_trial must be false {words} that is not there, not {shown(is_kept)}"
            require(is_kept is False, message)
        await _require_trial_notes(place, store, run_id, {})
        is_kept = await _annotate_trial(place, store, run_id, 1, first)
        message = f"TrialNotedStore.annotate_trial of a run that goes on must be true, not {shown(is_kept)}"
        require(is_kept is True, message)
        await _annotate_trial(place, store, run_id, 0, second)
        await _require_trial_notes(place, store, run_id, {0: second, 1: first})
        await _require_trial_notes(place, store, other_id, {})
        await place.finish(log)
        await _annotate_trial(place, store, run_id, 1, second)
        await _annotate_trial(place, store, run_id, 0, TrialNotes())
        await _annotate_trial(place, store, other_id, 0, first)
        await _require_trial_notes(place, store, run_id, {1: second})
        await _require_trial_notes(place, store, other_id, {0: first})
    if store.durable:
        async with place.store() as again:
            assert isinstance(again, TrialNotedStore)
            await _require_trial_notes(place, again, run_id, {1: second})


async def _annotate_trial(place: Place, store: TrialNotedStore, run_id: str, ordinal: int, notes: TrialNotes) -> object:
    call = "TrialNotedStore.annotate_trial"
    return await answered(call, place.patience_s, store.annotate_trial, run_id, ordinal, notes)


async def _require_trial_notes(
    place: Place, store: TrialNotedStore, run_id: str, expected: Mapping[int, TrialNotes]
) -> None:
    call = "TrialNotedStore.trial_notes"
    notes = await answered(call, place.patience_s, asyncio.to_thread, store.trial_notes, run_id)
    require(dict(notes) == expected, f"{call} must give {shown(expected)}, but gave {shown(notes)}")


async def _annotate(place: Place, store: Store, run_id: str, notes: RunNotes) -> object:
    assert isinstance(store, NotedStore)
    return await answered("NotedStore.annotate", place.patience_s, store.annotate, run_id, notes)


async def _require_notes(place: Place, store: Store, expected: Mapping[str, RunNotes]) -> None:
    assert isinstance(store, NotedStore)
    notes = await answered("NotedStore.notes", place.patience_s, asyncio.to_thread, store.notes)
    require(dict(notes) == expected, f"NotedStore.notes must give {shown(expected)}, but gave {shown(notes)}")


async def _runs(place: Place, store: Store) -> list[object]:
    return [view.head for view in await place.scan(store, RunQuery())]
