"""From a spreadsheet to a suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from skillgauge.api import (
    Case,
    Check,
    JsonObject,
    Loaded,
    LoadRequest,
    Origin,
    Problem,
    Suite,
    SuiteError,
    Target,
    did_you_mean,
    digest,
)

from .claiming import MARK
from .sheet import Cell, read_sheet

HEADS = ("case", "question", "match", "answer", "tags")
"""Of the columns, in any order. Only the last may be missing."""
NEEDED = HEADS[:4]
SCORERS = {"is": "exact", "has": "contains"}
"""The scorer of each way to match."""


def load(request: LoadRequest) -> Loaded:
    """Read files; a bad one that was only found by searching is passed over.

    Raises:
        SuiteError: a named file is bad; with every problem of every file.
    """
    suites: list[Suite] = []
    bad, passed_over = list[Problem](), list[Problem]()
    for paths, problems in (request.paths, bad), (request.searched, passed_over):
        for path in paths:
            try:
                suites.append(_suite(Path(path), read_sheet(Path(path))))
            except SuiteError as error:
                problems.extend(error.problems)
    if bad:
        raise SuiteError(bad)
    return Loaded(tuple(suites), tuple(passed_over))


def _suite(path: Path, rows: list[list[Cell]]) -> Suite:
    start = Origin(str(path), place=(1, 1))
    if not rows or rows[0][0].text != MARK:
        raise SuiteError(Problem("acme.mark", f"the first cell must be {MARK!r}", origin=start))
    program = rows[0][1] if len(rows[0]) > 1 else rows[0][0]
    if program.text in ("", MARK):
        raise SuiteError(
            Problem("acme.program", f"the cell beside {MARK!r} must name a program", origin=program.origin)
        )
    if len(rows) < 3:
        raise SuiteError(Problem("acme.empty", "the sheet has no case", origin=rows[-1][0].origin))
    places = _places(rows[1])
    names: set[str] = set()
    problems = [problem for row in rows[2:] for problem in _problems(row, places, names)]
    if problems:
        raise SuiteError(problems)
    target = Target(
        id=path.stem,
        adapter="subprocess",
        entrypoint=program.text,
        root=str(path.parent),
        digest=digest(program.text),
        origin=program.origin,
    )
    content = digest([[cell.text for cell in row] for row in rows])
    return Suite(
        id=path.stem,
        format="acme-cases",
        root=str(path),
        digest=content,
        cases=tuple(_case(row, places) for row in rows[2:]),
        targets=(target,),
        origin=start,
    )


def _places(heads: list[Cell]) -> dict[str, int]:
    """Where each column is."""
    problems = [
        Problem("acme.column", f"no column is called {cell.text!r}{did_you_mean(cell.text, HEADS)}", origin=cell.origin)
        for cell in heads
        if cell.text and cell.text not in HEADS
    ]
    places = {cell.text: number for number, cell in enumerate(heads)}
    missing = [name for name in NEEDED if name not in places]
    if missing:
        problems.append(Problem("acme.column", f"no column {', '.join(missing)}", origin=heads[0].origin))
    if problems:
        raise SuiteError(problems)
    return places


def _cell(row: list[Cell], places: Mapping[str, int], name: str) -> Cell:
    """A cell of a row; one that the row is too short for is empty and stands where the row ends."""
    place = places.get(name, len(row))
    return row[place] if place < len(row) else Cell("", row[-1].origin)


def _problems(row: list[Cell], places: Mapping[str, int], names: set[str]) -> Iterator[Problem]:
    """What is wrong with a row; its name joins those of the rows before it."""
    for name in NEEDED:
        cell = _cell(row, places, name)
        if not cell.text:
            yield Problem("acme.missing", f"the case has no {name}", origin=cell.origin)
    case, match = (_cell(row, places, name) for name in ("case", "match"))
    if case.text in names:
        yield Problem("suite.duplicate-id", f"case {case.text!r} comes twice", origin=case.origin)
    names.add(case.text)
    if match.text and match.text not in SCORERS:
        hint = "Write `is` for the whole answer, or `has` for a part of it."
        yield Problem("acme.match", f"an answer matches by is or has, not by {match.text!r}", match.origin, hint=hint)


def _case(row: list[Cell], places: Mapping[str, int]) -> Case:
    name, question, match, answer, tags = (_cell(row, places, head) for head in HEADS)
    check = check_of(match.text, answer.text).model_copy(update={"origin": answer.origin})
    return Case(
        id=name.text,
        input={"question": question.text},
        checks=(check,),
        tags=tuple(tags.text.split()),
        origin=name.origin,
    )


def check_of(match: str, answer: str) -> Check:
    """Make the check that a row stands for."""
    options: JsonObject = {"value": answer} if match == "is" else {"keywords": (answer,)}
    return Check(id=match, scorer=SCORERS[match], options=options)
