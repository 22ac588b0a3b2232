"""The files of a workspace after the run."""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from skillgauge.api import Score, ScoreContext

from .content import Content, TooSlowError
from .globs import glob
from .options import FilesOptions, State

_SHOWN = 20
_GRADERS = frozenset({"response.txt"})
"""What another check of the case may have put there."""


class FilesScorer:
    """Passes if files are as expected.

    What a session made, changed or removed is part of its record, so that alone can be graded again later. For what
    was there all the time, and for what is in a file, the workspace must still be open.
    """

    version = "1"

    def __init__(self, options: FilesOptions) -> None:
        self._options = options
        self._wanted, self._left_out = glob(options.path), [glob(path) for path in options.leave_out]
        self._content = Content(options)

    async def score(self, context: ScoreContext) -> Score:
        """Find the files and look into them."""
        options = self._options
        changes: dict[str, list[str]] = {}
        for change in context.execution.files:
            if self._matches(change.path):
                changes.setdefault(change.change, []).append(change.path)
        created, modified = changes.get("created", []), changes.get("modified", [])
        match options.state:
            case State.CREATED:
                return await self._some(created, context, "was created")
            case State.NOT_CREATED:
                return self._none(created, "created")
            case State.CHANGED:
                return await self._some([*created, *modified], context, "was created or changed")
            case State.DELETED:
                return await self._some(changes.get("deleted", []), context, "was deleted")
            case State.UNTOUCHED:
                touched = [f"{path} ({change})" for change, paths in changes.items() for path in paths]
                return self._none(touched, "touched")
            case State.PRESENT | State.ABSENT:
                return await self._at_the_end(created + modified, context)
            case _:
                assert_never(options.state)

    def _matches(self, path: str) -> bool:
        return self._wanted(path) and not any(one(path) for one in self._left_out)

    async def _at_the_end(self, changed: list[str], context: ScoreContext) -> Score:
        absent = self._options.state is State.ABSENT
        if context.workspace is None and not changed:
            return Score.ungraded("The workspace is gone, so nobody knows which files were in it")
        paths = changed
        if context.workspace is not None:
            of_graders = {*_GRADERS, *(file.path for file in context.case.grader_files)}
            of_graders -= {*changed, *(file.path for file in context.case.files)}
            snapshot = await context.workspace.snapshot()
            paths = [path for path in snapshot if path not in of_graders and self._matches(path)]
        return self._none(paths, "there") if absent else await self._some(paths, context, "is there")

    def _none(self, paths: Collection[str], subject: str) -> Score:
        if not paths:
            return Score.passed(f"No file {self._options.path!r} is {subject}" if subject == "there" else "")
        return Score.failed(f"No file {self._options.path!r} was to be {subject}: {_listed(paths)}")

    async def _some(self, paths: list[str], context: ScoreContext, subject: str) -> Score:
        if not paths:
            return Score.failed(f"No file {self._options.path!r} {subject}")
        if not self._options.looks_inside:
            return Score.passed(f"{_listed(paths)} {subject}")
        if context.workspace is None:
            return Score.ungraded("The workspace is gone, so nobody knows what is in its files")
        faults: dict[str, tuple[str, ...]] = {}
        for path in sorted(paths):
            try:
                data = await context.workspace.collect(path, self._options.max_bytes + 1)
                if len(data) > self._options.max_bytes:
                    faults[path] = (f"it is longer than {self._options.max_bytes:,} bytes",)
                    continue
                faults_found = await self._content.faults(data)
            except (OSError, ValueError, KeyError) as error:
                faults[path] = (f"it cannot be read: {error}",)
            except TooSlowError as error:
                return Score.ungraded(f"{path}: {error}")
            else:
                if not faults_found:
                    return Score.passed(f"{path} is as expected")
                faults[path] = faults_found
        text = "; ".join(f"{path}: {', '.join(faults_found)}" for path, faults_found in list(faults.items())[:_SHOWN])
        return Score.failed(text[:2000], evidence={"faults": dict(list(faults.items())[:_SHOWN])})


def _listed(paths: Collection[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(sorted(paths)[:_SHOWN]) + more
