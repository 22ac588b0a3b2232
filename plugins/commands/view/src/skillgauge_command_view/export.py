"""The pages of runs as files that open without a server: one folder, nothing from elsewhere, no script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from skillgauge.api import Problem, UsageError
from skillgauge.api.report import RunView, case_by_case
from skillgauge.api.run import write_whole
from skillgauge_skill_maps import MapDocument

from .links import FileLinks
from .pages.case_page import case_page, trial_page
from .pages.history_page import history_page, newest_rows
from .pages.map_page import Maps, map_page
from .pages.remarks import Remarks
from .pages.run_cases import cases_of
from .pages.run_page import PAGE, CaseFilter, RunPage, case_key
from .pages.sparklines import sparklines
from .rendering import Pages
from .rows import RunRow
from .run_list import Part, RunFilter, choices


def export(
    runs: Sequence[tuple[RunRow, RunView]], folder: Path, maps: Maps | None = None, remarks: Remarks | None = None
) -> Iterator[Path]:
    """Write the pages of some runs, and yield each file.

    `index.html` is the page of the run, or the list if there are several.

    Args:
        runs: with the row of each.
        folder: is made; must hold nothing.
        maps: of which those that rest on one of these runs are written, too.
        remarks: those of plugins on runs.

    Raises:
        UsageError: the folder holds anything, or cannot be written.
    """
    _require_empty(folder)
    links = FileLinks(runs[0][0].key if len(runs) == 1 else None)
    pages = Pages(links, inline_style=True)
    views = {row.key: view for row, view in runs}
    rows = sorted((row for row, _ in runs), key=lambda row: (row.started_at, row.run_id), reverse=True)
    maps_of = {row.key: maps.of_run(row.run_id) if maps else {} for row in rows}
    for row in rows:
        view, lines = remarks.on(views[row.key]) if remarks else (views[row.key], ())
        yield from _written(folder, _run(pages, links, RunPage(row, view, remarks=lines), maps_of[row.key]))
    documents = {key: document for own in maps_of.values() for key, document in own.items()}
    drawn = ((links.map(key), pages.draw("map", page=map_page(one, rows))) for key, one in documents.items())
    yield from _written(folder, drawn)
    if links.has_list:
        yield from _written(folder, _across(pages, links, rows, views, documents))


def _across(
    pages: Pages,
    links: FileLinks,
    rows: Sequence[RunRow],
    views: Mapping[str, RunView],
    maps: Mapping[str, MapDocument],
) -> Iterator[tuple[str, str]]:
    """Yield the list of several runs, and the history of each skill."""
    part = Part(tuple(rows), len(rows), len(rows), 1, 1)
    sources = tuple(dict.fromkeys(row.source for row in rows))
    listed = {"part": part, "choices": choices(rows), "sources": sources, "maps": maps}
    listed["lines"] = sparklines(rows, rows)
    yield links.runs(), pages.draw("runs", chosen=RunFilter(), **listed)
    for target in dict.fromkeys(target for row in rows for target in row.targets):
        own, older = newest_rows(rows, target)
        page = history_page(target, own, [views[row.key] for row in own], older)
        yield links.history(target), pages.draw("history", page=page)


def _run(pages: Pages, links: FileLinks, about: RunPage, maps: Mapping[str, MapDocument]) -> Iterator[tuple[str, str]]:
    """Yield the page of a run and those of its cases; of a trial only where that of its case shows less."""
    row, view = about.row, about.view
    cases = cases_of(view)
    listed = {"cases": cases, "chosen": CaseFilter(), "size": PAGE, "maps": maps}
    yield links.run(row.key), pages.draw("run", page=about, form_key=None, **listed)
    for report in case_by_case(view):
        key = case_key(report.case, view)
        page = case_page(report)
        results = {result.ordinal: result for repeats in report.results.values() for result in repeats}
        yield links.case(row.key, key), pages.draw("case", row=row, page=page)
        for side in page.sides:
            if side.is_cut:
                whole = trial_page(results[side.ordinal], page.name, whole=True)
                drawn = pages.draw("trial", row=row, page=whole, case=key)
                yield links.trial(row.key, side.ordinal), drawn


def _written(folder: Path, drawn: Iterator[tuple[str, str]]) -> Iterator[Path]:
    for name, content in drawn:
        path = folder / name
        write_whole(path, [content.encode()])
        yield path


def _require_empty(folder: Path) -> None:
    try:
        is_free = not folder.exists() or (folder.is_dir() and next(folder.iterdir(), None) is None)
    except OSError as error:
        raise UsageError(Problem("view.folder", f"{str(folder)!r} cannot be read: {error.strerror or error}")) from None
    if not is_free:
        hint = "Name a folder that does not exist yet, or remove what it holds."
        raise UsageError(Problem("view.folder", f"{str(folder)!r} holds something already", hint=hint))
