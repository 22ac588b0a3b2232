"""The obligations of a reporter, which renders a run and recognises its own documents."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC as _UTC
from datetime import datetime
from pathlib import Path
from typing import Protocol

from skillgauge_documents.immutables import immutable

from ..types.results.runs import RunView


@immutable
class Artifact:
    """A file to be written by the kernel."""

    chunks: Iterable[bytes]
    """Content, possibly made while it is written."""
    path: str = ""
    """Relative path inside the reporter's own folder; empty for the reporter's one report file."""


def stamp(seconds: float) -> str:
    """Return a run's start as it appears in file names: sortable, without characters that a file system refuses.

    Files of a reporter that have a path lie in `<stamp>/<reporter>/`, beside its one report file.

    Args:
        seconds: since the epoch.
    """
    moment = datetime.fromtimestamp(seconds, _UTC).isoformat(timespec="milliseconds")
    return moment[:23].replace(":", "-").replace(".", "-") + "Z"


class Reporter(Protocol):
    """Turn a run into files, and such files back into a run where that is possible."""

    suffix: str
    """Ending of its file, `json` or `record.json`."""

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The report's files. Pure; the kernel writes them, one after another."""

    def read(self, path: Path) -> RunView | None:
        """Read a document, or a folder of documents, that this reporter wrote; `None` if it is not one.

        Raises:
            SuiteError: it is one, but damaged.
        """
