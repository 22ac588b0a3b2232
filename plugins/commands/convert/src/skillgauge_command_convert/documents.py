"""The output of `convert --json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from skillgauge.api import Frozen, JsonObject, Problem, freeze
from skillgauge.api.run import problem_document

from .converting import Converted


class FileState(StrEnum):
    """The fate of a file."""

    WRITTEN = "written"
    REPLACED = "replaced"
    """It was there with another content."""
    UNCHANGED = "unchanged"
    """It was there with just this content."""


class WrittenFile(Frozen):
    """A file of a converted suite."""

    path: str
    """Relative to the suite's folder."""
    state: FileState


class ConvertedSuite(Frozen):
    """One suite."""

    id: str
    source_format: str
    folder: str
    """Absolute."""
    files: tuple[WrittenFile, ...]
    losses: tuple[JsonObject, ...]
    """What the other format cannot hold, each with its place in the source."""


class ConvertDocument(Frozen):
    """The output of `convert --json`."""

    schema_version: str = "1.0"
    format: str
    suites: tuple[ConvertedSuite, ...]
    problems: tuple[JsonObject, ...] = ()
    """Files that could not be read."""


def document_of(
    converted: Sequence[Converted],
    folders: Sequence[Path],
    states: Mapping[Path, FileState],
    passed_over: Sequence[Problem],
    to: str,
) -> ConvertDocument:
    """The document of a conversion."""
    suites = tuple(
        ConvertedSuite(
            id=suite.suite.id,
            source_format=suite.suite.format,
            folder=str(folder),
            files=tuple(WrittenFile(path=path, state=states[folder / path]) for path, _ in suite.files),
            losses=_documents(suite.losses),
        )
        for suite, folder in zip(converted, folders, strict=True)
    )
    return ConvertDocument(format=to, suites=suites, problems=_documents(passed_over))


def _documents(problems: Sequence[Problem]) -> tuple[JsonObject, ...]:
    documents = []
    for problem in problems:
        value = freeze(problem_document(problem))
        assert isinstance(value, Mapping)  # what it was made from is one
        documents.append(value)
    return tuple(documents)
