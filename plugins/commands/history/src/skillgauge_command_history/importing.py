"""Take evaluations of eval-skills over into the store."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, runtime_checkable

from skillgauge.api import Archive, PluginError, Problem, SkillgaugeError, Store, SuiteError, Verdict, digest, plain
from skillgauge.api.report import RunInfo, RunState, RunView, Summary
from skillgauge.api.run import Invocation
from skillgauge.stats import RateInterval

from .documents import ImportDocument, ImportedRun, NotImported
from .original import Evaluation, Original, UnfinishedEvaluation, moment_of, opened_original

_REASON = 300


class _Unusable(Exception):  # noqa: N818 - it names the outcome
    """An evaluation that is left out.

    Args:
        reason: why.
        damaged: whether there would have been something to take over.
    """

    def __init__(self, reason: str, *, damaged: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.damaged = damaged


@runtime_checkable
class ArchivingStore(Store, Archive, Protocol):
    """A store that takes in runs."""


def require_archive(store: Store, place: str) -> ArchivingStore:
    """The store as one that takes in runs.

    Raises:
        PluginError: it does not.
    """
    if isinstance(store, ArchivingStore):
        return store
    message = f"the store of {place} cannot take in runs from elsewhere"
    raise PluginError(Problem("store.no-archive", message, hint="Name an SQLite file with --store."))


async def import_evaluations(call: Invocation, path: Path, archive: ArchivingStore, place: str) -> ImportDocument:
    """Store every evaluation of an original database that is not there yet, each as a finished run of its own.

    Args:
        call: the command line, whose installed reporters read the documents of eval-skills.
        path: the original database, which is only read.
        archive: where the runs go.
        place: what the user calls it.

    Raises:
        SkillgaugeError: the database cannot be read, or the store not written. What was stored before stays, and the
            same command goes on from there.
    """
    imported: list[ImportedRun] = []
    present: list[ImportedRun] = []
    left_out: list[NotImported] = []
    with opened_original(path) as original, TemporaryDirectory(prefix="skillgauge-import-") as folder:
        for evaluation in original.evaluations():
            try:
                view = _view(call, original, evaluation, path, Path(folder, "report.json"))
            except _Unusable as unusable:
                names = {"evaluation": evaluation.id, "skill": evaluation.skill, "benchmark": evaluation.benchmark}
                left_out.append(NotImported(**names, reason=unusable.reason, damaged=unusable.damaged))
                continue
            (imported if await archive.keep(view) else present).append(_imported(evaluation, view))
    return ImportDocument(
        file=str(path), store=place, imported=tuple(imported), present=tuple(present), not_imported=tuple(left_out)
    )


def _view(call: Invocation, original: Original, evaluation: Evaluation, path: Path, temporary: Path) -> RunView:
    """An evaluation as a run, by way of the document that eval-skills would have written for it."""
    try:
        report = original.report(evaluation)
        temporary.write_text(json.dumps([report], allow_nan=False), encoding="ascii")
    except UnfinishedEvaluation as error:
        raise _Unusable(str(error), damaged=False) from error
    except (ValueError, TypeError) as error:
        raise _Unusable(plain(str(error), _REASON), damaged=True) from error
    try:
        view = call.read_run(temporary)
    except SuiteError as error:
        raise _Unusable(_listed(error), damaged=True) from error
    started = moment_of(evaluation.timestamp)
    # The same evaluation has the same id in every import, so that it is stored once.
    run_id = f"{started:%Y%m%dT%H%M%S}{digest(evaluation.id, evaluation.skill, evaluation.benchmark)[:12]}"
    info = RunInfo(run_id=run_id, state=RunState.FINISHED, started_at=started.timestamp())
    suites = tuple(suite.model_copy(update={"root": str(path.absolute())}) for suite in view.head.suites)
    provenance = {"eval-skills": f"evaluation {evaluation.id} of {path.name}"}
    head = view.head.model_copy(update={"suites": suites, "provenance": provenance})
    return replace(view, run=info, head=head, summary=_with_interval(view))


def _with_interval(view: RunView) -> Summary:
    """The summary with our interval of the pass rate, which the original did not store."""
    cases: dict[int, list[bool]] = {}
    for result in view.results():
        if result.verdict in (Verdict.PASS, Verdict.FAIL):
            cases.setdefault(result.case_index, []).append(result.verdict is Verdict.PASS)
    if not cases:
        return view.summary
    means = [sum(passes) / len(passes) for passes in cases.values()]
    (group,) = view.summary.groups
    rate = RateInterval.of(means, repeats=max(map(len, cases.values())), seed=view.head.seed)
    return view.summary.model_copy(update={"groups": (group.model_copy(update={"pass_rate": rate}),)})


def _imported(evaluation: Evaluation, view: RunView) -> ImportedRun:
    return ImportedRun(
        evaluation=evaluation.id,
        run_id=view.run.run_id,
        skill=evaluation.skill,
        benchmark=evaluation.benchmark,
        started_at=view.run.started_at,
        results=view.summary.counts.total,
    )


def _listed(error: SkillgaugeError) -> str:
    """The problems of a document that nobody ever saw, without their places in it."""
    problems: Iterable[str] = dict.fromkeys(problem.message for problem in error.problems)
    return plain("; ".join(problems), _REASON)
