"""A skill's folder as it is installed, and its digest."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from skillgauge.api import SkillRef, SkillRole, digest


def files_of(root: Path, leaves_out: Sequence[str] = ()) -> list[str]:
    """Paths of the regular files below a folder, sorted; links are no part of a skill, and are not followed."""
    gone = {Path(path) for path in leaves_out}
    paths = []
    for folder, names, files in os.walk(root):
        here = Path(folder).relative_to(root)
        names[:] = [name for name in names if here / name not in gone]
        for name in files:
            path = root / here / name
            if here / name not in gone and path.is_file() and not path.is_symlink():
                paths.append((here / name).as_posix())
    return sorted(paths)


def skill_ref(
    root: Path, name: str, leaves_out: Sequence[str] = (), *, role: SkillRole = SkillRole.CANDIDATE
) -> SkillRef:
    """A skill as an arm installs it.

    Its digest covers every file that is installed: its path, its content, and whether it may be executed. What is left
    out does not change it.
    """
    parts = [(path, _is_executable(root / path), content_digest(root / path)) for path in files_of(root, leaves_out)]
    return SkillRef(name=name, root=str(root), digest=digest(parts), role=role, leaves_out=tuple(leaves_out))


def _is_executable(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o100)


def content_digest(path: Path) -> str:
    """SHA-256 of a file's content."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:  # not readable is what it is, for the agent too
        return f"unreadable: {error.strerror}"
