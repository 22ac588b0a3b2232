"""Copies runs from one store into another, by what every store can do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager

from skillgauge.api import (
    Archive,
    Frozen,
    NotedStore,
    PluginError,
    Problem,
    RunQuery,
    Store,
    TrialNotedStore,
    UsageError,
    did_you_mean,
    plain,
)
from skillgauge.api.report import RunState, RunView, counted
from skillgauge.api.run import Invocation

_NAMED = 10


class CopyDocument(Frozen):
    """The document of `store copy --json`."""

    schema_version: str = "1.0"
    copied: tuple[str, ...] = ()
    """Ids of the runs that were copied, the oldest first."""
    present: tuple[str, ...] = ()
    """Ids of those that were there already."""
    unfinished: tuple[str, ...] = ()
    """Ids of those that have not finished, and were left where they are."""

    def verdict(self) -> str:
        """For people."""
        text = f"copied {counted(len(self.copied), 'run')}"
        if self.present:
            text += f"; {counted(len(self.present), 'run')} there already"
        if self.unfinished:
            text += f"; left out because they have not finished: {_listed(self.unfinished)}"
        return text


async def copy_runs(call: Invocation, source: str, target: str, run_ids: Collection[str]) -> CopyDocument:
    """Copy the finished runs of a store that are not in another one yet, the oldest first.

    Args:
        call: the command line.
        source: place of the runs.
        target: place where they go.
        run_ids: the runs to copy; empty for all.

    Raises:
        SkillgaugeError: a store cannot be opened, read or written, or has no such run. What was copied before stays.
    """
    copied: list[str] = []
    present: list[str] = []
    unfinished: list[str] = []
    async with _opened(call, source) as from_store, _opened(call, target) as to_store:
        archive = _archive(to_store, target)
        notes = await asyncio.to_thread(from_store.notes) if isinstance(from_store, NotedStore) else {}
        for run_id in await asyncio.to_thread(_ids, from_store, source, run_ids):
            for view in await asyncio.to_thread(_views, from_store, run_id):  # none, if it was removed meanwhile
                if view.run.state is not RunState.FINISHED:
                    unfinished.append(run_id)
                elif await archive.keep(view):
                    copied.append(run_id)
                    if run_id in notes and isinstance(to_store, NotedStore):
                        await to_store.annotate(run_id, notes[run_id])
                    await _copy_trial_notes(from_store, to_store, run_id)
                    call.output.line(f"copied {plain(run_id)}")
                else:
                    present.append(run_id)
    return CopyDocument(copied=tuple(copied), present=tuple(present), unfinished=tuple(unfinished))


async def _copy_trial_notes(source: Store, target: Store, run_id: str) -> None:
    if isinstance(source, TrialNotedStore) and isinstance(target, TrialNotedStore):
        for ordinal, notes in (await asyncio.to_thread(source.trial_notes, run_id)).items():
            await target.annotate_trial(run_id, ordinal, notes)


@asynccontextmanager
async def _opened(call: Invocation, place: str) -> AsyncIterator[Store]:
    store = call.open_store_at(place)
    try:
        yield store
    finally:
        await store.close()


def _archive(store: Store, place: str) -> Archive:
    if isinstance(store, Archive):
        return store
    message = f"the store of {place} cannot take in runs from elsewhere"
    raise PluginError(Problem("store.no-archive", message, hint="Copy into an SQLite file or a PostgreSQL database."))


def _ids(store: Store, place: str, chosen: Collection[str]) -> list[str]:
    """The ids of the stored runs, the oldest first.

    Raises:
        UsageError: there are no runs, or one of the chosen is not there.
    """
    run_ids = [view.run.run_id for view in store.scan(RunQuery())][::-1]
    if not run_ids:
        raise UsageError(Problem("store.no-runs", f"no runs are stored in {place}", hint="Name another place."))
    problems = [
        Problem(
            "store.no-such-run", f"there is no run {plain(run_id)!r} in {place}{plain(did_you_mean(run_id, run_ids))}"
        )
        for run_id in chosen
        if run_id not in run_ids
    ]
    UsageError.raise_for(problems)
    return [run_id for run_id in run_ids if not chosen or run_id in chosen]


def _views(store: Store, run_id: str) -> list[RunView]:
    return list(store.scan(RunQuery(run_ids=(run_id,))))


def _listed(run_ids: Iterable[str]) -> str:
    names = [plain(run_id) for run_id in run_ids]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
