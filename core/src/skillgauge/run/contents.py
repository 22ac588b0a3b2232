"""What files of a workspace hold, as far as it is small enough to be kept with a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..contract.sandboxes import Workspace
from ..types.trial import FileChange

LARGEST = 64 * 1024
"""Bytes of a file that is kept; a larger one would be shown in part, and a difference of parts is none."""
ROOM = 256 * 1024
"""Bytes of all files of a workspace that are kept."""
Content = tuple[str | None, str]
"""A text, and if there is none why."""


async def contents_of(workspace: Workspace, paths: Iterable[str]) -> dict[str, Content]:
    """The texts of files, or why there is none; whatever lies there now, no link out of the workspace is followed."""
    found: dict[str, Content] = {}
    room = ROOM
    for path in paths:
        try:
            content = await workspace.collect(path, LARGEST + 1) if room > 0 else b""
        except (OSError, ValueError):
            found[path] = None, "unreadable"
            continue
        found[path] = (None, "too large") if room <= 0 or len(content) > LARGEST else _text(content)
        room -= len(content)
    return found


def with_contents(change: FileChange, before: Mapping[str, Content], after: Mapping[str, Content]) -> FileChange:
    """The same change with what was and is in its file."""
    (was, why), (text, why_now) = (one.get(change.path, (None, "")) for one in (before, after))
    return change.model_copy(update={"was": was, "text": text, "left_out": why or why_now})


def _text(content: bytes) -> Content:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None, "binary"
    return (None, "binary") if "\0" in text else (text, "")
