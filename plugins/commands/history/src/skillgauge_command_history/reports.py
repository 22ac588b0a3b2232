"""Take the runs of records and result documents over into the store: files, and folders with all that lies in them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from skillgauge.api import Problem, RunQuery, SkillgaugeError, Store, digest, plain
from skillgauge.api.report import RunInfo, RunState, RunView
from skillgauge.api.run import Invocation

from .documents import ImportDocument, ImportedRun, NotImported
from .importing import ArchivingStore, import_evaluations

_REASON = 300
_RECORD = "skillgauge.run"
"""Name of the schema of a run record, which holds the id that the run has wherever it goes."""
_UNKNOWN = "report.unknown"
"""Code of the problem of a file that no reporter reads."""
_FILES = 50_000
"""Files below one folder that are looked at."""


@dataclass
class Imports:
    """The fate of each file so far."""

    imported: list[ImportedRun] = field(default_factory=list)
    present: list[ImportedRun] = field(default_factory=list)
    left_out: list[NotImported] = field(default_factory=list)
    passed_over: int = 0

    def document(self, path: str, place: str) -> ImportDocument:
        """Return the document of the command."""
        return ImportDocument(
            file=path,
            store=place,
            imported=tuple(self.imported),
            present=tuple(self.present),
            not_imported=tuple(self.left_out),
            passed_over=self.passed_over,
        )


@dataclass(frozen=True)
class _File:
    """A file that may hold a run."""

    path: Path
    name: str
    """Its path from the folder that the user named, or its own name."""
    is_named: bool
    """Whether the user named it, so that it has to hold a run."""


async def import_paths(call: Invocation, paths: Sequence[Path], archive: ArchivingStore, place: str) -> ImportDocument:
    """Store the runs of documents, of folders and of databases of eval-skills, as `import_reports` has it."""
    documents = []
    for path in paths:
        take_over = import_reports if path.is_dir() or path.suffix.lower() == ".json" else import_evaluations
        documents.append(await take_over(call, path, archive, place))
    return documents[0].joined(documents[1:])


async def import_reports(call: Invocation, path: Path, archive: ArchivingStore, place: str) -> ImportDocument:
    """Store the run of every document that an installed reporter reads and that is not there yet.

    Args:
        call: the command line.
        path: a document, or a folder; all that lies in it and in its folders is looked at.
        archive: where the runs go.
        place: what the user calls it.

    Raises:
        SkillgaugeError: the store cannot be written. What was stored before stays.
    """
    imports = Imports()
    records, others = _sorted_by_kind(_files(path))
    for file in records:
        await _import(call, file, archive, imports, is_record=True)
    if records:
        # The other documents of such a folder are further reports of the same runs.
        imports.passed_over += len(others)
    else:
        for file in others:
            await _import(call, file, archive, imports, is_record=False)
    return imports.document(str(path), place)


def _files(path: Path) -> Iterator[_File]:
    if not path.is_dir():
        yield _File(path, path.name, is_named=True)
        return
    number = 0
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith(".json") and number < _FILES:
                number += 1
                file = Path(folder, name)
                yield _File(file, file.relative_to(path).as_posix(), is_named=False)


def _sorted_by_kind(files: Iterable[_File]) -> tuple[list[_File], list[_File]]:
    records: list[_File] = []
    others: list[_File] = []
    for file in files:
        (records if _is_record(file.path) else others).append(file)
    return records, others


def _is_record(path: Path) -> bool:
    """Tell whether a file is a run record, or begins as one and was cut off."""
    try:
        with path.open("rb") as file:
            head = file.read(200)
        tree = json.loads(path.read_bytes())
    except OSError:
        return False
    except (ValueError, RecursionError):
        return _RECORD.encode() in head
    return isinstance(tree, dict) and tree.get("schema_name") == _RECORD


async def _import(call: Invocation, file: _File, archive: ArchivingStore, imports: Imports, *, is_record: bool) -> None:
    """Store the run of one file, or note why not."""
    try:
        view = call.read_run(file.path)
    except SkillgaugeError as error:
        is_unknown = all(problem.code == _UNKNOWN for problem in error.problems)
        if is_unknown and not (is_record or file.is_named):
            imports.passed_over += 1
            return
        reason = "it is a run record that was cut off or damaged" if is_unknown and is_record else _reason(error)
        imports.left_out.append(_not_imported(file, reason, damaged=True))
        return
    if is_record and view.run.state is not RunState.FINISHED:
        imports.left_out.append(_not_imported(file, f"the run did not finish: {view.run.state}", damaged=False))
        return
    view = _kept_as(view, file.path.name, is_record=is_record)
    if await archive.keep(view):
        imports.imported.append(_imported(file, view))
    elif _is_same(archive, view):
        imports.present.append(_imported(file, view))
    else:
        reason = f"another run with the id {view.run.run_id} is stored; it was left as it is"
        imports.left_out.append(_not_imported(file, reason, damaged=True))


def _reason(error: SkillgaugeError) -> str:
    """Return the problems of a file with what to do about them."""
    return plain("; ".join(dict.fromkeys(map(_with_hint, error.problems))), _REASON)


def _with_hint(problem: Problem) -> str:
    return f"{problem.message}. {problem.hint}" if problem.hint else problem.message


def _not_imported(file: _File, reason: str, *, damaged: bool) -> NotImported:
    return NotImported(evaluation=file.name, skill="", benchmark="", reason=reason, damaged=damaged)


def _imported(file: _File, view: RunView) -> ImportedRun:
    return ImportedRun(
        evaluation=file.name,
        run_id=view.run.run_id,
        skill=", ".join(dict.fromkeys(target.id for suite in view.head.suites for target in suite.targets)),
        benchmark=", ".join(suite.id for suite in view.head.suites),
        started_at=view.run.started_at,
        results=view.summary.counts.total,
    )


def _is_same(store: Store, view: RunView) -> bool:
    """Tell whether the stored run of this id is the run of a file."""
    stored = next(store.scan(RunQuery(run_ids=(view.run.run_id,), limit=1)), None)
    return stored is not None and (
        (stored.head.plan_id, stored.summary.counts) == (view.head.plan_id, view.summary.counts)
    )


def _kept_as(view: RunView, file: str, *, is_record: bool) -> RunView:
    """Return the run under an id that is the same in every import, so that it is stored once."""
    info = view.run
    if not is_record:
        started = datetime.fromtimestamp(info.started_at, UTC)
        run_id = f"{started:%Y%m%dT%H%M%S}{digest(info.run_id, view.head.plan_id)[:12]}"
        info = RunInfo(run_id=run_id, state=RunState.FINISHED, started_at=info.started_at, finished_at=info.finished_at)
    provenance = {**view.head.provenance, "imported": file}
    return replace(view, run=info, head=view.head.model_copy(update={"provenance": provenance}))
