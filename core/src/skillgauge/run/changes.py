"""Files that an execution made, changed or removed, and their contents, as far as those are small enough to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from skillgauge_documents.immutables import immutable

from ..contract.sandboxes import NoRoomError, SpoiledError, Workspace
from ..types.trial import Execution, Failure, FailureClass, FileChange

LARGEST = 64 * 1024
"""Bytes of a file that is kept; a larger one would be shown in part, and a difference of parts is none."""
ROOM = 256 * 1024
"""Bytes of all files of a workspace that are kept."""
MOST = 2_000
"""Files whose contents are read: one installation of packages leaves tens of thousands."""
Content = tuple[str | None, str]
"""A text, and if there is none why."""


async def contents_of(workspace: Workspace, paths: Iterable[str]) -> dict[str, Content]:
    """Return the texts of files, or why there is none; no link out of the workspace is followed."""
    contents: dict[str, Content] = {}
    room = ROOM
    for number, path in enumerate(paths):
        if number >= MOST or room <= 0:
            contents[path] = None, "too many" if number >= MOST else "too large"
            continue
        try:
            content = await workspace.collect(path, LARGEST + 1)
        except (OSError, ValueError):
            contents[path] = None, "unreadable"
            continue
        contents[path] = _text(content)
        room -= len(content)
    return contents


@immutable
class LaunchState:
    """The files of a workspace before an agent works in it."""

    digests: Mapping[str, str]
    contents: Mapping[str, Content]

    @classmethod
    async def of(cls, workspace: Workspace, left_out: tuple[str, ...]) -> LaunchState:
        """Look at a workspace; contents of files below the folders that are left out are not kept."""
        digests = await workspace.snapshot()
        paths = [path for path in sorted(digests) if not path.startswith(left_out)]
        return cls(digests, await contents_of(workspace, paths))

    async def with_changes(self, execution: Execution, workspace: Workspace) -> Execution:
        """Return the execution with the files that differ now, and their contents then and now."""
        execution = await with_changes(execution, self.digests, workspace)
        present = [change.path for change in execution.files if change.change != "deleted"]
        contents = await contents_of(workspace, present)
        files = tuple(self._with_contents(change, contents) for change in execution.files)
        notes = execution.notes
        if (rest := len(present) - MOST) > 0:
            notes = (*notes, f"of {len(present):,} new and changed files the contents of {rest:,} were not read")
        return execution.model_copy(update={"files": files, "notes": notes})

    def _with_contents(self, change: FileChange, contents_now: Mapping[str, Content]) -> FileChange:
        was, why_then = self.contents.get(change.path, (None, ""))
        text, why_now = contents_now.get(change.path, (None, ""))
        return change.model_copy(update={"was": was, "text": text, "left_out": why_then or why_now})


async def with_changes(execution: Execution, before: Mapping[str, str], workspace: Workspace) -> Execution:
    """Return the execution with the files that it made, changed or removed; files without end are its own failure.

    A full disk is no failure of the target: neither the files nor the verdict would say anything about the skill.
    """
    try:
        files = changed_files(before, await workspace.snapshot())
    except SpoiledError as error:
        return execution.model_copy(update={"failure": Failure.of_spoiling(str(error))})
    except NoRoomError as error:
        return execution.model_copy(update={"failure": Failure.of_agent(FailureClass.SETUP, str(error))})
    return execution.model_copy(update={"files": files})


def changed_files(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FileChange, ...]:
    """Return what differs between two snapshots of a workspace, sorted by path."""
    changes = []
    for path in sorted(before.keys() | after.keys()):
        if path not in before:
            changes.append(FileChange(path=path, change="created", digest=after[path]))
        elif path not in after:
            changes.append(FileChange(path=path, change="deleted"))
        elif before[path] != after[path]:
            changes.append(FileChange(path=path, change="modified", digest=after[path]))
    return tuple(changes)


def _text(content: bytes) -> Content:
    if len(content) > LARGEST:
        return None, "too large"
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None, "binary"
    return (None, "binary") if "\0" in text else (text, "")
