"""Carry out a map, and say what came of it: on the terminal, as a page and as a document."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, assert_never

from skillgauge.api import ExitCode, Problem, UsageError
from skillgauge.api.report import RunState, counted, percent, stamp
from skillgauge.api.run import Evaluation, Invocation, problem_documents, write_whole
from skillgauge_skill_maps import NAME, AlikePair, MapDocument, MapPlanDocument, PlannedSessions
from skillgauge_skill_maps.model import PROVEN, Action, Relation, SkillRow
from skillgauge_skill_maps.page import render
from skillgauge_skill_maps.wording import action_text, cost_text, pair_sentence, queries_text, sentences, verdict_of

from .advice import skill_rows
from .catalogue import read_catalogue
from .findings import ALIKE, LEVEL, pair_rows
from .mapping import MapMaker, Mapped

_SKILLS = 20
"""Skills that the terminal lists; the page and the document have all."""
_PAIRS = 8


async def make_map(call: Invocation, values: Mapping[str, Any]) -> int:
    """Make a map of the skills that a command line names, and print it.

    Raises:
        SkillgaugeError: something is wrong with what was asked for; nothing has run.
    """
    catalogue = read_catalogue(call, values["paths"])
    maker = MapMaker(call, values, catalogue, values["leave_out"])
    call.listener.problems(catalogue.warnings)
    evaluation = await maker.prepare()
    planned = maker.planned(evaluation)
    if values["dry_run"]:
        return _print_plan(maker, evaluation, planned)
    call.output.notice(f"[1/2] {_planned_text(planned)}")
    mapped = await maker.carry_out(evaluation)
    return await asyncio.to_thread(_conclude, call, mapped)


def _planned_text(planned: PlannedSessions) -> str:
    queries = queries_text(planned.queries)
    text = f"{counted(planned.skills, 'skill')} and {queries}: {counted(planned.screening, 'session')}"
    if planned.leave_one_out:
        return f"{text}, then at most {planned.leave_one_out:,} more to leave suspects out"
    return text


def _agent(evaluation: Evaluation) -> tuple[str, str | None]:
    head = evaluation.prepared.plan.head
    return (head.runners[0].name if head.runners else "none"), (head.models[0] if head.models else None)


def _print_plan(maker: MapMaker, evaluation: Evaluation, planned: PlannedSessions) -> ExitCode:
    call, catalogue = maker.call, maker.catalogue
    prepared = evaluation.prepared
    engine, model = _agent(evaluation)
    is_paid = any(cell.paid for suite in prepared.plan.suites for cell in suite.cells)
    alike = maker.likeness.pairs(ALIKE)
    code = ExitCode.USAGE if prepared.suites.passed_over else ExitCode.OK
    verdict = f"would run {_planned_text(planned)}"
    problems = (*catalogue.warnings, *prepared.warnings, *prepared.suites.passed_over)
    document = MapPlanDocument(
        exit_code=code,
        verdict=verdict,
        engine=engine,
        model=model,
        paid=is_paid,
        sessions=planned,
        description_tokens=sum(member.tokens for member in catalogue.members),
        alike=tuple(AlikePair(first=one, second=two, likeness=round(share, 4)) for one, two, share in alike),
        problems=problem_documents(problems),
    )
    call.output.document(document.model_dump(mode="json"))
    agent = f"{engine} {model}" if model else engine
    price = "each session costs money; --max-cost bounds all of them" if is_paid else "sessions cost nothing"
    call.output.line(f"{agent}: {price}")
    call.output.line(f"descriptions: about {document.description_tokens:,} tokens of every session")
    for pair in document.alike[:_PAIRS]:
        call.output.line(f"alike: {pair.first} and {pair.second}, {percent(pair.likeness)}")
    if len(document.alike) > _PAIRS:
        call.output.line(f"and {len(document.alike) - _PAIRS} pairs more that are alike")
    call.output.verdict(verdict, code)
    return code


def _conclude(call: Invocation, mapped: Mapped) -> ExitCode:
    document = _document(mapped)
    folder = call.cwd / call.config.get("outputDir")
    reports = {kind: str(_place(folder, document, kind)) for kind in ("html", "json")}
    document = document.model_copy(update={"reports": reports})
    contents = {"html": render(document), "json": document.model_dump_json(indent=2) + "\n"}
    failed: tuple[Problem, ...] = ()
    try:
        for kind, content in contents.items():
            data = content.encode("utf-8", "replace")
            write_whole(Path(reports[kind]), [data])
            write_whole(folder / f"{NAME}.{kind}", [data])
    except UsageError as error:
        failed = error.problems
        code = ExitCode(document.exit_code or ExitCode.USAGE)
        document = document.model_copy(update={"exit_code": code, "reports": {}})
    call.listener.problems(failed)
    call.output.document(document.model_dump(mode="json"))
    call.output.report(_human_lines(document))
    if not call.output.quiet:
        call.output.table(*_table(document))
    call.output.report(_after_table(document))
    for notice in document.notices:
        call.output.notice(notice)
    call.output.verdict(document.verdict, document.exit_code)
    return ExitCode(document.exit_code)


def _place(folder: Path, document: MapDocument, kind: str) -> Path:
    return folder / f"{NAME}-{stamp(document.started_at)}.{kind}"


def _document(mapped: Mapped) -> MapDocument:
    screening = mapped.screening.answers
    again = mapped.again.answers if mapped.again else None
    is_whole = mapped.state is RunState.FINISHED
    tested = mapped.tested if again else ()
    pairs = pair_rows(mapped.screened, again.sessions if again else (), tested)
    skills = skill_rows(mapped.catalogue.members, mapped.screened, pairs)
    engine, model = _agent(mapped.first)
    code, verdict = _verdict(mapped, verdict_of(skills, pairs), is_whole=is_whole)
    order = [member.name for member in mapped.catalogue.members]
    parts = [mapped.screening] + ([mapped.again] if mapped.again else [])
    prepared = mapped.first.prepared
    return MapDocument(
        exit_code=code,
        verdict=verdict,
        state=_state(mapped.state),
        started_at=mapped.screening.info.started_at,
        engine=engine,
        model=model,
        runs=tuple(part.info.run_id for part in parts),
        sessions=mapped.sessions,
        unknown=sum(part.answers.unknown for part in parts),
        tokens=sum(part.answers.tokens for part in parts),
        cost_usd=sum(part.answers.cost_usd for part in parts),
        description_tokens=sum(member.tokens for member in mapped.catalogue.members),
        level=round(LEVEL, 6),
        tested=len(tested),
        skills=skills,
        pairs=pairs,
        matrix=mapped.screened.matrix(order),
        queries=mapped.screening.queries,
        notices=(*mapped.notices, *_unknown_notice(screening.unknown, len(screening.sessions))),
        problems=problem_documents((*mapped.catalogue.warnings, *prepared.warnings, *prepared.suites.passed_over)),
    )


def _unknown_notice(unknown: int, reporting: int) -> Iterator[str]:
    if unknown:
        total = counted(unknown + reporting, "session")
        yield f"{unknown} of {total} of the first part tell nothing; `skillgauge report show RUN` has the reasons"


def _state(state: RunState) -> Literal["finished", "stopped", "interrupted"]:
    match state:
        case RunState.FINISHED:
            return "finished"
        case RunState.STOPPED:
            return "stopped"
        case RunState.INTERRUPTED | RunState.RUNNING:
            return "interrupted"
        case _:
            assert_never(state)


_MOST_UNKNOWN = 0.25
"""Share of sessions that may tell nothing before a map proves nothing, as for every comparison."""


def _verdict(mapped: Mapped, answer: str, *, is_whole: bool) -> tuple[ExitCode, str]:
    """The worst news first: a map that was stopped decides nothing more, and one without sessions nothing at all."""
    if not is_whole:
        part = "second" if mapped.again or mapped.out_of_budget else "first"
        is_kept = mapped.first.prepared.job.store.durable
        goes_on = "the same command goes on with it" if is_kept else "without a store the same command starts over"
        if mapped.state is RunState.STOPPED:
            return ExitCode.BUDGET, f"stopped by a budget in the {part} part, {goes_on}; so far {answer}"
        return ExitCode.INTERRUPTED, f"interrupted in the {part} part, {goes_on}; so far {answer}"
    parts = [part.answers for part in (mapped.screening, mapped.again) if part]
    for answers in parts:
        total = answers.unknown + len(answers.sessions)
        if answers.unknown > _MOST_UNKNOWN * total:
            reason = f"{answers.unknown} of {counted(total, 'session')} ended in an error or do not tell what fired"
            return ExitCode.INVALID_RUN, f"invalid map: {reason}; {answer}"
    if mapped.first.prepared.suites.passed_over:
        return ExitCode.USAGE, f"some files or cases could not be read; of the others {answer}"
    return ExitCode.OK, answer


def _human_lines(document: MapDocument) -> Iterator[str]:
    agent = f"{document.engine} {document.model}" if document.model else document.engine
    first, *more = sentences(document)
    yield first
    yield ""
    for line in (*more, f"agent: {agent}"):
        yield f"  {line}"
    yield ""


def _table(document: MapDocument) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    heads = ("Skill", "Do", "Own queries", "Others fired", "For others", "Tokens")
    return heads, [_cells(row) for row in document.skills[:_SKILLS]]


def _cells(row: SkillRow) -> tuple[str, ...]:
    own = "unknown"
    if row.own:
        own = f"{row.own.fired} of {row.own.sessions} ({row.own.lower:.0%} to {row.own.upper:.0%})"
    return row.name, action_text(row), own, str(row.others_fired), str(row.for_others), cost_text(row)


def _after_table(document: MapDocument) -> Iterator[str]:
    rest = document.skills[_SKILLS:]
    if rest:
        unchanged = sum(row.action is Action.KEEP for row in rest)
        yield f"and {counted(len(rest), 'skill')} more, {unchanged} of them to keep; the page has all"
    worth = [pair for pair in document.pairs if pair.relation in (*PROVEN, Relation.UNDECIDED, Relation.SUPPORTS)]
    if worth:
        yield ""
    for pair in worth[:_PAIRS]:
        yield f"{pair.skill} {_relation(pair.relation)} {pair.query_of}: {pair_sentence(pair)}"
    if len(worth) > _PAIRS:
        yield f"and {counted(len(worth) - _PAIRS, 'pair')} more; the page has all"
    yield ""
    for kind, path in document.reports.items():
        yield f"{kind} report: {path}"


def _relation(relation: Relation) -> str:
    return "may shadow" if relation is Relation.UNDECIDED else str(relation)
