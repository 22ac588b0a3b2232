"""The names, notes and labels of stored runs: read for a list, found by, and changed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Protocol

from skillgauge.api import NotedStore, PluginError, Problem, RunNotes, RunQuery, Store
from skillgauge.api.report import RunView
from skillgauge.api.run import noted

from .documents import NoteDocument


class NotingStore(Store, NotedStore, Protocol):
    """A store that also keeps what people say of its runs."""


def notes_of(store: Store) -> Mapping[str, RunNotes]:
    """Return the words about the runs of a store, by their ids; nothing, if it keeps no such words."""
    return store.notes() if isinstance(store, NotedStore) else {}


def labelled(store: Store, query: RunQuery, notes: Mapping[str, RunNotes], labels: Mapping[str, str]) -> list[RunView]:
    """The runs that match and bear all of these labels, newest first; all that match if no label is asked for."""
    if not labels:
        return list(store.scan(query))
    run_ids = tuple(run_id for run_id, said in notes.items() if said.has(labels))
    return list(store.scan(query.model_copy(update={"run_ids": run_ids}))) if run_ids else []


def require_notes(store: Store, place: str) -> NotingStore:
    """Return a store that keeps what people say of its runs.

    Raises:
        PluginError: this one does not.
    """
    if isinstance(store, NotedStore):
        return store
    message = f"the store of {place} keeps no names, notes or labels"
    raise PluginError(Problem("history.no-notes", message, hint="An SQLite file and a PostgreSQL database do."))


def annotate(
    store: NotingStore, view: RunView, name: str | None, note: str | None, labels: Mapping[str, str]
) -> NoteDocument:
    """Change what is said of a run, and return it; what is not given stays, and an empty label is taken away.

    Raises:
        UsageError: a name, note or label is not as it has to be.
        StoreError: it cannot be kept.
    """
    run_id = view.run.run_id
    before = store.notes().get(run_id, RunNotes())
    after = noted(before, name, note, labels)
    if after != before:
        asyncio.run(store.annotate(run_id, after))
    return NoteDocument(run_id=run_id, name=after.name, note=after.note, labels=dict(after.labels))
