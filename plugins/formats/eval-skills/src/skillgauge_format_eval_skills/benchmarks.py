"""Find a benchmark: built in, in a folder of benchmarks, or in a file of its own."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from skillgauge.api import Document, Origin, Problem, Severity, SuiteError, did_you_mean, read_document
from skillgauge_documents.immutables import immutable

from .tasks import Source

COMPLETION = "completionRate"
"""Name of the completion rate, among the figures of a run."""
DEFAULT = "coding-easy"
"""The benchmark of a user who names none."""
_BENCHMARK_FILE = "benchmark.json"


_DATA = Path(__file__).parent / "data"


@cache
def built_in_ids() -> tuple[str, ...]:
    """Ids of the benchmarks that come with this format."""
    return tuple(sorted(path.stem for path in _DATA.glob("*.json")))


@immutable
class Wanted:
    """A benchmark as the user names it."""

    name: str
    """An id or a path."""
    folder: Path
    """Folder with further benchmarks; need not exist."""
    cwd: Path

    def find(self) -> tuple[Source, tuple[Problem, ...]]:
        """The benchmark's document, and what was wrong on the way to it.

        Raises:
            SuiteError: there is no such benchmark, several have its id, or its file cannot be read.
        """
        if self.name in built_in_ids():
            return Source(read_document(_DATA / f"{self.name}.json")), self._hidden()
        shelf = _shelf(self.folder)
        benchmarks = shelf.by_id.get(self.name, ())
        if len(benchmarks) > 1:
            places = " and ".join(str(source.path) for source in benchmarks)
            problem = Problem(
                "suite.duplicate-id",
                f"two benchmarks have the id {self.name!r}: {places}",
                origin=benchmarks[1].document.origin("id"),
                hint="Name the one you mean by its path.",
            )
            raise SuiteError(problem)
        if benchmarks:
            return benchmarks[0], shelf.bad
        path = self.cwd / self.name
        if path.is_dir() and (path / _BENCHMARK_FILE).is_file():
            path /= _BENCHMARK_FILE
        if path.is_file():
            return Source(read_document(path), path), ()
        raise SuiteError([self._unknown(tuple(shelf.by_id)), *shelf.bad])

    def _unknown(self, others: tuple[str, ...]) -> Problem:
        ids = (*built_in_ids(), *sorted(others))
        message = f"there is no benchmark {self.name!r}, by id or as a file{did_you_mean(self.name, ids)}"
        return Problem("suite.no-benchmark", message, hint=f"Use one of {', '.join(ids)}, or the path of a file.")

    def _hidden(self) -> tuple[Problem, ...]:
        """A built-in benchmark hides a file under the same name, which may surprise its owner."""
        for path in (self.folder / f"{self.name}.json", self.folder / self.name / _BENCHMARK_FILE):
            if path.is_file():
                message = f"the built-in benchmark {self.name!r} is used, not this file"
                hint = f"To use the file, give its path: --benchmark {shlex.quote(str(path))}"
                return (Problem("suite.hidden", message, Origin(str(path)), hint=hint, severity=Severity.WARNING),)
        return ()


@immutable
class _Shelf:
    """The benchmarks of a folder."""

    by_id: Mapping[str, tuple[Source, ...]]
    bad: tuple[Problem, ...]
    """Files that cannot be read, as warnings: the rest is still there."""


def _shelf(folder: Path) -> _Shelf:
    candidates = [*folder.glob("*.json"), *folder.glob(f"*/{_BENCHMARK_FILE}"), *folder.glob("definitions/*.json")]
    by_id: dict[str, tuple[Source, ...]] = {}
    bad: list[Problem] = []
    for path in sorted(set(candidates)):
        try:
            document = read_document(path)
        except SuiteError as error:
            bad += [_as_warning(problem) for problem in error.problems]
            continue
        name = _id_of(document)
        if name is not None:
            by_id[name] = (*by_id.get(name, ()), Source(document, path))
    return _Shelf(by_id, tuple(bad))


def _id_of(document: Document) -> str | None:
    """A benchmark's id; `None` for any other document, which may well lie in the folder."""
    value = document.value
    name = value.get("id") if isinstance(value, Mapping) and "tasks" in value else None
    return name if isinstance(name, str) else None


def _as_warning(problem: Problem) -> Problem:
    return Problem(problem.code, problem.message, problem.origin, problem.span, problem.hint, Severity.WARNING)
