"""The maps of catalogues that `map` wrote beside the reports of runs, and the page of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from skillgauge_skill_maps import MapDocument, documents_in
from skillgauge_skill_maps.page import body

from ..links import key_of
from ..rows import RunRow


class Maps:
    """The maps in some folders, read anew for each page; safe to be asked from several threads.

    Args:
        folders: that reports are written to.
    """

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self._folders = tuple(folders)

    def all(self) -> dict[str, MapDocument]:
        """Return the maps by their names in addresses, the newest first; of equal names the newest counts."""
        maps = [document for folder in self._folders for document in documents_in(folder)]
        by_key: dict[str, MapDocument] = {}
        for document in sorted(maps, key=lambda document: document.started_at, reverse=True):
            by_key.setdefault(map_key(document), document)
        return by_key

    def of_run(self, run_id: str) -> dict[str, MapDocument]:
        """Return the maps that rest on a run."""
        return {key: document for key, document in self.all().items() if run_id in document.runs}


def map_key(document: MapDocument) -> str:
    """Return the name of a map in addresses: that of its first run."""
    return key_of(document.runs[0] if document.runs else f"map at {document.started_at}")


@dataclass(frozen=True)
class MapPage:
    """A map, and the runs here that it rests on."""

    document: MapDocument
    runs: tuple[RunRow, ...]

    @property
    def content(self) -> Markup:
        """The map as HTML, in which every text from outside is escaped."""
        return Markup("\n".join(body(self.document)))


def map_page(document: MapDocument, rows: Sequence[RunRow]) -> MapPage:
    """Return the page of a map.

    Args:
        document: the map.
        rows: the runs that can be looked at.
    """
    return MapPage(document, tuple(row for row in rows if row.run_id in document.runs))
