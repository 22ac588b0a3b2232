"""Maps that were written as reports, read back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from .documents import MapDocument

NAME = "map-result"
"""The beginning of the names of the files of a map; the file of that very name is a copy of the newest."""
_LARGEST = 64_000_000
"""Bytes of a document."""
_FILES = 200
"""Documents of one folder that are looked at, the newest."""


def documents_in(folder: Path) -> tuple[MapDocument, ...]:
    """Return the maps in a folder, the newest first, each once; a file that is no map is passed over."""
    maps = {(document.started_at, document.runs): document for document in _read(folder)}
    return tuple(sorted(maps.values(), key=lambda document: document.started_at, reverse=True))


def _read(folder: Path) -> Iterator[MapDocument]:
    try:
        files = sorted(folder.glob(f"{NAME}*.json"), reverse=True)[:_FILES]
    except OSError:
        return
    for file in files:
        try:
            if file.stat().st_size <= _LARGEST:
                yield MapDocument.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            continue
