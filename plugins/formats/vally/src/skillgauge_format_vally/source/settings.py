"""The settings of a repository: named environments, and where its skills are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import SuiteError, read_document

from .files import SettingsFile
from .reading import Pointer, Reading


@dataclass(frozen=True)
class Settings:
    """A `.vally.yaml` that was read."""

    reading: Reading
    file: SettingsFile

    def skill_folders(self) -> tuple[Path, ...]:
        """Return the folders in which skills are, as far as they are there."""
        written = self.file.paths.skills
        texts = (written,) if isinstance(written, str) else written
        places = (self.reading.place(text) for text in texts)
        return tuple(place for place in places if place is not None and place.is_dir())

    def environment(self, name: str) -> tuple[object, Pointer] | None:
        """Return an environment and where it stands; `None` if there is none of that name."""
        if name not in self.file.environments:
            return None
        return self.file.environments[name], ("environments", name)


def settings_of(reading: Reading, file: Path | None) -> Settings | None:
    """Read the settings; `None` if there are none, or after noting what is wrong with them."""
    if file is None:
        return None
    try:
        inner = reading.of(read_document(file, kind="yaml"))
    except SuiteError as error:
        reading.problems += error.problems
        return None
    if inner.document.value is None:
        return Settings(inner, SettingsFile())
    read = inner.part(SettingsFile, inner.document.value)
    return Settings(inner, read) if read is not None else None
