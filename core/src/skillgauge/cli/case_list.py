"""`eval --list`: the selected cases, each with its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillgauge_documents.characters import plain
from skillgauge_documents.frozen import Frozen
from skillgauge_documents.phrases import counted

from ..errors import EmptySelection, ExitCode, Problem
from ..evaluation.invocation import Invocation
from ..evaluation.problem_documents import ProblemDocument, problem_documents
from ..evaluation.selection import lines_of, require_cases
from ..plan.options import EvalOptions
from ..plan.suites import Suites, load_suites
from ..types.plan import Selection, applies
from ..types.suite import Suite, Target

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

    @property
    def place(self) -> str:
        """File and line, as far as they are known."""
        return ":".join(str(part) for part in (self.file, self.line) if part)


class CaseList(Frozen):
    """The document of `eval --list --json`."""

    schema_version: str = "1.0"
    cases: tuple[ListedCase, ...]
    problems: tuple[ProblemDocument, ...] = ()
    """Warnings, and files that a search passed over."""


def list_cases(call: Invocation, options: EvalOptions, words: Sequence[str]) -> ExitCode:
    """Print the selected cases.

    Args:
        call: the command line.
        options: what would be evaluated.
        words: those that are no paths here.

    Raises:
        SkillgaugeError: what is named cannot be read.
        EmptySelection: no case is selected.
    """
    require_cases(words, options, call.registry)
    suites = load_suites(options.what, options.cwd, call.registry)
    selected = list(_selected(suites, options.what.selection))
    problems = (*suites.warnings, *suites.passed_over)
    call.output.problems(problems)
    if not selected:
        hint = "Leave out -k, --case, --tag and --target to see all."
        raise EmptySelection(Problem("usage.nothing-selected", "the selection matches no case", hint=hint))
    document = CaseList(cases=tuple(selected), problems=problem_documents(problems))
    call.output.document(document.model_dump(mode="json"))
    rows = [
        [*(plain(text, _NAME) for text in (entry.suite, entry.case, entry.name, ", ".join(entry.tags))), entry.place]
        for entry in selected
    ]
    call.output.table(["Suite", "Case", "Name", "Tags", "Place"], rows)
    call.output.verdict(f"listed: {counted(len(selected), 'case')} of {counted(len(suites.suites), 'suite')}")
    if suites.passed_over:
        return ExitCode.USAGE
    return ExitCode.OK


def _selected(suites: Suites, selection: Selection) -> Iterator[ListedCase]:
    for suite in suites.suites:
        targets = suite.targets
        if selection.targets:
            targets = tuple(target for target in targets if target.id in selection.targets)
        if targets or not suite.targets:
            yield from _selected_of(suite, targets, selection)


def _selected_of(suite: Suite, targets: Sequence[Target], selection: Selection) -> Iterator[ListedCase]:
    """Yield the cases of one suite that fit one of its targets, or all if it has none."""
    cases = [case for case in suite.cases if selection.admits(case)]
    lines = lines_of(case.origin for case in cases)
    for case in cases:
        fitting = tuple(target.id for target in targets if applies(case, target))
        if suite.targets and not fitting:
            continue
        yield ListedCase(
            suite=suite.id,
            case=case.id,
            name=case.name,
            tags=case.tags,
            targets=fitting,
            file=case.origin.file if case.origin else None,
            line=lines.get(case.origin),
        )
