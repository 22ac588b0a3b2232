"""The folders that a session may read, which are copied into its workspace."""

from __future__ import annotations

import os
from pathlib import Path

from skillgauge.api import FileSpec, Origin
from skillgauge_skill_folders import contained, file_spec, files_of

from .reading import Findings, WrittenCase

_MOST_FILES = 2_000


def readable_files(written: WrittenCase, root: Path, findings: Findings) -> tuple[FileSpec, ...]:
    """Return the files of the folders of `add_dirs`, each folder below its own name.

    Args:
        written: the case.
        root: the plugin, which no path leaves.
        findings: receives what is wrong, and what is done.
    """
    own, specs, names = written.folder.resolve(), [], set()
    for number, text in enumerate(written.context.add_dirs or ()):
        origin = Origin(written.own.file, ("context", "add_dirs", number))
        inner = os.path.normpath(os.path.join(os.path.relpath(own, root.resolve()), text))  # noqa: PTH118 - no link yet
        place = contained(root, inner) if inner != "." else None
        if place is None or not place.is_dir():
            findings.refuse(f"there is no folder {text!r} in the plugin", origin, "Paths start at the case's folder.")
            continue
        paths = files_of(place)
        if own.is_relative_to(place) or place.name in names or len(paths) > _MOST_FILES:
            message = f"folder {text!r} holds the case, has the name of another one, or has too many files"
            findings.refuse(message, origin, "Name the folder that the agent needs to read, and nothing around it.")
            continue
        names.add(place.name)
        specs += [file_spec(place / path, f"{place.name}/{path}") for path in paths]
        message = "folders of add_dirs are copied into the workspace, each below its own name"
        findings.tell(message, origin)
    return tuple(specs)
