"""The files that an agent changed, as passages."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from skillgauge.api import FileChange, Workspace

from .transcript import Passage, one_line

_READ_BYTES = 1_000_000
_SHOWN_FILES = 200
"""Of further ones only the names are told."""


def changes_with_content(files: Sequence[FileChange]) -> bool:
    """Tell whether there is anything to read in a workspace."""
    return any(file.change != "deleted" for file in files)


async def passages_of(files: Sequence[FileChange], workspace: Workspace, graders: frozenset[str]) -> list[Passage]:
    """Each file with its change, and its text if it is one.

    Args:
        files: what the agent changed.
        workspace: where it did that.
        graders: paths at which graders' files lie now.
    """
    passages: list[Passage] = []
    for file in files:
        name = f"{file.change} {one_line(file.path)}"
        if file.change == "deleted":
            passages.append(Passage(name))
        elif file.path in graders:
            passages.append(Passage(f"{name} (replaced by a file of the graders)"))
        elif len(passages) >= _SHOWN_FILES:
            passages.append(Passage(f"{name} (not shown)"))
        else:
            passages.append(await _passage(name, file.path, workspace))
    return passages


async def _passage(name: str, path: str, workspace: Workspace) -> Passage:
    try:
        content = await workspace.collect(path, _READ_BYTES + 1)
    except (OSError, ValueError):
        return Passage(f"{name} (cannot be read)")
    is_cut = len(content) > _READ_BYTES
    content = content[:_READ_BYTES]
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(content, final=not is_cut)
    except UnicodeDecodeError:
        return Passage(f"{name} (binary)")
    if "\0" in text:
        return Passage(f"{name} (binary)")
    if is_cut:
        return Passage(f"{name} (its first {_READ_BYTES} bytes):", text)
    return Passage(f"{name}:", text) if text else Passage(f"{name} (empty)")
