"""From `include`, `fixtures` and `setup` of scenario.json to files of a workspace and commands that set it up."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from skillgauge.api import FileSpec
from skillgauge_skill_folders import contained, file_spec, files_of

from .claiming import TASK
from .files import DirectoryFixture, ScenarioFile
from .reading import Reading, text_of
from .scenarios import FILES, Scenario

_BELOW = "Name what lies below the folder of all scenarios."


@dataclass
class Furnishing:
    """The workspace of one scenario on its way."""

    scenario: Scenario
    task: str
    reading: Reading
    """Of scenario.json."""
    files: dict[str, FileSpec] = field(default_factory=dict)
    setup: list[str] = field(default_factory=list)
    setup_files: list[FileSpec] = field(default_factory=list)

    def furnish(self, read: ScenarioFile) -> None:
        """Collect everything that the agent finds."""
        for number, written in enumerate(read.include):
            self._include(written, number)
        for name, value in read.fixtures.items():
            kind = value.get("type")
            if kind != "directory":
                hint = "Copy what it brings into a folder, and name that: type directory, path, installPath."
                self.reading.refuse(f"fixtures of type {kind!r} are not installed", "fixtures", name, hint=hint)
            elif (fixture := self.reading.part(DirectoryFixture, value, "fixtures", name)) is not None:
                self._install(fixture, name)
        for number, written in enumerate(read.setup):
            self._set_up(written, number)

    def _include(self, written: str, number: int) -> None:
        """Files beside the task: in the workspace itself, unless the task names the folder that they lie in."""
        place = self._place(written, "include", number)
        if place is None:
            return
        message = f"files of `include` lie in the workspace itself, or in the folder that {TASK} names"
        self.reading.tell(message, "include")
        base = self._base(place)
        prefix = f"{base}/" if base != "." and f"{base}/" in self.task else ""
        self._put(place, prefix, "include", number)

    def _base(self, place: Path) -> str:
        """The folder of what is included, relative to the scenario, or by its name."""
        here = self.scenario.folder.resolve()
        outer = here if place.is_relative_to(here) else place.parent
        return (place if place.is_dir() else place.parent).relative_to(outer).as_posix()

    def _install(self, fixture: DirectoryFixture, name: str) -> None:
        place = self._place(fixture.path, "fixtures", name, "path")
        target = PurePosixPath(fixture.install_path)
        if target.is_absolute() or ".." in target.parts:
            hint = "Give a relative path; the workspace itself is '.'."
            message = f"{fixture.install_path!r} is no place in the workspace"
            self.reading.refuse(message, "fixtures", name, "installPath", hint=hint)
        elif place is not None and not place.is_dir():
            self.reading.refuse(f"{fixture.path!r} is no folder", "fixtures", name, "path", hint="Name a folder.")
        elif place is not None:
            self._put(place, f"{target}/" if target.parts else "", "fixtures", name)

    def _set_up(self, written: str, number: int) -> None:
        """A script that runs before the agent does, and is gone then."""
        place = self._place(written, "setup", number)
        if place is None:
            return
        if place.is_dir():
            self.reading.refuse(f"{written!r} is no file", "setup", number, hint="Name a script.")
            return
        here = self.scenario.folder.resolve()
        path = place.relative_to(here).as_posix() if place.is_relative_to(here) else place.name
        if path in self.files:
            message = f"a file of the workspace is called {path!r}, as this script is"
            self.reading.refuse(message, "setup", number, hint="Rename one of them.")
        elif (text := text_of(place, self.reading.problems)) is not None:
            self.setup.append(setup_command(path))
            self.setup_files.append(FileSpec(path=path, text=text, executable=True))

    def _place(self, written: str, *pointer: str | int) -> Path | None:
        """The place of a path of scenario.json; `None` after noting that nothing is there, or the answers are."""
        here, root = self.scenario.folder.resolve(), self.scenario.root.resolve()
        relative = os.path.relpath(os.path.normpath(here / written), root)
        place = root if relative == "." else contained(root, Path(relative).as_posix())
        if place is None or not place.exists():
            folder = self.scenario.folder.name
            self.reading.refuse(f"there is no {written!r} as seen from {folder!r}", *pointer, hint=_BELOW)
            return None
        if here.is_relative_to(place) or (place.parent == here and place.name in FILES):
            message = f"{written!r} would show the scenario itself to the agent"
            self.reading.refuse(message, *pointer, hint="Move the files for the agent into a folder, and name that.")
            return None
        return place

    def _put(self, place: Path, prefix: str, *pointer: str | int) -> None:
        """Add a file, or all files of a folder."""
        names: Sequence[str] = files_of(place) if place.is_dir() else (place.name,)
        root = place if place.is_dir() else place.parent
        for name in names:
            path = f"{prefix}{name}"
            if "\\" in path:
                self.reading.refuse(f"{path!r} cannot be the name of a file", *pointer, hint="Rename it.")
            elif path in self.files:
                self.reading.refuse(f"two files would be {path!r}", *pointer, hint="Rename one of them.")
            else:
                self.files[path] = file_spec(root / name, path)


def setup_command(path: str) -> str:
    """The command that runs a script of the workspace."""
    return shlex.quote(f"./{path}")
