"""Write results.json; reading it is in `reading`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO

from skillgauge.api import Artifact
from skillgauge.api.report import RunView
from skillgauge_skillevaluation import Aggregate, Record, Series, Skipped, case_document, records_of

from .document import run_document
from .reading import read_results

_NO_CASES = '"cases": []'
_SPOOLED = 1 << 20
"""Bytes of cases that are held in memory; more of them wait in a file."""
_CHUNK = 1 << 16


class SkillevaluationReporter:
    """One document for each skill, engine and model; several of them are a list."""

    suffix = "json"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The document, case by case. Results are read once and not kept, so their number does not matter."""
        yield Artifact(chunks=_chunks(view))

    def read(self, path: Path) -> RunView | None:
        """A document of the reference runner or of this reporter."""
        return read_results(path)


@dataclass
class _Draft:
    """A document whose cases wait aside, because what stands before them tells of all of them."""

    series: Series
    cases: IO[bytes]
    aggregate: Aggregate = field(default_factory=Aggregate)
    hits: int = 0
    skipped: int = 0
    made_up: bool = False

    def add(self, record: Record | Skipped) -> None:
        if isinstance(record, Skipped):
            self.skipped += 1
            return
        self.aggregate.add(record.unit)
        self.hits += record.theirs.execution.replayed
        self.made_up = self.made_up or record.is_made_up
        text = json.dumps(case_document(record), indent=2, ensure_ascii=False).replace("\n", "\n    ")
        self.cases.write(f"{',' if self.cases.tell() else ''}\n    {text}".encode())


def _chunks(view: RunView) -> Iterator[bytes]:
    with ExitStack() as spools:
        drafts: dict[tuple[object, ...], _Draft] = {}
        for record in records_of(view):
            series = record.series
            key = (series.suite.id, series.candidate, series.baseline)
            if key not in drafts:
                drafts[key] = _Draft(series, spools.enter_context(SpooledTemporaryFile(_SPOOLED)))
            drafts[key].add(record)
        order = [suite.id for suite in view.head.suites]
        documents = sorted(drafts.values(), key=lambda one: order.index(one.series.suite.id))
        if len(documents) == 1:
            yield from _document(view, documents[0])
            yield b"\n"
            return
        yield b"["
        for number, draft in enumerate(documents):
            yield b",\n" if number else b"\n"
            yield from _document(view, draft)
        yield b"\n]\n"


def _document(view: RunView, draft: _Draft) -> Iterator[bytes]:
    counts = {"hits": draft.hits, "skipped": draft.skipped}
    document = run_document(view, draft.series, draft.aggregate, **counts, made_up=draft.made_up)
    before, _, after = json.dumps(document | {"cases": []}, indent=2, ensure_ascii=False).rpartition(_NO_CASES)
    yield f'{before}"cases": ['.encode()
    draft.cases.seek(0)
    while chunk := draft.cases.read(_CHUNK):
        yield chunk
    yield f"\n  ]{after}".encode()
