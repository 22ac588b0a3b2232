"""A folder of runs on the service."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from secrets import token_hex

from skillgauge.api import PlanHead, RunLog, RunNotes, RunQuery, secret
from skillgauge.api.report import RunInfo, RunState, RunView, Summary

from .contents import Contents, RunFile
from .log import ShelfRun
from .options import TOKEN, ShelfOptions
from .owner import Owner
from .shelf import ABSENT, Shelf


class ShelfStore:
    """Keeps runs as folders of JSON lines."""

    durable = True

    def __init__(self, options: ShelfOptions) -> None:
        self._shelf = Shelf(options.location, secret(TOKEN) or "")
        self._open: list[ShelfRun] = []

    async def begin(self, head: PlanHead, *, fresh: bool) -> RunLog:
        """Start a run, or resume the newest unfinished one of the same plan that nobody works on."""
        file, tag, contents = await asyncio.to_thread(self._begin, head, fresh)
        log = ShelfRun(self._shelf, file, tag, contents)
        self._open.append(log)
        return log

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        """Read stored runs, newest first."""
        found = (self._view(run_id) for run_id in self._run_ids() if query.names(run_id))
        return islice((view for view in found if view and _matches(view.head, query)), query.limit)

    def notes(self) -> Mapping[str, RunNotes]:
        """The words of people about runs: one more file in the folder of each run of which they say anything."""
        there = ((run_id, self._shelf.get(f"{run_id}/notes.json")) for run_id in self._run_ids())
        read = {run_id: RunNotes.model_validate_json(item.content) for run_id, item in there if item}
        return {run_id: notes for run_id, notes in read.items() if notes != RunNotes()}

    async def annotate(self, run_id: str, notes: RunNotes) -> bool:
        """Put this in place of what was said of a run, whoever works on it."""
        return await asyncio.to_thread(self._annotate, run_id, notes)

    def _annotate(self, run_id: str, notes: RunNotes) -> bool:
        if run_id not in self._run_ids():
            return False
        self._shelf.put(f"{run_id}/notes.json", notes.model_dump_json().encode())
        return True

    async def close(self) -> None:
        """Let go of every run, and hang up."""
        for log in self._open:
            await log.close()
        await asyncio.to_thread(self._shelf.close)

    def _begin(self, head: PlanHead, fresh: bool) -> tuple[RunFile, str, Contents]:
        for run_id in self._run_ids():
            tag = self._taken_over(run_id, head)
            file = self._file(run_id) if tag else None  # again, now that nobody else writes
            if tag is None or file is None:
                continue
            if _is_open(file, head):
                file = file.model_copy(update={"given_up": True} if fresh else {"run": _going_on(file.run)})
                self._shelf.put(f"{run_id}/run.json", file.model_dump_json().encode())
                if not fresh:
                    contents = Contents(self._shelf, run_id)
                    contents.refresh()
                    return file, tag, contents
            self._shelf.delete(f"{run_id}/owner.json", tag)
        return self._started(head)

    def _started(self, head: PlanHead) -> tuple[RunFile, str, Contents]:
        run_id = f"{time.time_ns():020}-{token_hex(3)}"
        run = RunInfo(run_id=run_id, state=RunState.RUNNING, started_at=time.time())
        file = RunFile(plan_id=head.plan_id, signer=head.signer, run=run)
        tag = self._shelf.put(f"{run_id}/owner.json", Owner.me().model_dump_json().encode(), over=ABSENT)
        assert tag is not None  # the name is new
        self._shelf.put(f"{run_id}/head.json", head.model_dump_json().encode())
        self._shelf.put(f"{run_id}/run.json", file.model_dump_json().encode())
        return file, tag, Contents(self._shelf, run_id)

    def _taken_over(self, run_id: str, head: PlanHead) -> str | None:
        """The tag by which an unfinished run of the plan is ours now; `None` if it is not."""
        file = self._file(run_id)
        if file is None or not _is_open(file, head):
            return None
        name = f"{run_id}/owner.json"
        there = self._shelf.get(name)
        if there and Owner.model_validate_json(there.content).is_at_work:
            return None
        return self._shelf.put(name, Owner.me().model_dump_json().encode(), over=there.tag if there else ABSENT)

    def _run_ids(self) -> list[str]:
        return self._shelf.names()[::-1]

    def _file(self, run_id: str) -> RunFile | None:
        """Where a run stands; `None` if it died before it began, or if the folder is somebody else's."""
        item = self._shelf.get(f"{run_id}/run.json")
        return RunFile.model_validate_json(item.content) if item else None

    def _view(self, run_id: str) -> RunView | None:
        file, head = self._file(run_id), self._shelf.get(f"{run_id}/head.json")
        if file is None or head is None:
            return None
        contents = Contents(self._shelf, run_id)
        contents.refresh()
        plan = PlanHead.model_validate_json(head.content)
        return RunView(file.run, plan, file.summary or Summary.empty(), contents)


def _is_open(file: RunFile, head: PlanHead) -> bool:
    same = (file.plan_id, file.signer) == (head.plan_id, head.signer)
    return same and file.run.state is not RunState.FINISHED and not file.given_up


def _going_on(run: RunInfo) -> RunInfo:
    return run.model_copy(update={"state": RunState.RUNNING, "finished_at": None, "resumed": True})


def _matches(head: PlanHead, query: RunQuery) -> bool:
    asked = [suite for suite in head.suites if query.suite_id in (None, suite.id)]
    targets = {target.id for suite in asked for target in suite.targets}
    is_of_plan = query.plan_id in (None, head.plan_id)
    is_of_suite = query.suite_id is None or bool(asked)
    return is_of_plan and is_of_suite and (query.target_id is None or query.target_id in targets)
