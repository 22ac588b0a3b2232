"""Sessions in documents that belong to no single agent: our own recordings, and trajectories in ATIF."""

from __future__ import annotations

from pathlib import Path

from skillgauge.api import FoundSession
from skillgauge_recordings import SUFFIX, read_cassette

from .atif import is_atif, read_atif

_BEGINNING = 64 * 1024
"""Bytes of a document that show whether it is one of ATIF."""


class DocumentSessions:
    """Reads recordings, known by their names, and ATIF, known by its version: see `SessionReader`."""

    def claims(self, path: Path) -> bool:
        """See `SessionReader.claims`."""
        if path.name.endswith(SUFFIX):
            return True
        if path.suffix != ".json":
            return False
        with path.open("rb") as file:
            return is_atif(file.read(_BEGINNING))

    def read(self, path: Path) -> FoundSession:
        """See `SessionReader.read`.

        Raises:
            SuiteError: the document is damaged; with the place in it.
        """
        if not path.name.endswith(SUFFIX):
            return read_atif(path)
        recording = read_cassette(path)
        case_id = recording.recipe.get("case")
        return FoundSession(
            prompts=(),
            case_id=case_id if isinstance(case_id, str) else None,
            engine=recording.engine.model_copy(update={"model": recording.model or recording.engine.model}),
            execution=recording.execution,
        )
