"""The output of `eval`: the JSON document of `--json`, and the lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from skillgauge_documents.characters import plain
from skillgauge_documents.frozen import Frozen
from skillgauge_documents.phrases import counted, percent

from ..decide.decision import Decision, run_notes
from ..decide.failing import FOLDED, WIDTH
from ..decide.leaderboard import Ranking, rankings
from ..errors import Problem
from ..report.answer import sentences
from ..report.catalogue import Catalogue
from ..report.opening import Opening, opening
from ..report.rows import BAR_HEAD, HEADS, summary_lines, table_of
from ..report.wording import figure_text, group_notes, headline, headline_text, interval_text, labels, table_texts
from ..terminal.output import Rows, problem_document
from ..terminal.tables import GAP, columns, table_lines
from ..types.results.runs import RunInfo, RunView
from ..types.results.summaries import GroupSummary, Summary, TagSummary
from ..types.results.trials import TrialResult
from ..types.trial import PlanHead
from .problem_documents import ProblemDocument
from .remarks import said_if

_TAGS = 3
"""Tags that are named of one group."""
_NAME = 80
"""Characters of a name that are shown."""
_SENTENCE = 1_000
"""Characters of an answer that are shown."""


class EvalDocument(Frozen):
    """The document of `eval --json`."""

    schema_version: str = "1.0"
    exit_code: int
    verdict: str
    notices: tuple[str, ...] = ()
    sandbox: str
    run: RunInfo
    plan: PlanHead
    summary: Summary
    reports: dict[str, str]
    """Path of each report that was written, by reporter."""
    rankings: tuple[Ranking, ...] = ()
    """Engines and models by lift and by pass rate, where there are several."""
    problems: tuple[ProblemDocument, ...] = ()
    """Warnings, and files that a search passed over."""
    results: tuple[TrialResult, ...]


def document(
    view: RunView, decision: Decision, written: Mapping[str, Path], sandbox: str, problems: Iterable[Problem]
) -> dict[str, object]:
    """The run as one JSON document."""
    return {
        "schema_version": "1.0",
        "exit_code": int(decision.exit_code),
        "verdict": decision.verdict,
        "notices": list(decision.notices),
        "sandbox": sandbox,
        "run": view.run.model_dump(mode="json"),
        "plan": view.head.model_dump(mode="json"),
        "summary": view.summary.model_dump(mode="json"),
        "reports": {name: str(path) for name, path in written.items()},
        "rankings": [ranking.model_dump(mode="json") for ranking in rankings(view)],
        "problems": [problem_document(problem) for problem in problems],
        "results": Rows(
            lambda: (json.loads(result.model_dump_json(exclude_defaults=True)) for result in view.results()),
            some=view.summary.counts.total > 0,
        ),
    }


def human_lines(view: RunView, width: int | None = None, target: str | None = None) -> Iterator[str]:
    """For people at a terminal: gates and changes, the skills side by side if there are several, and the groups.

    Each group has its pass rate and figures, and below it, indented, what must be known of them. Of the tags only those
    are named in which something did not pass, the weakest first and at most three: reports have all of them. A single
    tag, or a group without any result, says nothing that the group's line does not. The groups of many skills are
    folded into the table; of one target they are shown.

    Args:
        view: the run.
        width: columns of the terminal; `None` for as many as it takes.
        target: the only target whose groups are shown; `None` stands for all.
    """
    begins = opening(view)
    yield from _shown(begins.gates)
    if begins.skills and target is None:
        yield from catalogue_lines(begins.skills, width)
    yield from _shown(begins.changes)
    if target is not None or not _is_folded(view, begins):
        yield from _group_lines([group for group in view.summary.groups if target in (None, group.target_id)])
    yield from _run_lines(view, begins)


def _shown(lines: Iterable[str]) -> list[str]:
    return [plain(line, _SENTENCE) for line in lines]


def _is_folded(view: RunView, begins: Opening) -> bool:
    """Tell whether the groups are those of many skills, of which the table says enough."""
    return begins.skills is not None and len(view.summary.groups) > FOLDED


_ROWS = 15
"""Skills that a terminal lists."""


def catalogue_lines(skills: Catalogue, width: int | None) -> Iterator[str]:
    """Yield all skills in one line, those that hurt, and a table of the worst ones.

    Args:
        skills: the skills.
        width: columns of the terminal; columns of the table that matter less are left out where it is narrow.
    """
    yield from summary_lines(skills)
    heads, rows = table_of(skills, _ROWS)
    kept = _fitting_columns(heads, rows, width)
    lines = ([cells[at] for at in kept] for cells in (heads, *rows))
    yield from table_lines(*_split(lines), None)
    if len(skills.rows) > _ROWS:
        yield f"and {len(skills.rows) - _ROWS:,} more; reports have all of them"


def _split(lines: Iterator[list[str]]) -> tuple[list[str], list[list[str]]]:
    heads, *rows = lines
    return heads, rows


def _fitting_columns(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Return the places of the columns that fit beside one another, the less important ones left out."""
    kept = list(range(len(heads)))
    if width is None:
        return kept
    sizes = [max(map(columns, cells)) for cells in zip(heads, *rows, strict=True)]
    for name in _LESS_IMPORTANT:
        if sum(sizes[at] for at in kept) + len(GAP) * (len(kept) - 1) <= width:
            break
        kept = [at for at in kept if heads[at] != name]
    return kept


