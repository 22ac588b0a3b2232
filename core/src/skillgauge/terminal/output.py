"""The two streams: reports and data go to stdout, everything about the run to stderr, one document with `--json`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from skillgauge_documents.characters import json_text

from ..errors import ExitCode, Problem, Severity
from .streams import GREEN, RED, YELLOW, write_in
from .tables import columns, table_lines, wrap
from .terminal import width_of

# Patterns are compiled when they are first used, since this module is part of every start.
_LABEL = r"((?:error|warning)\[[^\]]*\])"
_WHOLE = r"`[^`]*`|(?<=: )(?:skillgauge|pip|npm|cd) .*?(?= \(|$)"
"""What is there to be copied: a terminal breaks it, we do not, so that it is copied as one line."""
_COLORS = {"PASS": GREEN, "FAIL": RED, "ERROR": YELLOW, "SKIP": "", "did not pass": RED}
_VERDICT_COLORS: dict[int | None, str] = {None: "", ExitCode.OK: GREEN}
"""By exit code; all others are red."""
_LABEL_COLORS = {Severity.ERROR: RED, Severity.WARNING: YELLOW}
_SAYS = rf" *(?:{'|'.join(_COLORS)})\b"
"""Words at the beginning of a report's line that have a colour."""


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
        """Print the results of a run, above its verdict; nothing with `--json` or `--quiet`."""
        if self.as_json or self.quiet:
            return
        width = width_of(sys.stdout)
        for line in lines:
            for part in _fitting(line, width):
                _write_colored(part)

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A table for people; nothing with `--json`."""
        if not self.as_json:
            for line in table_lines(heads, list(rows), width_of(sys.stdout)):
                self.line(line)

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
            sys.stderr.write(f"{_told(text)}\n")

    def verdict(self, text: str, code: int | None = None) -> None:
        """The last line on stderr, green or red if the exit code is told; broken at words on a terminal only.

        A program that reads the last line gets all of it, however wide `COLUMNS` says that lines are.
        """
        width = width_of(sys.stderr) if sys.stderr.isatty() else None
        write_in(sys.stderr, _VERDICT_COLORS.get(code, RED), "\n".join(_fitting(text, width)))
        sys.stderr.write("\n")

    def problems(self, problems: Iterable[Problem], *, together: bool = False) -> None:
        """Problems that do not end the command, on stderr; of many alike the first ones and their number.

        Args:
            problems: what to print.
            together: whether a warning that several files have alike is one line, with their places.
        """
        shown = (problem for problem in problems if problem.severity is Severity.ERROR or not self.quiet)
        _print_problems(shown, together=together)


def print_problems(problems: Iterable[Problem], exit_code: ExitCode, *, as_json: bool) -> None:
    """Say what ended the command, each problem once and errors last: on stderr, or as one JSON document on stdout."""
    if as_json:
        placed = tuple(dict.fromkeys(with_places(problems)))
        document = {"exit_code": int(exit_code), "problems": [problem_document(problem) for problem in placed]}
        sys.stdout.write(json_text(json.dumps(document, indent=2, ensure_ascii=False)) + "\n")
        return
    unique = dict.fromkeys(problems)
    _print_problems(problem for problem in unique if problem.severity is not Severity.ERROR)
    _print_problems(problem for problem in unique if problem.severity is Severity.ERROR)


_ALIKE = 20
"""Problems of one code in one file that are printed; documents for programs have all."""
_PLACES = 5
"""Places of further warnings that say the same."""


def _print_problems(problems: Iterable[Problem], *, together: bool = False) -> None:
    """Print the first problems of each code in each file, and how many more there are."""
    alike: dict[tuple[Severity, str, str], list[Problem]] = {}
    for problem in problems:
        alike.setdefault((problem.severity, problem.code, _file_of(problem)), []).append(problem)
    shown = (problem for of_kind in alike.values() for problem in of_kind[:_ALIKE])
    for problem, places in _merged(with_places(shown), together=together):
        _print_problem(problem)
        if places:
            _print_further_places(places)
    for (severity, code, file), of_kind in alike.items():
        if len(of_kind) > _ALIKE:
            place = f" in {file}" if file else ""
            sys.stderr.write(_told(f"{severity}[{code}]: {len(of_kind) - _ALIKE:,} more{place}; --json has all\n"))


def _print_further_places(places: Sequence[str]) -> None:
    also = ", ".join(places[:_PLACES])
    if len(places) > _PLACES:
        also = f"{also} and {len(places) - _PLACES:,} more; --json has all"
    sys.stderr.write(f"{_told(f'  also: {also}')}\n")


def _merged(problems: Iterable[Problem], *, together: bool) -> Iterator[tuple[Problem, list[str]]]:
    """Yield the problems, those that are told together as their first one, with the places of the others."""
    alike: dict[object, list[Problem]] = {}
    for number, problem in enumerate(problems):
        key: object = number
        if together and problem.severity is Severity.WARNING and problem.span:
            key = problem.code, problem.message, problem.hint
        alike.setdefault(key, []).append(problem)
    for first, *others in alike.values():
        yield first, [str(problem.span) for problem in others]


def _file_of(problem: Problem) -> str:
    place = problem.span or problem.origin
    if place is None:
        return ""
    return place.file


def _print_problem(problem: Problem) -> None:
    before, label, after = re.split(_LABEL, _told(str(problem)), maxsplit=1)
    sys.stderr.write(before)
    write_in(sys.stderr, _LABEL_COLORS[problem.severity], label)
    sys.stderr.write(f"{after}\n")


def _told(text: str) -> str:
    """A problem or notice in as many lines as a terminal needs; places and commands stay whole."""
    width = width_of(sys.stderr)
    if width is None:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        kept = line.lstrip(" ")
        indent = " " * min(len(line) - len(kept), width // 2)
        joined = re.sub(_WHOLE, lambda found: found[0].replace(" ", "\0"), kept)
        first, *more = wrap(joined, width - len(indent) - 2, whole=True) if columns(line) > width else [kept]
        lines += [indent + first, *(f"{indent}  {one}" for one in more)]
    return "\n".join(lines).replace("\0", " ")


def _write_colored(line: str) -> None:
    """Write a line of a report to stdout, the word that it begins with in its color."""
    match = re.match(_SAYS, line)
    if match:
        write_in(sys.stdout, _COLORS[match[0].strip()], match[0])
        line = line[match.end() :]
    sys.stdout.write(f"{line}\n")


def _fitting(line: str, width: int | None) -> Iterator[str]:
    """A line of a report in as many as a terminal needs; a command stays whole, since it is there to be copied."""
    text = line.lstrip(" ")
    if width is None or columns(line) <= width or text.startswith("skillgauge "):
        yield line
        return
    indent = " " * min(len(line) - len(text), width // 2)
    first, *more = wrap(text, width - len(indent) - 2)
    yield indent + first
    yield from (f"{indent}  {one}" for one in more)


def with_places(problems: Iterable[Problem]) -> list[Problem]:
    """The problems, those of files with line and column."""
    problems = list(problems)
    if not any(problem.origin and not problem.span for problem in problems):
        return problems
    from ..config.documents import located_all  # noqa: PLC0415 - only problems of files need it

    return list(located_all(problems))


def problem_document(problem: Problem) -> dict[str, object]:
    """A problem as JSON."""
    file = line = column = None
    if problem.span:
        file, line, column = problem.span.file, problem.span.line, problem.span.column
    elif problem.origin:
        file = problem.origin.file
    return {
        "code": problem.code,
        "severity": str(problem.severity),
        "message": problem.message,
        "file": file,
        "line": line,
        "column": column,
        "hint": problem.hint,
    }
