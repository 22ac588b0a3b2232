"""The runs that can be looked at: of stores, of records and of folders of reports.

A list needs heads and summaries alone, so listing reads no trial. A record in a file is read as a whole, so its row is
kept with the file's time and size, and of the runs themselves only the last few stay in memory.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Protocol

from skillgauge.api import (
    NotedStore,
    Problem,
    RunNotes,
    RunQuery,
    SkillgaugeError,
    Store,
    TrialNotedStore,
    TrialNotes,
    UsageError,
)
from skillgauge.api.report import RunState, RunView
from skillgauge.api.run import Invocation
from skillgauge_skill_maps import documents_in

from .links import key_of
from .rows import RunRow, row_of

_KEPT = 4
"""Runs of files that stay in memory."""
_FILES = 2_000
"""Files of one folder that are looked at."""


class Source(Protocol):
    """A place that holds runs."""

    @property
    def label(self) -> str:
        """The place as the user wrote it."""

    def rows(self) -> Iterator[RunRow]:
        """Every run of the place, without its trials; blocks."""

    def find(self, key: str) -> tuple[RunRow, RunView] | None:
        """A run by its name in addresses, with its row; `None` if it is not there. Blocks."""

    def views(self, rows: Sequence[RunRow]) -> Iterator[RunView]:
        """The runs of some rows, in any order and without those that are gone. Blocks."""

    def annotate(self, run_id: str, notes: RunNotes) -> bool:
        """Say this of a run in place of what was said; false if that cannot be kept, or the run is gone. Blocks."""

    def trial_notes(self, run_id: str) -> Mapping[int, TrialNotes] | None:
        """The words about trials of a run, by their places in the plan; `None` if none can be kept here. Blocks."""

    def annotate_trial(self, run_id: str, ordinal: int, notes: TrialNotes) -> bool:
        """Say this of a trial in place of what was said; false if that cannot be kept, or it is gone. Blocks."""


class StoredRuns:
    """The runs of a store.

    Args:
        label: the place as the user wrote it.
        store: the store, open as long as this is used.
    """

    def __init__(self, label: str, store: Store) -> None:
        self.label = label
        self._store = store
        self._ended: dict[str, RunRow] = {}
        """Of runs that have finished, by their ids: those never change."""

    def rows(self) -> Iterator[RunRow]:
        """See `Source.rows`. A run that has finished is read once."""
        notes = self._notes()
        for view in self._store.scan(RunQuery(without=frozenset(self._ended))):
            row = self._row(view)
            if row.run_id not in self._ended:
                yield _noted(row, notes)
            if row.state is RunState.FINISHED:
                self._ended[row.run_id] = row
        yield from (_noted(row, notes) for row in self._ended.values())

    def find(self, key: str) -> tuple[RunRow, RunView] | None:
        """See `Source.find`. Of most runs the key is the id, so that no other one is read for it."""
        view = self._view(key)
        if view is None:
            row = next((row for row in self.rows() if row.key == key), None)
            view = self._view(row.run_id) if row else None
        return (_noted(self._row(view), self._notes()), view) if view else None

    def annotate(self, run_id: str, notes: RunNotes) -> bool:
        """See `Source.annotate`."""
        return isinstance(self._store, NotedStore) and asyncio.run(self._store.annotate(run_id, notes))

    def trial_notes(self, run_id: str) -> Mapping[int, TrialNotes] | None:
        """See `Source.trial_notes`."""
        return self._store.trial_notes(run_id) if isinstance(self._store, TrialNotedStore) else None

    def annotate_trial(self, run_id: str, ordinal: int, notes: TrialNotes) -> bool:
        """See `Source.annotate_trial`."""
        if not isinstance(self._store, TrialNotedStore):
            return False
        return asyncio.run(self._store.annotate_trial(run_id, ordinal, notes))

    def _notes(self) -> Mapping[str, RunNotes]:
        return self._store.notes() if isinstance(self._store, NotedStore) else {}

    def _view(self, run_id: str) -> RunView | None:
        return next(self._store.scan(RunQuery(run_ids=(run_id,), limit=1)), None)

    def _row(self, view: RunView) -> RunRow:
        row = self._ended.get(view.run.run_id) or row_of(view, key_of(view.run.run_id), self.label)
        return replace(row, notes=RunNotes()) if row.notes is None and isinstance(self._store, NotedStore) else row

    def views(self, rows: Sequence[RunRow]) -> Iterator[RunView]:
        """See `Source.views`."""
        return self._store.scan(RunQuery(run_ids=tuple(row.run_id for row in rows)))


def _noted(row: RunRow, notes: Mapping[str, RunNotes]) -> RunRow:
    """The same row with what is said of its run now."""
    return replace(row, notes=notes[row.run_id]) if row.run_id in notes else row


@dataclass(frozen=True)
class _File:
    """A file as it was when it was read."""

    path: Path
    changed: tuple[int, int]


class RunFiles:
    """The runs of a record, of a folder of results, or of the documents in a folder.

    Args:
        label: the path as the user wrote it.
        call: the command line, which knows the reporters.
        path: the file or folder.
    """

    def __init__(self, label: str, call: Invocation, path: Path) -> None:
        self.label = label
        self._call = call
        self._path = path
        self._rows: dict[_File, RunRow | None] = {}
        self._views: OrderedDict[_File, RunView] = OrderedDict()
        self._places: dict[str, _File] = {}
        self._is_one = not path.is_dir() or self._read(_state_of(path)) is not None

    def rows(self) -> Iterator[RunRow]:
        """See `Source.rows`."""
        files = [self._path] if self._is_one else _documents(self._path)
        for file in map(_state_of, files):
            if file not in self._rows:
                view = self._read(file)
                self._rows[file] = row_of(view, key_of(view.run.run_id), self.label) if view else None
            row = self._rows[file]
            if row is not None:
                self._places[row.key] = file
                yield row

    def find(self, key: str) -> tuple[RunRow, RunView] | None:
        """See `Source.find`."""
        row = next((row for row in self.rows() if row.key == key), None)
        view = self._read(self._places[key]) if row else None
        return (row, view) if row and view else None

    def views(self, rows: Sequence[RunRow]) -> Iterator[RunView]:
        """See `Source.views`."""
        files = (self._places.get(row.key) for row in rows)
        return (view for file in files if file and (view := self._read(file)))

    def annotate(self, run_id: str, notes: RunNotes) -> bool:
        """See `Source.annotate`. Reports are not changed."""
        return False

    def trial_notes(self, run_id: str) -> Mapping[int, TrialNotes] | None:
        """See `Source.trial_notes`."""
        return None

    def annotate_trial(self, run_id: str, ordinal: int, notes: TrialNotes) -> bool:
        """See `Source.annotate_trial`. Reports are not changed."""
        return False

    def check(self) -> None:
        """Refuse a place that holds no run.

        Raises:
            SkillgaugeError: the file is no report, or the folder holds none.
        """
        if not self._path.is_dir():
            self._call.read_run(self._path)
        elif next(self.rows(), None) is None and not documents_in(self._path):
            message = f"{self.label!r} holds no report that an installed reporter reads"
            hint = "Name a run record, a folder of reports, or a store with --store PLACE."
            raise UsageError(Problem("view.no-runs", message, hint=hint))

    def _read(self, file: _File) -> RunView | None:
        view = self._views.get(file)
        if view is None:
            try:
                view = self._call.read_run(file.path)
            except SkillgaugeError:
                return None
            self._views[file] = view
            while len(self._views) > _KEPT:
                self._views.popitem(last=False)
        return view


def _state_of(path: Path) -> _File:
    try:
        status = path.stat()
    except OSError:
        return _File(path, (0, 0))
    return _File(path, (status.st_mtime_ns, status.st_size))


def _documents(folder: Path) -> list[Path]:
    """The JSON documents of a folder and of the folders in it, in the order of their names."""
    places = [folder, *sorted(Path(entry) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))]
    files = (path for place in places for path in sorted(place.glob("*.json")) if path.is_file())
    return [path for path, _ in zip(files, range(_FILES), strict=False)]


class Runs:
    """All runs of all places, each once; safe to be asked from several threads.

    Args:
        sources: the places; of a run that several hold, the first counts.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = tuple(sources)
        self._lock = Lock()

    @property
    def labels(self) -> tuple[str, ...]:
        """The places as the user wrote them."""
        return tuple(source.label for source in self._sources)

    def rows(self) -> list[RunRow]:
        """Every run, newest first; reads no trial."""
        rows: dict[str, RunRow] = {}
        with self._lock:
            for source in self._sources:
                for row in source.rows():
                    rows.setdefault(row.key, row)
        return sorted(rows.values(), key=lambda row: (row.started_at, row.run_id), reverse=True)

    def find(self, key: str) -> tuple[RunRow, RunView] | None:
        """A run by its name in addresses, with its row."""
        with self._lock:
            pairs = (source.find(key) for source in self._sources)
            return next((pair for pair in pairs if pair), None)

    def annotate(self, row: RunRow, notes: RunNotes) -> bool:
        """Say this of a run in place of what was said; false if its place keeps no such words, or the run is gone."""
        with self._lock:
            return any(source.annotate(row.run_id, notes) for source in self._of(row))

    def trial_notes(self, row: RunRow) -> Mapping[int, TrialNotes] | None:
        """The words about trials of a run, by their places in the plan; `None` if its place keeps none."""
        with self._lock:
            notes = (source.trial_notes(row.run_id) for source in self._of(row))
            return next((one for one in notes if one is not None), None)

    def annotate_trial(self, row: RunRow, ordinal: int, notes: TrialNotes) -> bool:
        """Say this of a trial in place of what was said; false if its place keeps no such words, or it is gone."""
        with self._lock:
            return any(source.annotate_trial(row.run_id, ordinal, notes) for source in self._of(row))

    def _of(self, row: RunRow) -> list[Source]:
        return [source for source in self._sources if source.label == row.source]

    def views(self, rows: Sequence[RunRow]) -> list[RunView]:
        """The runs of some rows, without those that are gone."""
        views: list[RunView] = []
        with self._lock:
            for source in self._sources:
                own = [row for row in rows if row.source == source.label]
                views += source.views(own) if own else ()
        return views
