"""The places that runs are read from: stores, documents of reporters, folders of such documents, and runs in memory."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from skillgauge.api import Problem, RunQuery, SkillgaugeError, Store, UsageError
from skillgauge.api.report import RunView
from skillgauge.api.run import Globals, Invocation, invocation, why_summary_foreign

from .projections import SourcedRun

_DOCUMENTS = 2_000
"""Documents of one folder that are read."""
_BEGINNING = 4096
"""Bytes of a file that are looked at first."""
_UNKNOWN = "report.unknown"
"""Code of the problem of a file that no reporter knows."""


class _Caller:
    """Hears of problems on behalf of a program: what does not end the reading is a Python warning."""

    def notice(self, text: str) -> None:
        """Warn of it."""
        warnings.warn(text, stacklevel=2)

    def problems(self, problems: Iterable[Problem]) -> None:
        """Warn of them."""
        for problem in problems:
            self.notice(problem.message)

    def watching(self, total: int, stop: asyncio.Event, *, at_most: bool = False) -> NoReturn:
        """Refuse: nothing is evaluated here."""
        raise NotImplementedError


@dataclass(frozen=True)
class Selection:
    """The runs that are wanted."""

    suite_id: str | None = None
    target_id: str | None = None
    limit: int | None = None
    """The newest so many; `None` stands for all."""

    def includes(self, view: RunView) -> bool:
        """Tell whether a run has the suite and in it the target."""
        suites = [suite for suite in view.head.suites if self.suite_id in (None, suite.id)]
        if self.target_id is None:
            return bool(suites) or self.suite_id is None
        return any(target.id == self.target_id for suite in suites for target in suite.targets)


Place = str | os.PathLike[str] | RunView


def read_runs(places: Iterable[Place], selection: Selection) -> Generator[SourcedRun]:
    """Yield the runs of some places, newest first, each once; a store is open until the last was yielded.

    Args:
        places: addresses or files of stores, documents, folders of documents, runs; none is the configured store.
        selection: the wanted ones.

    Raises:
        SkillgaugeError: a place does not exist or holds no runs, or cannot be read.
    """
    call: Invocation | None = None
    sourced: dict[str, SourcedRun] = {}
    with ExitStack() as opened:
        for place in places or ("",):
            if isinstance(place, RunView):
                sourced.setdefault(place.run.run_id, SourcedRun(place, "memory", None))
                continue
            call = call or invocation(Globals(quiet=True), {}, _Caller())
            for run in _read(call, os.fspath(place), selection, opened):
                sourced.setdefault(run.run_id, run)
        selected = [run for run in sourced.values() if selection.includes(run.view)]
        selected.sort(key=lambda run: (run.view.run.started_at, run.run_id), reverse=True)
        yield from selected[: selection.limit]


def _kept(opened: ExitStack, store: Store) -> Store:
    """Return a store, which is closed at the end."""
    opened.callback(_close, store)
    return store


def _close(store: Store) -> None:
    """Close a store, in a notebook too, where this thread has a loop that runs already."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - needed once a store was open

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, store.close()).result()


def _read(call: Invocation, place: str, selection: Selection, opened: ExitStack) -> Iterator[SourcedRun]:
    if not place:
        yield from _stored(_kept(opened, call.open_store()), "the configured store", selection)
    elif Path(place).is_dir():
        yield from _of_folder(call, place)
    elif not Path(place).exists():
        if "://" not in place:
            message = f"{place!r} does not exist"
            hint = "Name a store, a run record, or a folder of records."
            raise UsageError(Problem("usage.no-such-path", message, hint=hint))
        yield from _stored(_kept(opened, _store_at(call, place)), place, selection)
    else:
        view = _document(call, place)
        if view is not None:
            yield SourcedRun(view, place, None)
        else:
            yield from _stored(_kept(opened, _store_at(call, place)), place, selection)


def _store_at(call: Invocation, place: str) -> Store:
    return call.signing(call.open_store_at(place))


def _stored(store: Store, source: str, selection: Selection) -> Iterator[SourcedRun]:
    query = RunQuery(suite_id=selection.suite_id, target_id=selection.target_id, limit=selection.limit)
    for view in store.scan(query):
        yield SourcedRun(view, source, not why_summary_foreign(view))


def _document(call: Invocation, place: str) -> RunView | None:
    """Return the run in a document; `None` if no reporter knows it, so that it may be a store.

    Documents are texts, and reporters read them as a whole, so none is asked about anything else.

    Raises:
        SkillgaugeError: it is a damaged one.
    """
    if not _may_be_text(Path(place)):
        return None
    try:
        return call.read_run(Path(place))
    except SkillgaugeError as error:
        if all(problem.code == _UNKNOWN for problem in error.problems):
            return None
        raise


def _may_be_text(path: Path) -> bool:
    """Tell whether a file does not begin as only binary ones do; a folder may hold texts."""
    if path.is_dir():
        return True
    with path.open("rb") as file:
        return b"\0" not in file.read(_BEGINNING)


def _of_folder(call: Invocation, place: str) -> Iterator[SourcedRun]:
    """Yield the run that a folder is, or the runs of the documents in it and in the folders below it."""
    folder = Path(place)
    whole = _document(call, place)
    if whole is not None:
        yield SourcedRun(whole, place, None)
        return
    read = 0
    for path in _documents(folder):
        view = _document(call, str(path))
        if view is not None:
            read += 1
            yield SourcedRun(view, str(path), None)
    if not read:
        message = f"{place!r} holds no report that an installed reporter reads"
        hint = "Name a run record, a folder of records, or a store."
        raise UsageError(Problem("usage.no-runs", message, hint=hint))


def _documents(folder: Path) -> list[Path]:
    """Return the JSON documents of a folder and of those in it, by name, so that a run that has two is read once."""
    places = [folder, *sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())]
    files = [path for place in places for path in sorted(place.glob("*.json")) if path.is_file()]
    if len(files) > _DOCUMENTS:
        warnings.warn(f"{folder} has more than {_DOCUMENTS:,} documents; the rest is not read", stacklevel=2)
    # Records tell the most of a run, and of a run that several documents tell, the first counts.
    return sorted(files[:_DOCUMENTS], key=lambda path: not path.name.endswith(".record.json"))
