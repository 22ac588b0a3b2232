"""Problems that stopped nothing, as they stand in documents."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge_documents.frozen import Frozen

from ..config.documents import located_all
from ..errors import Problem
from ..terminal.output import problem_document


class ProblemDocument(Frozen):
    """A problem that stopped nothing: a warning, or a file that a search passed over."""

    code: str
    severity: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    hint: str | None


def problem_documents(problems: Iterable[Problem]) -> tuple[ProblemDocument, ...]:
    """Return problems as they stand in a document, each with its place."""
    return tuple(ProblemDocument.model_validate(problem_document(problem)) for problem in located_all(problems))
