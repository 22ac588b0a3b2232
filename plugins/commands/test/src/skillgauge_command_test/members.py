"""The packages of a workspace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from skillgauge.api import Document, Origin, Problem, SuiteError, UsageError, read_document

_WORKSPACE = "workspace.agent.json"
_MANIFESTS = ("package.agent.json", "package.agent.yaml")


def members(root: Path) -> tuple[Path, ...]:
    """Folders of the packages that the workspace file of a folder names by globs, in order.

    Raises:
        SuiteError: the file is wrong.
        UsageError: there is none, or it names no package.
    """
    file = root / _WORKSPACE
    if not file.is_file():
        hint = "Write it with a list 'packages' of globs, or leave --workspace out."
        raise UsageError(Problem("usage.no-workspace", f"there is no {_WORKSPACE} in {str(root)!r}", hint=hint))
    document = read_document(file)
    packages: dict[Path, None] = {}
    for glob in _globs(document):
        for path in sorted(root.glob(glob)):
            if any((path / name).is_file() for name in _MANIFESTS):
                packages[path] = None
    if not packages:
        origin = Origin(str(file), ("packages",))
        raise UsageError(Problem("usage.no-packages", "the globs match no package", origin=origin))
    return tuple(packages)


def _globs(document: Document) -> Iterator[str]:
    """Yield the globs of a workspace file, each after it was checked."""
    globs = document.value.get("packages") if isinstance(document.value, Mapping) else None
    if not isinstance(globs, tuple) or not globs:
        message = "'packages' must be a list of globs"
        raise SuiteError(Problem("suite.wrong-type", message, origin=document.origin("packages")))
    for index, glob in enumerate(globs):
        if not isinstance(glob, str) or not _stays_below(glob):
            message = "a glob must be a relative path that stays in the workspace"
            raise SuiteError(Problem("suite.value", message, origin=document.origin("packages", index)))
        yield glob


def _stays_below(glob: str) -> bool:
    return bool(glob) and not glob.startswith("/") and ".." not in Path(glob).parts
