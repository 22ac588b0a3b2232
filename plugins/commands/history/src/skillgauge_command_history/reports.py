"""Take the runs of result documents over into the store, one document or a folder of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from skillgauge.api import Archive, SkillgaugeError, digest, plain
from skillgauge.api.report import RunInfo, RunState, RunView
from skillgauge.api.run import Invocation

from .documents import ImportDocument, ImportedRun, NotImported

_REASON = 300


def is_document(path: Path) -> bool:
    """Tell whether a path is a result document or a folder of them, and no database."""
    return path.is_dir() or path.suffix.lower() == ".json"


async def import_reports(call: Invocation, path: Path, archive: Archive, place: str) -> ImportDocument:
    """Store the run of every document that an installed reporter reads and that is not there yet.

    Args:
        call: the command line.
        path: a document, or a folder with documents; a file in it that no reporter knows is listed.
        archive: where the runs go.
        place: what the user calls it.

    Raises:
        SkillgaugeError: the store cannot be written. What was stored before stays.
    """
    imported: list[ImportedRun] = []
    present: list[ImportedRun] = []
    left_out: list[NotImported] = []
    for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
        try:
            view = _named(call.read_run(file), file)
        except SkillgaugeError as error:
            reason = plain("; ".join(dict.fromkeys(one.message for one in error.problems)), _REASON)
            left_out.append(NotImported(evaluation=file.name, skill="", benchmark="", reason=reason, damaged=True))
            continue
        told = ImportedRun(
            evaluation=file.name,
            run_id=view.run.run_id,
            skill=", ".join(dict.fromkeys(target.id for suite in view.head.suites for target in suite.targets)),
            benchmark=", ".join(suite.id for suite in view.head.suites),
            started_at=view.run.started_at,
            results=view.summary.counts.total,
        )
        (imported if await archive.keep(view) else present).append(told)
    return ImportDocument(
        file=str(path), store=place, imported=tuple(imported), present=tuple(present), not_imported=tuple(left_out)
    )


def _named(view: RunView, file: Path) -> RunView:
    """The run under an id that is the same in every import, so that it is stored once."""
    started = datetime.fromtimestamp(view.run.started_at, UTC)
    run_id = f"{started:%Y%m%dT%H%M%S}{digest(view.run.run_id, view.head.plan_id)[:12]}"
    info = RunInfo(
        run_id=run_id,
        state=RunState.FINISHED,
        started_at=view.run.started_at,
        finished_at=view.run.finished_at,
    )
    provenance = {**view.head.provenance, "imported": file.name}
    return replace(view, run=info, head=view.head.model_copy(update={"provenance": provenance}))
