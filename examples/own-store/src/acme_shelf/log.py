"""A run that this process works on."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from skillgauge.api import (
    CaseHead,
    Claimed,
    Problem,
    ResultOrder,
    StoreError,
    Trial,
    TrialResult,
    UnderWay,
    Unfinished,
)
from skillgauge.api.report import GroupKey, RunInfo, RunState, Summary

from .contents import Contents, RunFile, line, part_name
from .owner import LEASE_S, Owner
from .shelf import Shelf


class ShelfRun:
    """Keeps what happens.

    Args:
        shelf: where.
        file: what `run.json` says from now on.
        owner_tag: of the `owner.json` by which the run is ours.
        contents: what the run holds.
    """

    def __init__(self, shelf: Shelf, file: RunFile, owner_tag: str, contents: Contents) -> None:
        self._shelf, self._file, self._contents = shelf, file, contents
        self._owner_tag: str | None = owner_tag
        self._turn = threading.Lock()
        self._renewing = asyncio.create_task(self._renew())

    @property
    def info(self) -> RunInfo:
        """Where the run stands."""
        return self._file.run

    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        """Record that these trials are about to start, and keep their cases."""
        names = [trial.trial_id for trial in trials]
        done = frozenset(name for name in names if name in self._contents.places)
        new = [name for name in names if name not in done]
        now, here = time.time(), f"{socket.gethostname()}, process {os.getpid()}"
        sessions = [UnderWay.of(one, since=now, where=here) for one in trials if one.paid and one.trial_id not in done]
        lines = [
            line("claim", new),
            *(line("case", case) for case in cases),
            *(line("session", one) for one in sessions),
        ]
        await asyncio.to_thread(self._add, lines)
        attempts = {name: self._contents.claims[name] for name in new}
        return Claimed(done, attempts, self._contents.cut_off(name for name in new if attempts[name] > 1))

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        """Keep results; the last one of a trial counts. What the service has taken survives a loss of power, too."""
        if results:
            await asyncio.to_thread(self._add, [line("result", result) for result in results])

    async def spend(self, unfinished: Sequence[Unfinished]) -> None:
        """Keep what trials under way have used so far."""
        await asyncio.to_thread(self._add, [line("spent", one) for one in unfinished])

    def unfinished(self) -> Iterator[Unfinished]:
        """Read what was used for trials without a result."""
        with self._turn:
            return self._contents.unfinished()

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """Read what was committed."""
        with self._turn:
            return self._contents.results(order, group)

    def cases(self) -> Iterator[CaseHead]:
        """Read what is known of the cases."""
        with self._turn:
            return self._contents.cases()

    async def finish(self, state: RunState, summary: Summary | None) -> RunInfo:
        """End the run and let go of it."""
        run = self.info.model_copy(update={"state": state, "finished_at": time.time()})
        self._file = self._file.model_copy(update={"run": run, "summary": summary})
        await asyncio.to_thread(self._write)
        await self.close()
        return run

    async def close(self) -> None:
        """Let go of the run, finished or not."""
        self._renewing.cancel()
        await asyncio.gather(self._renewing, return_exceptions=True)
        await asyncio.to_thread(self._release)

    def _write(self) -> None:
        with self._turn:
            self._require_ours()
            self._shelf.put(f"{self.info.run_id}/run.json", self._file.model_dump_json().encode())

    def _add(self, lines: Sequence[bytes]) -> None:
        with self._turn:
            self._require_ours()
            number = self._contents.parts + 1
            self._shelf.put(part_name(self.info.run_id, number), b"\n".join(lines))
            self._contents.take(number, lines)

    async def _renew(self) -> None:
        """Stay the owner, for those who cannot see whether this process lives."""
        while self._owner_tag:
            await asyncio.sleep(LEASE_S / 3)
            with suppress(StoreError):  # the next time may do; the lease lasts longer
                await asyncio.to_thread(self.renew)

    def renew(self) -> None:
        """Prolong the lease, or find out that somebody else has taken over."""
        with self._turn:
            if self._owner_tag:
                content = Owner.me().model_dump_json().encode()
                self._owner_tag = self._shelf.put(f"{self.info.run_id}/owner.json", content, over=self._owner_tag)

    def _release(self) -> None:
        with self._turn:
            if self._owner_tag:
                self._shelf.delete(f"{self.info.run_id}/owner.json", self._owner_tag)
            self._owner_tag = None

    def _require_ours(self) -> None:
        if self._owner_tag is None:
            message = f"run {self.info.run_id} belongs to another process now"
            hint = "This machine was silent for too long; give the command again for a run of its own."
            raise StoreError(Problem("acme-shelf.lost", message, hint=hint))
