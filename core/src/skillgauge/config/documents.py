"""From a path to a frozen value, and from an origin to a line and column, when a problem is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from skillgauge_documents import DocumentError, Fault, JsonValue, Kind, Pointer, Step, parse, places, read

from ..errors import Origin, Problem, SourceSpan, SuiteError


@dataclass(frozen=True, slots=True)
class Document:
    """Content of a source file."""

    value: JsonValue
    """Immutable."""
    file: str
    """Path as the user gave it."""

    def origin(self, *pointer: Step) -> Origin:
        """The place of a value, by the keys and indices that lead to it."""
        return Origin(self.file, pointer)


def read_document(path: Path, *, kind: Kind | None = None, max_bytes: int | None = None) -> Document:
    """Read a file that holds one JSON or YAML document.

    Args:
        path: the file; problems name it as it is written here.
        kind: its syntax; by default YAML for the endings `.yaml` and `.yml`, else JSON.
        max_bytes: largest size accepted; by default 64 MiB.

    Raises:
        SuiteError: with `document.*` problems whose `span` is known.
    """
    return _document(str(path), partial(read, path, kind=kind, max_bytes=max_bytes))


def parse_document(text: str, *, file: str, kind: Kind) -> Document:
    """As `read_document`, from text that stands at the beginning of `file`."""
    return _document(file, partial(parse, text, kind))


def _document(file: str, read_it: Callable[[], JsonValue]) -> Document:
    try:
        return Document(read_it(), file)
    except DocumentError as error:
        raise SuiteError(document_problem(fault, file) for fault in error.faults) from error


def document_problem(fault: Fault, file: str) -> Problem:
    """Return a fault of a document as a problem at its place."""
    span = SourceSpan(file, fault.line, fault.column)
    return Problem(f"document.{fault.code}", fault.message, span=span, hint=fault.hint)


def locate(origin: Origin) -> SourceSpan:
    """Return the place of a value in its file: a member stands at its key, a list item at its beginning.

    A pointer to something absent gives the deepest container on the way to it. A file that cannot be read any
    more, or no longer has a structure, gives its name alone.
    """
    place = origin.place or places(Path(origin.file), {origin.pointer})[origin.pointer]
    return SourceSpan(origin.file, *(place or ()))


def located_all(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems with their spans filled; each file is scanned once."""
    problems = tuple(problems)
    origins = [problem.origin for problem in problems if problem.origin and not problem.span]
    pointers: dict[str, set[Pointer]] = {}
    for origin in origins:
        if not origin.place:
            pointers.setdefault(origin.file, set()).add(origin.pointer)
    places_of = {file: places(Path(file), wanted) for file, wanted in pointers.items()}

    def located(problem: Problem) -> Problem:
        origin = problem.origin
        if origin is None or problem.span:
            return problem
        place = origin.place or places_of[origin.file][origin.pointer]
        return problem.at(SourceSpan(origin.file, *(place or ())))

    return tuple(map(located, problems))
