"""The sessions that lie in a folder, damaged ones included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import SkillgaugeError, get_logger

from .cassettes import SUFFIX, Cassette, read_cassette

log = get_logger(__name__)


@dataclass(frozen=True)
class KeptSession:
    """The file of a session."""

    path: Path
    size: int
    made_at: float
    """Seconds since the epoch."""
    cassette: Cassette | None
    """`None`: it is damaged or of another version, and is never used."""


def recordings_in(folder: Path) -> Iterator[KeptSession]:
    """Yield every recording below a folder, in the order of their paths."""
    yield from sessions_at(folder.rglob(f"*{SUFFIX}"))


def sessions_at(paths: Iterable[Path]) -> Iterator[KeptSession]:
    """Yield the sessions in files, in the order of their paths."""
    for path in sorted(paths):
        try:
            status = path.stat()
        except OSError:
            continue  # removed meanwhile
        yield KeptSession(path, status.st_size, status.st_mtime, cassette_at(path))


def cassette_at(path: Path) -> Cassette | None:
    """Return the session in a file; `None` if there is none, or none that can be read."""
    if not path.is_file():
        return None
    try:
        return read_cassette(path)
    except (SkillgaugeError, ValueError, OSError) as error:
        log.info("recording.unreadable", file=str(path), reason=str(error))
        return None
