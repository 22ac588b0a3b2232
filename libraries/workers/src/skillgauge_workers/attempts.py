"""The attempts that one worker process makes, as seen from the process that runs the evaluation."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from skillgauge.api import (
    Blame,
    Failure,
    FailureClass,
    GivenUp,
    KeptExecution,
    PortableRunTrial,
    TrajectoryEvent,
    Trial,
    TrialResult,
    get_logger,
)
from skillgauge_run_content import Content

from .admission import UNPREPARED, Admission, NotAdmittedError, Reason
from .wire import Frame, Kind

log = get_logger(__name__)

CANCEL_S = 5.0
"""How long a worker may take to stop an attempt. One that takes longer is blocked by a plugin, and killed."""
CLOSE_S = 10.0
"""How long a worker may take to end once its connection is closed."""


class Link(Protocol):
    """The way to one worker process, wherever it is."""

    def send(self, frame: Frame) -> None:
        """Send a frame, unless the worker is gone; `receive` notices that by itself."""

    async def receive(self) -> Frame:
        """Return the next frame of the worker.

        Raises:
            EOFError: it is gone.
        """

    async def end(self, grace_s: float) -> str:
        """End the worker and wait for it; kill it after `grace_s` seconds.

        Returns:
            What became of it, as in "ended with signal 9".
        """


async def prepared(
    link: Link, run: PortableRunTrial, share: int, files: Content | None = None, worker: str | None = None
) -> Attempts:
    """Let a worker prepare a run.

    Args:
        link: to the worker, which has done nothing yet.
        run: what it is to make attempts of.
        share: attempts that it gets at once.
        files: of the run, for a worker that has no folder in common with this process.
        worker: its name in messages; `None` is the name that it gives itself.

    Raises:
        NotAdmittedError: for every reason that there is; it has ended.
    """
    try:
        link.send(Frame(Kind.FETCH if files else Kind.PREPARE, share, run.recipe))
        answer = await link.receive()
        while files and answer.kind is Kind.ASK:
            digest = answer.content.decode()
            link.send(Frame(Kind.CONTENT, content=await (files.content(digest) if digest else files.manifest())))
            answer = await link.receive()
        if answer.kind is not Kind.READY:
            admission = Admission.model_validate_json(answer.content)
            raise NotAdmittedError(admission.model_copy(update={"worker": worker}) if worker else admission)
    except BaseException as error:
        ending = await link.end(0 if isinstance(error, asyncio.CancelledError) else CLOSE_S)
        if isinstance(error, EOFError):
            reason = Reason(code=UNPREPARED, message=f"its process {ending} before it had prepared the run")
            raise NotAdmittedError(Admission(worker=worker or "of the run", reasons=(reason,))) from None
        raise
    return Attempts(link, run)


@dataclass
class _UnderWay:
    """An attempt that a worker makes."""

    trial: Trial
    answer: asyncio.Future[Frame] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    is_answered: bool = False

    def take(self, answer: Frame) -> None:
        """Take an answer, of which the first counts."""
        self.is_answered = True
        if not self.answer.done():
            self.answer.set_result(answer)


class Attempts:
    """Has attempts made by a worker that is ready. What it tells of them meanwhile goes to the run.

    Args:
        link: to the worker.
        run: takes what attempts have used and done, and keeps executions.
    """

    def __init__(self, link: Link, run: PortableRunTrial) -> None:
        self._link = link
        self._run = run
        self._numbers = count()
        self._under_way: dict[int, _UnderWay] = {}
        self._keeping: set[asyncio.Task[None]] = set()
        self._listening = asyncio.create_task(self._listen())
        self._ending = ""
        self.lives = True
        """False once the worker is known to be gone."""

    async def make(self, trial: Trial) -> TrialResult | Failure:
        """Have one attempt made; the death of the worker is a failure that another attempt may help.

        Cancelled, it ends when the attempt has stopped.
        """
        number = next(self._numbers)
        if kept := await self._run.kept(trial):
            self._link.send(Frame(Kind.KEPT, number, await asyncio.to_thread(_json, kept)))
        under_way = self._under_way[number] = _UnderWay(trial)
        try:
            if self._listening.done():
                self._lose()
            self._link.send(Frame(Kind.ATTEMPT, number, trial.model_dump_json().encode()))
            answer = await under_way.answer
        except asyncio.CancelledError:
            if not under_way.is_answered:
                await self._cancel(number, under_way)
            raise
        finally:
            del self._under_way[number]
        if answer.kind is Kind.RESULT:
            return TrialResult.model_validate_json(answer.content)
        died = answer.kind is Kind.CANCELLED
        kind = FailureClass.KILLED if died else FailureClass.INTERNAL
        return Failure(failure_class=kind, blame=Blame.INFRASTRUCTURE, message=answer.content.decode(), retryable=died)

    async def close(self) -> None:
        """End the worker, and what it has under way."""
        await self._link.end(CLOSE_S)
        await self._listening
        await asyncio.gather(*self._keeping, return_exceptions=True)

    async def gone(self) -> str:
        """Wait for the end of the worker; return what became of it."""
        await asyncio.shield(self._listening)
        return self._ending

    async def _cancel(self, number: int, under_way: _UnderWay) -> None:
        """Wait until an attempt has stopped; kill a worker that does not stop it."""
        under_way.answer = asyncio.get_running_loop().create_future()
        if self._listening.done():
            return
        self._link.send(Frame(Kind.CANCEL, number))
        try:
            await asyncio.wait_for(under_way.answer, CANCEL_S)
        except TimeoutError:
            log.warning("worker.blocked")
            await self._link.end(0)

    async def _listen(self) -> None:
        try:
            while True:
                self._hear(await self._link.receive())
        except EOFError:
            self.lives = False
            self._ending = await self._link.end(CLOSE_S)
            self._lose()

    def _hear(self, frame: Frame) -> None:
        under_way = self._under_way.get(frame.number)
        if under_way is None:
            return
        if frame.kind in _ANSWERS:
            under_way.take(frame)
        else:
            self._tell(frame, under_way.trial)

    def _tell(self, frame: Frame, trial: Trial) -> None:
        if frame.kind is Kind.SPENT:
            self._run.spent(trial.trial_id, GivenUp.model_validate_json(frame.content))
        elif frame.kind is Kind.STEP:
            self._run.step(trial, TrajectoryEvent.model_validate_json(frame.content))
        elif frame.kind is Kind.KEEP:
            keeping = asyncio.create_task(self._keep(frame))
            self._keeping.add(keeping)
            keeping.add_done_callback(self._keeping.discard)

    async def _keep(self, frame: Frame) -> None:
        await self._run.keep(await asyncio.to_thread(KeptExecution.model_validate_json, frame.content))
        self._link.send(Frame(Kind.SAFE, frame.number))

    def _lose(self) -> None:
        """Give everybody who waits for the worker an answer in its place."""
        ending = f"the worker process that made the attempt {self._ending}".encode()
        for number, under_way in self._under_way.items():
            under_way.take(Frame(Kind.CANCELLED, number, ending))


_ANSWERS = (Kind.RESULT, Kind.FAILED, Kind.CANCELLED)


def _json(kept: KeptExecution) -> bytes:
    return kept.model_dump_json().encode()
