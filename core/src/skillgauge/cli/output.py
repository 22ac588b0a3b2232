"""What goes where: reports and data to stdout, everything about the run to stderr, one document with `--json`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..errors import ExitCode, Problem, Severity
from ..report.characters import json_text


class Rows(list[object]):
    """A list in a document whose items are made while it is written, so that it is never in memory as a whole.

    Args:
        make: makes the items anew.
        some: whether there will be any.
    """

    def __init__(self, make: Callable[[], Iterable[object]], *, some: bool) -> None:
        super().__init__()
        self._make, self._some = make, some

    def __iter__(self) -> Iterator[object]:
        return iter(self._make())

    def __bool__(self) -> bool:
        return self._some


class Output:
    """Prints for people, or one JSON document.

    Args:
        as_json: print JSON and nothing else on stdout.
        quiet: print no notices, and of what became of a run the verdict only.
    """

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self.as_json = as_json
        self.quiet = quiet

    def line(self, text: str = "") -> None:
        """A line of a human report; nothing with `--json`."""
        if not self.as_json:
            sys.stdout.write(f"{text}\n")

    def report(self, lines: Iterable[str]) -> None:
        """What a run has come to, above its verdict; nothing with `--json` or `--quiet`."""
        for line in () if self.as_json or self.quiet else lines:
            self.line(line)

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A table for people; nothing with `--json`."""
        lines = [list(heads), *(list(row) for row in rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
        for line in lines:
            self.line("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())

    def document(self, value: object) -> None:
        """The one JSON document; nothing without `--json`."""
        if self.as_json:
            self.whole(value)

    def whole(self, value: object) -> None:
        """A JSON document that is all of what goes to stdout."""
        tokens = json.JSONEncoder(indent=2, ensure_ascii=False, allow_nan=False).iterencode(value)
        sys.stdout.writelines(map(json_text, tokens))
        sys.stdout.write("\n")

    def notice(self, text: str) -> None:
        """Something the user should know, on stderr."""
        if not self.quiet:
            sys.stderr.write(f"{text}\n")

    def verdict(self, text: str) -> None:
        """The last line on stderr."""
        sys.stdout.flush()
        sys.stderr.write(f"{text}\n")

    def problems(self, problems: Iterable[Problem]) -> None:
        """Problems that do not end the command, on stderr."""
        for problem in with_places(problems):
            if problem.severity is Severity.ERROR or not self.quiet:
                sys.stderr.write(f"{problem}\n")


def print_problems(problems: Iterable[Problem], exit_code: ExitCode, *, as_json: bool) -> None:
    """Say what ended the command: on stderr, or as the one JSON document on stdout."""
    placed = with_places(problems)
    if as_json:
        document = {"exit_code": int(exit_code), "problems": [problem_document(problem) for problem in placed]}
        sys.stdout.write(json_text(json.dumps(document, indent=2, ensure_ascii=False)) + "\n")
        return
    for problem in placed:
        sys.stderr.write(f"{problem}\n")


def with_places(problems: Iterable[Problem]) -> list[Problem]:
    """The problems, those of files with line and column."""
    problems = list(problems)
    if not any(problem.origin and not problem.span for problem in problems):
        return problems
    from ..reading.documents import located_all  # noqa: PLC0415 - only problems of files need it

    return list(located_all(problems))


def problem_document(problem: Problem) -> dict[str, object]:
    """A problem as JSON."""
    span = problem.span
    return {
        "code": problem.code,
        "severity": str(problem.severity),
        "message": problem.message,
        "file": span.file if span else problem.origin.file if problem.origin else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "hint": problem.hint,
    }
