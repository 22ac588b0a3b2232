"""The files that belong to a skill's suites, and their contents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from skillgauge.api import (
    JsonValue,
    Origin,
    Problem,
    SourceSpan,
    SuiteError,
    freeze,
    locate,
    parse_document,
    read_document,
)
from skillgauge_documents.immutables import immutable
from skillgauge_skill_folders import DRAFTS_FILE, SKILL_FILE

from .shapes import Foreign, Shape, evals_in, list_key, shape_of
from .trigger_shapes import LISTS

EVALS_FOLDER = "evals"
EVALS_NAMES = ("evals.json", "evals.jsonl", "evals.yaml", "evals.yml")
_SUFFIXES = (".json", ".jsonl", ".yaml", ".yml")
_YAML = (".yaml", ".yml")
_EVAL_YAML = (".eval.yaml", ".eval.yml")
_MARKS = (
    b"evals",
    b"trigger",
    b"should_fire",
    b"should_activate",
    b"question",
    b"assertions",
    b"expectations",
    b"expected_output",
    b"testCases",
)
_YAML_MARKS = (*_MARKS, b"cases", b"tasks", b"stimuli", b"tests")
_SUITE_WORDS = re.compile(r"(^|[._-])(evals?|trigger|triggers|queries)([._-]|$)")
_RESULTS = re.compile(r"(^|[._-])(results?|reports?|benchmark|grading|timing|feedback|history|metadata)([._-]|$)")
"""Words of names of what an evaluation writes."""
_MAX_BYTES = 64 * 1024 * 1024
"""As of any other document."""


@immutable
class Source:
    """A file with a suite, or with what another tool calls one."""

    path: Path
    value: JsonValue
    shape: Shape | Foreign
    lines: tuple[int, ...] = ()
    """Lines of the items of a `.jsonl` file."""

    def origin(self, *pointer: str | int) -> Origin:
        """The place of a value."""
        return Origin(str(self.path), pointer)

    def placed(self, problem: Problem) -> Problem:
        """The problem with its line, where only this file knows it."""
        if not self.lines or problem.span or problem.origin is None or problem.origin.file != str(self.path):
            return problem
        at = problem.origin.pointer[0] if problem.origin.pointer else 0
        line = self.lines[at] if isinstance(at, int) and at < len(self.lines) else 1
        return replace(problem, span=SourceSpan(str(self.path), line))


def parts_of(source: Source) -> tuple[Source, ...]:
    """A source, or the two that a document with a list of queries and a list of evals stands for."""
    value = source.value
    if source.shape is not Shape.TRIGGERS or not isinstance(value, Mapping):
        return (source,)
    key = list_key(value)
    if key in LISTS or not evals_in(value.get(key)):
        return (source,)
    evals = {name: one for name, one in value.items() if name in (key, "skill_name", "skill_path")}
    queries = {name: one for name, one in value.items() if name != key}
    return (replace(source, shape=Shape.CASES, value=freeze(evals)), replace(source, value=freeze(queries)))


def unread_of(folder: Path) -> Iterator[Path]:
    """Files of a skill that by their name or place could be suites, whatever is in them."""
    for place in (folder / EVALS_FOLDER, folder):
        try:
            inner = sorted(place.iterdir())
        except OSError:
            continue
        yield from (path for path in inner if path.is_file() and _is_named_like_suite(path, place != folder))


def _is_named_like_suite(path: Path, in_evals: bool) -> bool:
    name = path.name.lower()
    if _RESULTS.search(name) or name == Path(DRAFTS_FILE).name:
        return False
    if path.suffix in _SUFFIXES and (in_evals or _SUITE_WORDS.search(name)):
        return not name.endswith(".schema.json")
    return name == "eval.md" and in_evals


def document_of(path: Path) -> JsonValue:
    """Return the content of a file that has no shape. Raises `SuiteError` where it cannot be read."""
    return _json_lines(path)[0] if path.suffix == ".jsonl" else read_document(path).value


def read_source(path: Path) -> Source | None:
    """Read a file and find out what it is; `None` if it is no suite.

    Raises:
        SuiteError: it cannot be read.
    """
    if path.suffix == ".jsonl":
        values, lines = _json_lines(path)
        shape = shape_of(values)
        return None if shape is None else Source(path, values, shape, lines)
    value = read_document(path).value
    shape = shape_of(value, is_yaml=path.suffix in _YAML)
    return None if shape is None else Source(path, value, shape)


def shape_in(path: Path) -> Shape | Foreign | SuiteError | None:
    """Return the shape of a file; the problems of one that cannot be read."""
    try:
        source = read_source(path)
    except SuiteError as error:
        return error
    return source.shape if source else None


def _json_lines(path: Path) -> tuple[tuple[JsonValue, ...], tuple[int, ...]]:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            message, hint = f"larger than {_MAX_BYTES:,} bytes", "Split it into several files."
            raise SuiteError(Problem("document.too-large", message, span=SourceSpan(str(path)), hint=hint))
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SuiteError(Problem("document.encoding", str(error), span=SourceSpan(str(path), 1))) from error
    except OSError as error:
        message = f"{path.name!r} cannot be read: {error.strerror}"
        raise SuiteError(Problem("document.missing", message, span=SourceSpan(str(path)))) from error
    values, lines, problems = [], [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            values.append(parse_document(line, file=str(path), kind="json").value)
            lines.append(number)
        except SuiteError as error:
            problems += [replace(one, span=_on_line(one, path, number)) for one in error.problems]
    if problems:
        raise SuiteError(problems)
    return tuple(values), tuple(lines)


def _on_line(problem: Problem, path: Path, line: int) -> SourceSpan:
    column = problem.span.column if problem.span else None
    return SourceSpan(str(path), line, column)


def could_be_suite(path: Path) -> bool:
    """Tell whether a file is worth reading: by its name, its size, and a word that must be somewhere in it.

    Most JSON and YAML files below a folder are somebody else's; reading them all would take long.
    """
    try:
        if path.suffix not in _SUFFIXES or not path.is_file() or path.stat().st_size > _MAX_BYTES:
            return False
        is_yaml = path.suffix in _YAML
        if is_yaml and not (_is_suite_name(path) or "trigger" in path.name):
            return False
        data = path.read_bytes()
    except (OSError, ValueError):
        return False
    return any(mark in data for mark in (_YAML_MARKS if is_yaml else _MARKS))


def _is_suite_name(path: Path) -> bool:
    name = path.name.lower()
    is_eval_yaml = name in ("eval.yaml", "eval.yml") or name.endswith(_EVAL_YAML)
    return is_eval_yaml or path.name in EVALS_NAMES or path.parent.name == EVALS_FOLDER


def is_named_evals(path: Path) -> bool:
    """Tell whether a file has the name of this format's suites, whatever is in it."""
    return path.name in EVALS_NAMES


def is_skill_folder(path: Path) -> bool:
    """Tell whether a folder holds a skill."""
    return (path / SKILL_FILE).is_file()


def suite_files(folder: Path) -> Iterator[Path]:
    """Files in a skill's folder, and in its `evals/`, that could hold a suite."""
    for place in (folder / EVALS_FOLDER, folder):
        try:
            inner = sorted(place.iterdir())
        except OSError:
            continue
        yield from (path for path in inner if is_named_evals(path) or could_be_suite(path))


def line_of(origin: Origin) -> str:
    """Return the line of a value, for a message about something else."""
    return str(locate(origin))
