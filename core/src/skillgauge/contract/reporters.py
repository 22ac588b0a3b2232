"""What a reporter must do: render a run, and recognise what it rendered."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from ..types.result import RunView
from .artifacts import Artifact


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
