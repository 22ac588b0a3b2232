"""The reporter of eval-skills: its result document, written and read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skillgauge.api import Artifact
from skillgauge.api.report import RunView

from .reports.writing import document_chunks


class EvalSkillsReporter:
    """One SkillCompletionReport per suite and skill, in one JSON array."""

    suffix = "json"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The document. Task results are written as they are read, so their number does not matter."""
        yield Artifact(chunks=document_chunks(view))

    def read(self, path: Path) -> RunView | None:
        """A document of eval-skills itself or of this reporter."""
        from .reports.reading import read_reports  # noqa: PLC0415 - models of a document; few commands read one

        return read_reports(path)
