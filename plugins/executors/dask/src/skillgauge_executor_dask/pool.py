"""The workers that make attempts of a run, in the process that runs it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import uuid4

from skillgauge.api import Failure, PluginError, PortableRunTrial, Problem, Trial, TrialResult, get_logger
from skillgauge_run_content import ContentOfRun
from skillgauge_workers import Attempts, Frame, none_admitted, packed, prepared

from .cluster import Cluster, Remote, WorkerInfo
from .options import DaskOptions
from .recovery import Recovery

log = get_logger(__name__)

T = TypeVar("T")


class _Link:
    """The way to a station."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._loop = asyncio.get_running_loop()
        self._received: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._remote: Remote

    async def open(self, address: str) -> None:
        """Start the station.

        Raises:
            PluginError: it cannot be.
        """
        try:
            self._remote = await self._cluster.ask(self._cluster.open(address, self._deliver))
        except EOFError:
            raise PluginError(Problem("executor.worker", "the run is over")) from None

    def send(self, frame: Frame) -> None:
        self._cluster.call(self._remote.post, packed(frame))

    async def receive(self) -> Frame:
        frame = await self._received.get()
        if frame is None:
            raise EOFError
        return frame

    async def end(self, grace_s: float) -> str:
        try:
            return await self._cluster.ask(self._remote.end(grace_s))
        except EOFError:
            return "is gone with the connection to its cluster"

    def _deliver(self, frame: Frame | None) -> None:
        """Called in the cluster's thread."""
        self._loop.call_soon_threadsafe(self._received.put_nowait, frame)


@dataclass(eq=False)
class _Member:
    """A worker that makes attempts, or is being made ready to."""

    info: WorkerInfo
    places: int
    attempts: Attempts | None = None
    under_way: int = 0
    in_use: dict[str, float] = field(default_factory=dict)

    def could(self, needs: Mapping[str, float]) -> bool:
        """Tell whether it is ready and has what an attempt needs, be it in use or not."""
        has_all = all(self.info.resources.get(name, 0.0) >= amount for name, amount in needs.items())
        return has_all and self.attempts is not None

    def can(self, needs: Mapping[str, float]) -> bool:
        """Tell whether it could make an attempt now."""
        if not self.could(needs):
            return False
        has_left = all(self.info.resources[name] - self.in_use.get(name, 0.0) >= needs[name] for name in needs)
        return has_left and self.under_way < self.places

    def take(self, needs: Mapping[str, float], sign: int = 1) -> None:
        """Count an attempt, or with a sign of -1 its end."""
        self.under_way += sign
        for name, amount in needs.items():
            self.in_use[name] = self.in_use.get(name, 0.0) + sign * amount