_LESS_IMPORTANT = (HEADS[3], "Cost", "Fires as it should", BAR_HEAD, "Flaky", "Without", "With", "Change")
"""Columns of a catalogue in the order in which a narrow terminal does without them."""


def _group_lines(groups: Sequence[GroupSummary]) -> Iterator[str]:
    for label, group in zip(labels(groups, _NAME), groups, strict=True):
        yield from _filled([f"{label} — {headline_text(group)}", _basis(group)], " ", "  ")
        yield from _figures(group)
        for note in group_notes(group):
            yield f"  {note}"
        yield from _weakest(group)
        for table in group.tables:
            yield f"  {plain(table.label, _NAME)}"
            yield from _columns(table_texts(table))


def _run_lines(view: RunView, begins: Opening) -> Iterator[str]:
    """Yield what is said of the run as a whole: its sources, several answers, and engines side by side."""
    yield from run_notes(view)
    if begins.skills is None and len(answers := _shown(sentences(view))) > 1:  # a single one is the verdict
        yield from answers
    if not _is_folded(view, begins):
        yield from _ranking_lines(view)


def _ranking_lines(view: RunView) -> Iterator[str]:
    for ranking in rankings(view):
        yield plain(ranking.headline, _SENTENCE)
        for place, name, value, behind in ranking.rows:
            yield f"  {place:<4} {name}  {value}; behind the first: {behind}"


def _figures(group: GroupSummary) -> Iterator[str]:
    """The numbers of the format; those of a part of the trials, called `name:part`, on a line of the part's own."""
    measured = [figure for figure in group.figures if figure.value is not None]
    is_told = all(figure.n is not None or figure.interval is not None for figure in measured)
    heads = {"": said_if(not is_told, f"over {counted(group.counts.total, 'trial')}: ")}
    parts: dict[str, list[str]] = {}
    for figure in measured:
        if not figure.is_headline:
            part = figure.name.partition(":")[2]
            label = figure.label.removesuffix(said_if(part, f" ({part})"))
            heads.setdefault(part, f"{plain(part, _NAME)}: ")
            parts.setdefault(part, []).append(f"{plain(label, _NAME)}: {figure_text(figure)}")
    for part, figures in sorted(parts.items(), key=lambda item: item[0] != ""):
        yield from _filled([f"  {heads[part]}{figures[0]}", *figures[1:]], " | ")


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Cells below one another: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        yield "    " + "  ".join([first.ljust(widths[0]), *cells])


def rate_words(measured: TagSummary) -> str:
    """A pass rate alone."""
    rate = measured.pass_rate.rate
    if rate is None:
        return "no result"
    return f"pass rate {percent(rate)}"


def _basis(measured: GroupSummary | TagSummary) -> str:
    """Return what makes a rate credible: number of cases, errors, interval; reports name its method, too."""
    rate, errors = measured.pass_rate, counted(measured.counts.errors, "error")
    if isinstance(measured, GroupSummary):
        rate = headline(measured).interval or rate
    if rate.rate is None:
        return f"({errors})"
    has_interval = rate.lower is not None and rate.upper is not None
    interval = said_if(has_interval, f", {rate.level:.0%} interval {interval_text(rate)}")
    return f"(n = {counted(rate.n, 'case')}, {errors}{interval})"


def _weakest(group: GroupSummary) -> Iterator[str]:
    weak = _weakest_first(group.tags)
    if not weak or len(group.tags) == 1 or group.pass_rate.rate is None:
        return
    named = [f"{plain(tag.tag, _NAME)}: {rate_words(tag)} {_basis(tag)}" for tag in weak[:_TAGS]]
    more = said_if(len(weak) > _TAGS, f"and {len(weak) - _TAGS} more")
    yield from _filled([f"  weakest tags: {named[0]}", *filter(None, (*named[1:], more))], "; ", "    ")


def _weakest_first(tags: Sequence[TagSummary]) -> list[TagSummary]:
    """Tags in which something did not pass: by rate, of equal ones those of more cases first, unknown ones last."""
    weak = [tag for tag in tags if tag.pass_rate.rate != 1.0]
    return sorted(weak, key=lambda tag: (tag.pass_rate.rate is None, tag.pass_rate.rate or 0.0, -tag.pass_rate.n))


def _filled(parts: Sequence[str], separator: str, indent: str = "    ") -> Iterator[str]:
    """Parts in as few lines as a terminal needs; none is broken."""
    line, width = parts[0], WIDTH - len(separator.rstrip())
    for part in parts[1:]:
        if len(line) + len(separator) + len(part) <= width:
            line += separator + part
        else:
            yield line + separator.rstrip()
            line = indent + part
    yield line
