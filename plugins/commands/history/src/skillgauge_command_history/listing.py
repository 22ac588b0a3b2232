"""Runs and trends as documents, and for people. Ids of a run cannot change what the terminal shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from skillgauge.api import DIRECT, JsonObject, RunNotes, plain
from skillgauge.api.report import (
    UNKNOWN,
    CaseCounts,
    Counts,
    GroupSummary,
    RunView,
    counted,
    groups_under_test,
    headline_text,
    interval_text,
    moment,
    percent,
    rated_figures,
)
from skillgauge.api.run import Output

from .documents import (
    ImportDocument,
    ListDocument,
    ListedRun,
    ListedTarget,
    NoiseDocument,
    NoteDocument,
)

_NAMED = 3
_MIN_SAMPLES = 20
"""With fewer times the 95th percentile is the largest of them."""
_WIDTH = 40


def listed(views: Iterable[RunView], place: str, notes: Mapping[str, RunNotes]) -> ListDocument:
    """Runs as a document, with what is said of them; their results are not read."""
    return ListDocument(
        store=place, runs=tuple(_listed(view, notes.get(view.run.run_id, RunNotes())) for view in views)
    )


def print_runs(document: ListDocument, output: Output) -> None:
    """Runs as a table; what people say of them stands in it if they say anything."""
    rows = []
    has_notes = any(run.name or run.labels for run in document.runs)
    for run in document.runs:
        counts = run.counts
        targets = dict.fromkeys(target.id for target in run.targets)
        rows.append(
            [
                plain(run.run.run_id),
                moment(run.run.started_at),
                f"{run.run.state}, invalid" if run.invalid else run.run.state,
                _named(run.suites),
                _named(list(targets)),
                _passed(run),
                str(counts.errors),
                *([plain(_said(run), 2 * _WIDTH)] if has_notes else ()),
            ]
        )
    columns = ["Name and labels"] if has_notes else []
    output.table(["Run", "Began", "State", "Suite", "Target", "Passed", "Errors", *columns], rows)


def print_note(document: NoteDocument, output: Output) -> None:
    """Print the words about a run."""
    for title, text in (("name", document.name), ("labels", _labels(document.labels)), ("note", document.note)):
        if text:
            output.line(f"{title}: {plain(text)}")


def note_verdict(document: NoteDocument) -> str:
    """The same in one sentence."""
    words = [word for word, text in (("a name", document.name), ("a note", document.note)) if text]
    if document.labels:
        words.append(counted(len(document.labels), "label"))
    return f"run {plain(document.run_id)} has {_in_words(words) or 'no name, note or label'}"


def _in_words(things: Sequence[str]) -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    return " and ".join([", ".join(things[:-1]), things[-1]] if len(things) > 1 else things)


def print_noise(document: NoiseDocument, output: Output) -> None:
    """Print a line for each group, and what they come to."""
    are_several = len({row.suite for row in document.noise}) > 1
    for row in document.noise:
        suite = row.suite if are_several or row.target is None else None
        arm = row.arm if row.arm != DIRECT.name else None
        parts = dict.fromkeys((row.target, suite, arm, row.runner, row.model, row.judges))
        name = " · ".join(plain(part, _WIDTH) for part in parts if part)
        rate = percent(row.flip_rate.rate)
        basis = f"n = {counted(row.cases, 'case')}, {counted(row.sessions, 'session')}"
        output.line(f"{name}: two runs of a case disagree in {rate} ({interval_text(row.flip_rate)}; {basis})")
    output.verdict(noise_verdict(document))


def noise_verdict(document: NoiseDocument) -> str:
    """The list in one sentence."""
    runs = counted(document.runs, "run")
    if not document.noise:
        return f"no case ran twice unchanged in {runs}; evaluate with --runs 2 or more, or with --same"
    noisiest = document.noise[0]
    subject = plain(noisiest.target or noisiest.suite, _WIDTH)
    rate = percent(noisiest.flip_rate.rate)
    return f"noisiest in {runs}: {subject}, where two runs of a case disagree in {rate}"


def print_import(document: ImportDocument, output: Output) -> None:
    """Print the runs that were taken over, and those that were not."""
    for run in document.imported:
        output.line(
            f"{run.run_id}  {plain(run.skill, _WIDTH)} on {plain(run.benchmark, _WIDTH)}, {run.results} results"
        )
    if document.not_imported:
        output.line()
        output.table(
            ["Not imported", "Skill", "Benchmark", "Reason"],
            [
                [plain(run.evaluation, _WIDTH), plain(run.skill, _WIDTH), plain(run.benchmark, _WIDTH), run.reason]
                for run in document.not_imported
            ],
        )


def import_verdict(document: ImportDocument) -> str:
    """The import in one sentence."""
    verdict = f"imported {counted(len(document.imported), 'run')} into {document.store}"
    if document.present:
        verdict += f", {len(document.present)} had been imported before"
    damaged = sum(one.damaged for one in document.not_imported)
    unfinished = len(document.not_imported) - damaged
    verdict += f", {unfinished} did not finish and are left out" if unfinished else ""
    verdict += f", {damaged} cannot be read" if damaged else ""
    return verdict + (f"; {document.passed_over} further JSON files hold no other run" if document.passed_over else "")


def _listed(view: RunView, notes: RunNotes) -> ListedRun:
    groups = groups_under_test(view)
    rated = [group for group in groups if not rated_figures(group)]
    return ListedRun(
        run=view.run,
        suites=tuple(suite.id for suite in view.head.suites),
        targets=tuple(
            ListedTarget(suite=suite.id, id=target.id, version=target.version, digest=target.digest)
            for suite in view.head.suites
            for target in suite.targets
        ),
        counts=Counts.sum(group.counts for group in groups) if groups else view.summary.counts,
        cases=_cases(groups),
        rated_cases=_cases(rated),
        headlines=tuple(dict.fromkeys(headline_text(group) for group in groups if rated_figures(group))),
        groups=view.summary.groups,
        invalid=tuple(one for one in view.summary.validity if not one.valid),
        name=notes.name,
        note=notes.note,
        labels=dict(notes.labels),
    )


def _cases(groups: Iterable[GroupSummary]) -> CaseCounts | None:
    """Add up the cases of groups by outcome; `None` where no group tells them."""
    cases = [group.cases for group in groups if group.cases]
    return CaseCounts.sum(cases) if cases else None


def _said(run: ListedRun) -> str:
    return " ".join(filter(None, (run.name, _labels(run.labels))))


def _labels(labels: JsonObject) -> str:
    return ", ".join(f"{key}={value}" for key, value in labels.items())


def _passed(run: ListedRun) -> str:
    """Return how many of the graded cases passed, and the figures of trigger sets, which no count tells."""
    rated = (run.rated_cases,) if run.rated_cases else ()
    return ", ".join((*map(_passed_cases, rated), *run.headlines)) or UNKNOWN


def _passed_cases(cases: CaseCounts) -> str:
    apart = f", {cases.quarantined} in quarantine" if cases.quarantined else ""
    return f"{cases.passed} of {counted(cases.graded, 'case')}{apart}"


def _named(ids: Sequence[str]) -> str:
    shown = ", ".join(plain(one, _WIDTH) for one in ids[:_NAMED])
    more = len(ids) - _NAMED
    return f"{shown} and {more} more" if more > 0 else shown
