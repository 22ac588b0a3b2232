"""From a spreadsheet to a suite, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from skillgauge.api import (
    Case,
    Check,
    Claim,
    Dumped,
    Figure,
    GroupKey,
    JsonObject,
    Loaded,
    LoadRequest,
    Origin,
    Problem,
    Severity,
    Suite,
    SuiteError,
    SuiteSummary,
    Target,
    did_you_mean,
    digest,
)

from .sheet import Cell, read_sheet, written

MARK = "acme cases"
"""First cell of a sheet of ours; the program that is called stands beside it."""
HEADS = ("case", "question", "match", "answer", "tags")
"""Of the columns, in any order. Only the last may be missing."""
NEEDED = HEADS[:4]
_SCORERS = {"is": "exact", "has": "contains"}


class AcmeCases:
    """Reads and writes suites."""

    def claim(self, path: Path) -> Claim | None:
        """Look at the first words of a file; never raise."""
        try:
            if path.suffix.lower() != ".csv" or not path.is_file():
                return None
            with path.open("rb") as file:
                begin = file.read(len(MARK) + 8).removeprefix(b"\xef\xbb\xbf").lstrip(b'"')
        except (OSError, ValueError):
            return None
        return Claim(reason=f"a CSV file that begins with {MARK!r}") if begin.startswith(MARK.encode()) else None

    def load(self, request: LoadRequest) -> Loaded:
        """Read files; a bad one that was only found by searching is passed over."""
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

    def dump(self, suite: Suite) -> Dumped:
        """Write a suite, and say what is lost."""
        rows = [_row(case) for case in suite.cases]
        losses = tuple(
            Problem("suite.loss", f"case {case.id!r}: {lost}", origin=case.origin, severity=Severity.WARNING)
            for case in suite.cases
            for lost in _lost(case)
        )
        program = suite.targets[0].entrypoint if suite.targets else None
        return Dumped(((f"{suite.id}.csv", written([[MARK, program or ""], HEADS, *rows])),), losses)

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """Give numbers of the format's own arithmetic; it has none."""
        return {}


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
    if match.text and match.text not in _SCORERS:
        hint = "Write `is` for the whole answer, or `has` for a part of it."
        yield Problem("acme.match", f"an answer matches by is or has, not by {match.text!r}", match.origin, hint=hint)


def _case(row: list[Cell], places: Mapping[str, int]) -> Case:
    name, question, match, answer, tags = (_cell(row, places, head) for head in HEADS)
    check = _check(match.text, answer.text).model_copy(update={"origin": answer.origin})
    return Case(
        id=name.text,
        input={"question": question.text},
        checks=(check,),
        tags=tuple(tags.text.split()),
        origin=name.origin,
    )


def _check(match: str, answer: str) -> Check:
    options: JsonObject = {"value": answer} if match == "is" else {"keywords": (answer,)}
    return Check(id=match, scorer=_SCORERS[match], options=options)


def _row(case: Case) -> tuple[str, ...]:
    """What is written of a case, whoever made it."""
    question = case.input.get("question") if isinstance(case.input, Mapping) else None
    check = next(iter(case.checks), Check(id="is", scorer="exact"))
    match = "has" if check.scorer == "contains" else "is"
    keywords = check.options.get("keywords")
    answer = check.options.get("value") if match == "is" else keywords[0] if isinstance(keywords, tuple) else None
    texts = (value if isinstance(value, str) else "" for value in (question, answer))
    return case.id, next(texts), match, next(texts), " ".join(case.tags)


def _lost(case: Case) -> Iterator[str]:
    """What is not read back as it is: one field after another, so that nobody has to guess."""
    name, question, match, answer, tags = _row(case)
    again = Case(id=name, input={"question": question}, checks=(_check(match, answer),), tags=tuple(tags.split()))
    if not question or not answer:
        yield "a sheet needs a question and an answer, both texts"
    for field in type(case).model_fields:
        if field == "checks":
            checks = tuple(check.model_copy(update={"origin": None}) for check in case.checks)
            if checks != again.checks:
                yield "of its checks a sheet can say one, whole answer or part of it, without options"
        elif field != "origin" and getattr(case, field) != getattr(again, field):
            yield f"{field} is not kept as it is"
