"""`eval --list`: which cases there are and which of them are selected, without looking for anybody to run them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from skillgauge_documents import Pointer, places
from skillgauge_documents.characters import plain
from skillgauge_documents.frozen import Frozen
from skillgauge_documents.phrases import counted

from ..errors import EmptySelection, ExitCode, Origin, Problem
from ..plan.suites import Suites, load_suites
from ..terminal.output import problem_document
from ..types.plan import Selection, applies
from .evaluation import Asked
from .invocation import Invocation
from .named_cases import require_cases
from .plan_document import ProblemDocument

_NAME = 80
"""Characters of each part of a name that are shown."""


class ListedCase(Frozen):
    """A case that is selected."""

    suite: str
    case: str
    name: str
    """A second name of it; empty if it has none."""
    tags: tuple[str, ...]
    targets: tuple[str, ...]
    """Whom it is evaluated on."""
    file: str | None
    line: int | None


class CaseList(Frozen):
    """The document of `eval --list --json`."""

    schema_version: str = "1.0"
    cases: tuple[ListedCase, ...]
    problems: tuple[ProblemDocument, ...] = ()
    """Warnings, and files that a search passed over."""


def list_cases(call: Invocation, asked: Asked) -> ExitCode:
    """Print the selected cases.

    Raises:
        SkillgaugeError: what is named cannot be read.
        EmptySelection: no case is selected.
    """
    options = asked.options
    require_cases(asked.words, options, call.registry)
    suites = load_suites(options.what, options.cwd, call.registry)
    found = list(_selected(suites, options.what.selection))
    problems = (*suites.warnings, *suites.passed_over)
    call.output.problems(problems)
    if not found:
        hint = "Leave out -k, --case, --tag and --target to see all."
        raise EmptySelection(Problem("usage.nothing-selected", "the selection matches no case", hint=hint))
    documents = tuple(ProblemDocument.model_validate(problem_document(one)) for one in problems)
    call.output.document(CaseList(cases=tuple(found), problems=documents).model_dump(mode="json"))
    rows = [
        [
            *(plain(text, _NAME) for text in (one.suite, one.case, one.name, ", ".join(one.tags))),
            f"{one.file}:{one.line}" if one.line else one.file or "",
        ]
        for one in found
    ]
    call.output.table(["Suite", "Case", "Name", "Tags", "Place"], rows)
    call.output.verdict(f"listed: {counted(len(found), 'case')} of {counted(len(suites.suites), 'suite')}")
    return ExitCode.USAGE if suites.passed_over else ExitCode.OK


def _selected(suites: Suites, selection: Selection) -> Iterator[ListedCase]:
    for suite in suites.suites:
        chosen = [target for target in suite.targets if not selection.targets or target.id in selection.targets]
        if suite.targets and not chosen:
            continue
        found = [case for case in suite.cases if selection.admits(case)]
        lines = lines_of(case.origin for case in found)
        for case in found:
            targets = tuple(target.id for target in chosen if applies(case, target))
            if targets or not suite.targets:
                yield ListedCase(
                    suite=suite.id,
                    case=case.id,
                    name=case.name,
                    tags=case.tags,
                    targets=targets,
                    file=case.origin.file if case.origin else None,
                    line=lines.get(case.origin),
                )


def lines_of(origins: Iterable[Origin | None]) -> dict[Origin | None, int]:
    """The line of each place that has one; every file is read once."""
    wanted: dict[str, dict[Pointer, Origin]] = {}
    for origin in origins:
        if origin:
            wanted.setdefault(origin.file, {})[origin.pointer] = origin
    found = ((by_pointer, places(Path(file), set(by_pointer))) for file, by_pointer in wanted.items())
    return {by_pointer[at]: place[0] for by_pointer, all_ in found for at, place in all_.items() if place}
