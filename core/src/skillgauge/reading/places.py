"""From an origin to a line and column, when a problem is shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from ..errors import Origin, Problem, SourceSpan, SuiteError
from .documents import MAX_BYTES, read_text
from .json_text import json_nodes
from .problems import Pointer, Step, span_at
from .yaml_text import yaml_nodes

P = TypeVar("P", int, SourceSpan)


def locate(origin: Origin) -> SourceSpan:
    """Where in its file a value stands: a member at its key, a list item at its beginning.

    A pointer to something absent gives the deepest container on the way to it. A file that cannot be read any
    more, or no longer has a structure, gives its name alone.
    """
    return _spans(origin.file, {origin.pointer})[origin.pointer]


def located(problem: Problem) -> Problem:
    """The problem with its `span` filled from its `origin`, if it has one and lacks the other."""
    return located_all((problem,))[0]


def located_all(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems with their spans filled; each file is scanned once."""
    problems = tuple(problems)
    wanted: dict[str, set[Pointer]] = {}
    for problem in problems:
        if problem.origin and not problem.span:
            wanted.setdefault(problem.origin.file, set()).add(problem.origin.pointer)
    spans = {file: _spans(file, pointers) for file, pointers in wanted.items()}
    return tuple(
        problem.at(spans[problem.origin.file][problem.origin.pointer])
        if problem.origin and not problem.span
        else problem
        for problem in problems
    )


def _spans(file: str, pointers: Collection[Pointer]) -> dict[Pointer, SourceSpan]:
    path = Path(file)
    try:
        text = read_text(path, max(MAX_BYTES.values()))
    except SuiteError:
        return dict.fromkeys(pointers, SourceSpan(file))
    suffix = path.suffix.lower()
    if suffix == ".json" or (suffix not in (".yaml", ".yml") and text.lstrip()[:1] in ("{", "[")):
        offsets = _find(((depth, step, offset) for depth, step, offset, _ in json_nodes(text)), pointers)
        found = {pointer: span_at(file, text, offset) for pointer, offset in offsets.items()}
    else:
        places = _find(yaml_nodes(text), pointers)
        found = {pointer: SourceSpan(file, at.line, at.column) for pointer, at in places.items()}
    return {pointer: _deepest(pointer, found) or SourceSpan(file) for pointer in pointers}


def _find(nodes: Iterator[tuple[int, Step | None, P]], pointers: Collection[Pointer]) -> dict[Pointer, P]:
    """The places of the pointers and of everything on the way to them, as far as they exist."""
    wanted = {pointer[:length] for pointer in pointers for length in range(len(pointer) + 1)}
    found: dict[Pointer, P] = {}
    path: list[Step] = []
    for depth, step, place in nodes:
        if depth and step is not None:
            del path[depth - 1 :]
            path.append(step)
        here = tuple(path)
        if here in wanted and here not in found:
            found[here] = place
            if len(found) == len(wanted):
                break
    return found


def _deepest(pointer: Pointer, found: dict[Pointer, SourceSpan]) -> SourceSpan | None:
    return next((found[pointer[:n]] for n in range(len(pointer), -1, -1) if pointer[:n] in found), None)
