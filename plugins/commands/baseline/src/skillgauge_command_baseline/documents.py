"""Baselines as files and as documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from skillgauge.api import Execution, Frozen, Kept, Problem, SkillgaugeError, TrialResult, plain
from skillgauge.api.report import Counts, RunView, counted, moment, score_text
from skillgauge.api.report import listed as in_a_line
from skillgauge.api.run import Invocation, Output, baseline_files, can_show_loss, least_margin, write_whole


class Entry(Frozen):
    """A run that is kept."""

    name: str
    file: str
    """Relative to the current folder."""
    run_id: str
    started_at: float
    """Seconds since the epoch."""
    suites: tuple[str, ...]
    engines: tuple[str, ...]
    models: tuple[str, ...]
    counts: Counts
    """Of every arm, also of those that others are only compared with."""
    score: str
    """The trials that passed, of those that gates are about, in words."""


class SavedDocument(Frozen):
    """The document of `baseline save --json`."""

    schema_version: str = "1.0"
    saved: Entry | None
    """`null`: the run proves nothing, so it is not kept."""
    reason: str = ""


class ListDocument(Frozen):
    """The document of `baseline list --json`."""

    schema_version: str = "1.0"
    baselines: tuple[Entry, ...]


def entry_of(name: str, file: Path, view: RunView) -> Entry:
    """Return the entry of a baseline; its results are not read."""
    return Entry(
        name=name,
        file=f"{file.parent.name}/{file.name}",
        run_id=view.run.run_id,
        started_at=view.run.started_at,
        suites=tuple(suite.id for suite in view.head.suites),
        engines=tuple(dict.fromkeys(one.name for one in view.head.runners)),
        models=view.head.models,
        counts=view.summary.counts,
        score=score_text(view),
    )


_LARGEST = 20
"""Points of a margin above which a gate allows more than people would call no loss."""


def advice(name: str, view: RunView) -> str:
    """Return the command that compares later runs with a baseline, by a gate that the same results would meet."""
    margin = least_margin(view)
    if margin is None or margin > _LARGEST:
        if not can_show_loss(view):
            return "too few runs for a gate: not even the loss of every case would be beyond chance; save more --runs"
        command = f"skillgauge eval --gate no-regression --against {name}"
        return f"compare with: {command} (with more --runs also by --gate not-worse, which demands a proof)"
    return f"compare with: skillgauge eval --gate not-worse --margin {margin:g} --against {name}"


def save_as(call: Invocation, view: RunView, target: Path) -> None:
    """Write a run record without what agents did and said: verdicts, reasons and figures stay."""

    def results() -> Iterator[TrialResult]:
        return map(_slim, view.results())

    slim = RunView(view.run, view.head, view.summary, Kept(results, list(view.cases())))
    (artifact,) = call.reporter("record").render(slim)
    write_whole(target, artifact.chunks)


def _slim(result: TrialResult) -> TrialResult:
    ran = result.execution
    scores = tuple(one.model_copy(update={"evidence": {}}) for one in result.scores)
    kept = Execution(duration_s=ran.duration_s, usage=ran.usage, failure=ran.failure, exit_code=ran.exit_code)
    return result.model_copy(update={"execution": kept, "scores": scores})


def listed(call: Invocation) -> tuple[ListDocument, list[Problem]]:
    """The baselines of the current folder, and what is wrong with files that cannot be read."""
    entries: list[Entry] = []
    problems: list[Problem] = []
    for name, file in baseline_files(call).items():
        try:
            entries.append(entry_of(name, file, call.read_run(file)))
        except SkillgaugeError as error:
            problems += error.problems
    return ListDocument(baselines=tuple(entries)), problems


def print_baselines(document: ListDocument, output: Output) -> None:
    """A table, or that there is none."""
    rows = [
        [
            plain(baseline.name),
            moment(baseline.started_at),
            in_a_line(baseline.suites),
            in_a_line((*baseline.engines, *baseline.models)),
            plain(baseline.score),
        ]
        for baseline in document.baselines
    ]
    if rows:
        output.table(["Baseline", "Began", "Suite", "Engine", "Score"], rows)
    output.verdict(f"{counted(len(rows), 'baseline')} here")
