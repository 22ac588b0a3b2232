"""`select`: the best of some skills, by what reports say about them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from skillgauge.api import ExitCode, JsonObject, Problem, SkillgaugeError, UsageError, thaw
from skillgauge.api.report import counted
from skillgauge.api.run import (
    GlobalsCommand,
    Invocation,
    ProblemDocument,
    SeveralWords,
    invocation,
    problem_documents,
    write_whole,
)
from skillgauge_skill_selection.catalogue import Catalogue, load_catalogue, read_candidates, require_unique_ids
from skillgauge_skill_selection.evidence import Evidence, SkillReport, newest, reports_of
from skillgauge_skill_selection.parameters import RATE
from skillgauge_skill_selection.selection import Selection, select
from skillgauge_skill_selection.showing import (
    SelectionDocument,
    ranking_table,
    selection_document,
    selection_notices,
)
from skillgauge_skill_selection.strategy import Strategy, read_strategy

STDOUT = "-"
"""The file that stands for stdout."""


class SelectDocument(SelectionDocument):
    """The output of `select --json`."""

    output: str | None
    """File that the selected skills were written to."""
    notices: tuple[str, ...] = ()
    problems: tuple[ProblemDocument, ...] = ()
    """Files that could not be read."""


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints and reads."""
    return {
        "select": SelectDocument.model_json_schema(),
        "strategy": Strategy.model_json_schema(),
    }


_OPTIONS: list[click.Parameter] = [
    click.Option(
        ["--from", "source"], required=True, metavar="PATH", help="Candidates: a folder to search, or a JSON file."
    ),
    SeveralWords(["--reports"], metavar="FILE...", text="Reports of evaluations; the newest of a skill counts."),
    click.Option(["--strategy"], metavar="FILE", help="Filters, order and number, as YAML or JSON."),
    click.Option(["--min-completion"], type=RATE, metavar="R", help="Least completion rate, 0 to 1."),
    click.Option(["--top-k"], type=click.IntRange(0), metavar="N", help="How many to keep; 0 keeps all."),
    click.Option(
        ["--output"],
        metavar="FILE",
        help="Write the selected skills to FILE as JSON; - is stdout, in place of the table.",
    ),
]


def _select(
    *,
    source: str,
    reports: tuple[str, ...],
    strategy: str | None,
    min_completion: float | None,
    top_k: int | None,
    output: str | None,
) -> int:
    call = invocation(click.get_current_context().obj)
    if output == STDOUT and call.output.as_json:
        raise UsageError(Problem("usage.exclusive", "--json and --output - are two documents", hint="Choose one."))
    if not reports:
        hint = "Name the reports of an evaluation, for example: --reports ./reports/eval-result.json"
        raise UsageError(Problem("usage.no-reports", "there is nothing to choose by: no --reports", hint=hint))
    rules = Strategy() if strategy is None else read_strategy(Path(strategy))
    rules = rules.with_limits(min_completion=min_completion, top_k=top_k)
    catalogue = _candidates(call, Path(source))
    evidence = _evidence(call, reports)
    selection = select(catalogue.candidates, evidence.by_skill, rules)
    notices = selection_notices(selection, evidence)
    if output is not None and output != STDOUT:
        _write(selection, Path(output))
    _print(selection, rules, notices, output, catalogue, call)
    return ExitCode.USAGE if catalogue.has_bad_files else ExitCode.OK


command = GlobalsCommand(
    "select",
    params=_OPTIONS,
    callback=_select,
    examples=("skillgauge select --from ./skills --reports reports/eval-result.json --top-k 3",),
    help="Choose the best skills by what reports say about them.",
)


def _candidates(call: Invocation, source: Path) -> Catalogue:
    """The skills of a JSON array, else whatever the installed formats find."""
    listed = read_candidates(source) if source.is_file() and source.suffix.lower() == ".json" else None
    catalogue = load_catalogue(call, call.cwd / source) if listed is None else Catalogue(listed)
    require_unique_ids(catalogue.candidates)
    return catalogue


def _evidence(call: Invocation, files: Sequence[str]) -> Evidence:
    """Return the evidence in the reports; the problems of all of them are reported at once."""
    found: list[SkillReport] = []
    notices: list[str] = []
    problems: list[Problem] = []
    seen: set[Path] = set()
    for file in files:
        path = Path(file)
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        if path.is_dir():
            hint = f"Name the files in it, for example: --reports {file.rstrip('/')}/eval-result-*.json"
            problems.append(Problem("usage.no-report", f"{file!r} is a folder", hint=hint))
            continue
        try:
            reports, passed_over = reports_of(call.read_run(path), file)
        except SkillgaugeError as error:
            problems += error.problems
            continue
        found += reports
        notices += passed_over
    if problems:
        raise UsageError(problems)
    evidence = newest(found)
    return Evidence(evidence.by_skill, (*notices, *evidence.notices))


def _skills(selection: Selection) -> list[object]:
    return [thaw(one.candidate.document) for one in selection.selected]


def _write(selection: Selection, path: Path) -> None:
    write_whole(path, [json.dumps(_skills(selection), indent=2, ensure_ascii=False).encode(), b"\n"])


def _print(
    selection: Selection,
    strategy: Strategy,
    notices: Sequence[str],
    output: str | None,
    catalogue: Catalogue,
    call: Invocation,
) -> None:
    out = call.output
    out.problems(catalogue.passed_over)
    document = SelectDocument(
        **dict(selection_document(selection, strategy)),
        output=output,
        notices=tuple(notices),
        problems=problem_documents(catalogue.passed_over),
    )
    out.document(document.model_dump(mode="json"))
    count, total = len(selection.selected), counted(selection.total, "skill")
    if output == STDOUT:
        out.whole(_skills(selection))
    elif selection.selected:
        out.line(f"Selected {count} of {total}:")
        out.table(*ranking_table(selection.selected, strategy, selection.cost_unit))
    if output is not None and output != STDOUT:
        out.line(f"selected skills: {output}")
    for notice in notices:
        out.notice(notice)
    unread = "; some files could not be read" if catalogue.has_bad_files else ""
    out.verdict(f"{count or 'none'} of {total} selected{unread}")