class Pool:
    """Hands attempts to the workers of a cluster, each to the one with the most places left.

    Workers that come later are used, and those that go are forgotten. One that cannot prepare the run gets nothing.

    Args:
        run: what attempts are made of.
        options: say which cluster, and what an attempt takes of it.
    """

    def __init__(self, run: PortableRunTrial, options: DaskOptions) -> None:
        self._run = run
        self._options = options
        self._loop = asyncio.get_running_loop()
        self._files = ContentOfRun(run.files()) if options.travels else None
        self._changed = asyncio.Condition()
        self._members: dict[str, _Member] = {}
        self._refused: dict[str, PluginError] = {}
        self._joining: set[asyncio.Task[None]] = set()
        self._drawn = 0
        self._has_begun = False
        self.is_stopped = False
        self.was_cut_short = False
        """Whether trials were left that nobody has drawn."""
        self.trouble: asyncio.Future[None] = self._loop.create_future()
        """Has an exception once the run cannot go on: a `PluginError`."""
        workers = min(options.workers or os.cpu_count() or 1, run.concurrency)
        threads = options.places or -(-run.concurrency // workers)
        self._recovery = Recovery(run)
        self._cluster = Cluster(
            options,
            f"skillgauge-{uuid4().hex}",
            (workers, threads),
            self._recovery,
            lambda found: self._loop.call_soon_threadsafe(self._see, found),
            lambda error: self._loop.call_soon_threadsafe(self._give_up, error),
        )

    def start(self) -> None:
        """Connect to the cluster."""
        self._cluster.start()

    async def drawn(self, trials: AsyncIterator[Trial]) -> AsyncIterator[Trial]:
        """Yield trials as there are places for them: those that nobody could begin are not claimed."""
        while True:
            await self._until(lambda: self.is_stopped or self._drawn < self._places, {})
            if self.is_stopped:
                self.was_cut_short = True
                return
            self._drawn += 1
            try:
                trial = await anext(trials)
            except StopAsyncIteration:
                return
            await self._recovery.hand_in(trial, self._cluster.ask)
            yield trial

    async def finished(self) -> None:
        """Take note that a trial that was drawn has its result, or has none."""
        self._drawn -= 1
        await self._notify()

    async def attempt(self, trial: Trial) -> TrialResult | Failure:
        """Have one attempt made; a worker that dies over it is a failure that another attempt may help."""
        needs = self._needs(trial)
        member = await self._free(needs)
        assert member.attempts is not None  # it can make one
        try:
            answer = await member.attempts.make(trial)
        finally:
            member.take(needs, -1)
            await self._notify()
        if isinstance(answer, Failure) and answer.retryable:
            await self._recovery.rescue(trial, self._cluster.ask)
        return answer

    def stop(self) -> None:
        """Draw no more trials."""
        self.is_stopped = True
        self._noticing = self._loop.create_task(self._notify())

    async def close(self) -> None:
        """End what runs at workers, and the connection to the cluster."""
        self.is_stopped = True
        ready = [one.attempts for one in self._members.values() if one.attempts]
        for joining in self._joining:
            joining.cancel()
        await asyncio.gather(*self._joining, *(attempts.close() for attempts in ready), return_exceptions=True)
        await self._cluster.close()
        if not self.trouble.cancel():
            self.trouble.exception()  # it was raised, or came after the end

    @property
    def _places(self) -> int:
        return sum(one.places for one in self._members.values() if one.attempts)

    def _needs(self, trial: Trial) -> dict[str, float]:
        needs = dict(self._options.resources)
        for name, amount in self._options.engine_resources.get(trial.runner.name, {}).items():
            needs[name] = needs.get(name, 0.0) + amount
        return needs

    async def _free(self, needs: Mapping[str, float]) -> _Member:
        """Wait for a worker that can make an attempt, and count it there."""

        def able() -> list[_Member]:
            return [one for one in self._members.values() if one.can(needs)]

        member = max(await self._until(able, needs), key=lambda one: one.places - one.under_way)
        member.take(needs)
        return member

    async def _until(self, holds: Callable[[], T], needs: Mapping[str, float]) -> T:
        """Wait for something; the run ends if for long no worker could help, even if it had nothing else to do."""
        since = self._loop.time()
        async with self._changed:
            while not (value := holds()):
                if any(one.could(needs) for one in self._members.values()):
                    since = self._loop.time()
                remaining_s = since + self._options.wait_s - self._loop.time()
                if remaining_s <= 0:
                    self._give_up(self._nobody(needs))
                # Not `asyncio.wait_for`, which forgets a cancellation that comes with a notice (Python 3.11).
                with suppress(TimeoutError):
                    async with asyncio.timeout(remaining_s if remaining_s > 0 else None):
                        await self._changed.wait()
            return value

    def _nobody(self, needs: Mapping[str, float]) -> PluginError:
        needed = ", ".join(f"{name}={amount:g}" for name, amount in needs.items())
        announced = " ".join(f"--resource {name}={amount:g}" for name, amount in needs.items())
        message = f"no worker could make an attempt for {self._options.wait_s:g} s"
        hint = "Start one with `skillgauge worker`, or raise executors.dask.wait_s."
        if self._members:
            message = f"no worker announces {needed}, which an attempt takes"
            hint = f"Start one that does: `skillgauge worker`, with {announced}."
        refusals = [problem for error in self._refused.values() for problem in error.problems]
        return PluginError([Problem("executor.no-worker", message, hint=hint), *refusals])

    def _give_up(self, error: PluginError) -> None:
        if not self.trouble.done():
            self.trouble.set_exception(error)

    def _see(self, workers: list[WorkerInfo]) -> None:
        """Take note of the workers that there are, and prepare the run at those that are new."""
        if self.is_stopped:
            return  # those that have ended would be begun again
        present = {one.address for one in workers}
        self._refused = {address: error for address, error in self._refused.items() if address in present}
        for info in workers:
            if info.address not in self._members and info.address not in self._refused:
                member = self._members[info.address] = _Member(info, self._options.places or info.threads)
                joining = self._loop.create_task(self._join(member))
                self._joining.add(joining)
                joining.add_done_callback(self._joining.discard)

    async def _join(self, member: _Member) -> None:
        """Have a worker as long as it lives."""
        address = member.info.address
        try:
            link = _Link(self._cluster)
            await link.open(address)
            share = min(member.places, self._run.concurrency)
            member.attempts = await prepared(link, self._run, share, self._files, member.info.name)
            self._has_begun = True
            log.info("worker.ready", worker=address, places=member.places)
            await self._notify()
            log.info("worker.gone", worker=address, reason=await member.attempts.gone())
        except PluginError as error:
            self._refused[address] = error
            if len(self._members) == 1 and not self._has_begun:
                self._give_up(none_admitted(self._refused.values()))  # which tells all reasons
            else:
                log.warning("worker.refused", worker=address, reason="; ".join(one.message for one in error.problems))
        finally:
            del self._members[address]

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()
