"""Frames, worker processes and the attempts that they make."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge.api import (
    Blame,
    EventKind,
    Failure,
    FailureClass,
    GivenUp,
    KeptExecution,
    PluginError,
    RunFiles,
    RunTrial,
    TrajectoryEvent,
    Trial,
    TrialResult,
)
from skillgauge_testkit.contract import samples
from skillgauge_workers import (
    Attempts,
    Frame,
    Kind,
    WorkerProcess,
    attempts,
    packed,
    prepared,
    receive,
    send,
    start_worker,
    unpacked,
)

FRAMES = [Frame(Kind.READY), Frame(Kind.ATTEMPT, 2**40, b"{}"), Frame(Kind.RESULT, 7, bytes(range(256)) * 300)]


def test_frames_in_a_row() -> None:
    """What is packed one after the other comes out as it was."""
    assert list(unpacked(b"".join(map(packed, FRAMES)))) == FRAMES


def test_frames_over_a_stream() -> None:
    """They are read whole, in whichever parts they come, and the end of a stream is told."""

    async def read() -> list[Frame]:
        reader = asyncio.StreamReader()
        content = b"".join(map(packed, FRAMES))
        for at in range(0, len(content), 1000):
            reader.feed_data(content[at : at + 1000])
        reader.feed_eof()
        found = [await receive(reader) for _ in FRAMES]
        with pytest.raises(EOFError):
            await receive(reader)
        return found

    assert asyncio.run(read()) == FRAMES


class Scripted:
    """A link to a worker that is a function: it takes what is sent, and gives what comes; `None` is the end."""

    def __init__(self, answer: Callable[[Frame], list[Frame | None]]) -> None:
        self._answer = answer
        self._received: asyncio.Queue[Frame | None] = asyncio.Queue()
        self.sent: list[Kind] = []
        self.grace_s: list[float] = []

    def send(self, frame: Frame) -> None:
        """Answer at once."""
        self.sent.append(frame.kind)
        for one in self._answer(frame):
            self._received.put_nowait(one)

    async def receive(self) -> Frame:
        """The next answer."""
        frame = await self._received.get()
        if frame is None:
            raise EOFError
        return frame

    async def end(self, grace_s: float) -> str:
        """Note how much time it is given."""
        self.grace_s.append(grace_s)
        self._received.put_nowait(None)
        return "ended with signal 9"


class Run:
    """A run that notes what it is told."""

    concurrency = 1
    recipe = b"recipe"

    def __init__(self) -> None:
        self.finished: KeptExecution | None = None
        self.steps: list[str] = []
        self.spending: list[GivenUp] = []

    def files(self) -> RunFiles:
        """It has none."""
        return RunFiles({})

    def elsewhere(self, _attempt: object) -> RunTrial:
        """Is never called."""
        raise NotImplementedError

    def spent(self, _trial_id: str, attempt: GivenUp) -> None:
        """Note it."""
        self.spending.append(attempt)

    def step(self, trial: Trial, event: TrajectoryEvent) -> None:
        """Note it, with its trial."""
        self.steps.append(f"{trial.trial_id}: {event.text}")

    async def keep(self, kept: KeptExecution) -> None:
        """Take it."""
        self.finished = kept

    async def kept(self, _trial: Trial) -> KeptExecution | None:
        """Give what was taken."""
        return self.finished


TRIAL, RESULT, KEPT = samples.trial(0), samples.result(0), samples.kept(0, "done")


def answered(number: int) -> Frame:
    """The result of an attempt."""
    return Frame(Kind.RESULT, number, RESULT.model_dump_json().encode())


def attempted(run: Run, answer: Callable[[Frame], list[Frame | None]]) -> tuple[TrialResult | Failure, Scripted]:
    """Have one attempt made by a scripted worker."""

    async def main() -> tuple[TrialResult | Failure, Scripted]:
        link = Scripted(answer)
        attempts = Attempts(link, run)
        try:
            return await attempts.make(TRIAL), link
        finally:
            await attempts.close()

    return asyncio.run(main())


def test_steps_and_spending_reach_the_run() -> None:
    """What an attempt does and uses is told with its trial; what comes for one that is over is dropped."""
    run = Run()
    step = TrajectoryEvent(kind=EventKind.MESSAGE, text="I begin").model_dump_json().encode()
    (used,) = samples.unfinished(0, 1, 5).attempts

    def answer(frame: Frame) -> list[Frame | None]:
        if frame.kind is not Kind.ATTEMPT:
            return []
        over = frame.number + 1
        told = [Frame(Kind.STEP, number, step) for number in (over, frame.number)]
        spent = [Frame(Kind.SPENT, number, used.model_dump_json().encode()) for number in (over, frame.number)]
        return [*told, *spent, answered(over), answered(frame.number)]

    made, _ = attempted(run, answer)
    assert made == RESULT
    assert run.steps == [f"{TRIAL.trial_id}: I begin"]
    assert run.spending == [used]


def test_what_is_kept_is_safe_before_the_worker_is_told_so() -> None:
    """The run has the execution when the worker hears that it may grade it."""
    run = Run()
    had: list[KeptExecution | None] = []

    def answer(frame: Frame) -> list[Frame | None]:
        if frame.kind is Kind.ATTEMPT:
            return [Frame(Kind.KEEP, frame.number, KEPT.model_dump_json().encode())]
        had.append(run.finished)
        return [answered(frame.number)]

    made, link = attempted(run, answer)
    assert (made, link.sent, had) == (RESULT, [Kind.ATTEMPT, Kind.SAFE], [KEPT])


def test_what_was_finished_goes_ahead_of_the_attempt() -> None:
    """A worker is given what an earlier attempt has executed before the trial."""
    run = Run()
    run.finished = KEPT
    _, link = attempted(run, lambda frame: [answered(frame.number)] if frame.kind is Kind.ATTEMPT else [])
    assert link.sent == [Kind.KEPT, Kind.ATTEMPT]


@pytest.mark.parametrize(
    ("answer", "failure", "retryable"),
    [
        (Frame(Kind.FAILED, content=b"KeyError: 'x'"), FailureClass.INTERNAL, False),
        (None, FailureClass.KILLED, True),
    ],
)
def test_an_attempt_without_a_result(answer: Frame | None, failure: FailureClass, retryable: bool) -> None:
    """What went wrong beside it is a failure of no target; the death of its worker, one that others may help."""
    made, _ = attempted(Run(), lambda frame: [answer] if frame.kind is Kind.ATTEMPT else [])
    assert isinstance(made, Failure)
    assert (made.failure_class, made.blame, made.retryable) == (failure, Blame.INFRASTRUCTURE, retryable)
    assert ("ended with signal 9" in made.message) is (answer is None)


def test_a_worker_that_does_not_stop_an_attempt_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who cancels an attempt does not wait for ever for a plugin that blocks its process."""
    monkeypatch.setattr(attempts, "CANCEL_S", 0.05)

    async def main() -> Scripted:
        link = Scripted(lambda _: [])
        making = Attempts(link, Run())
        task = asyncio.create_task(making.make(TRIAL))
        while not link.sent:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        await making.close()
        return link

    link = asyncio.run(main())
    assert link.sent == [Kind.ATTEMPT, Kind.CANCEL]
    assert link.grace_s[0] == 0


def test_a_worker_process_refuses_what_is_no_recipe() -> None:
    """Its reason arrives, and the process has ended."""

    class Socket:
        def __init__(self, process: WorkerProcess) -> None:
            self._process = process

        def send(self, frame: Frame) -> None:
            send(self._process.writer, frame)

        async def receive(self) -> Frame:
            return await receive(self._process.reader)

        async def end(self, grace_s: float) -> str:
            return await self._process.end(grace_s)

    async def main() -> int:
        process = await start_worker(5.0)
        with pytest.raises(PluginError, match=r"worker \S+/\d+: this is no recipe"):
            await prepared(Socket(process), Run(), 1)
        return process.pid

    pid = asyncio.run(main())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_worker_process_runs_in_its_folder_and_ends_with_its_connection(tmp_path: Path) -> None:
    """It needs no signal for that, and leaves the group of the process that started it alone."""

    async def main() -> tuple[Path, int, str]:
        process = await start_worker(30.0, tmp_path)
        folder, group = Path(f"/proc/{process.pid}/cwd").readlink(), os.getpgid(process.pid)
        return folder, group - process.pid, await process.end(30.0)

    assert asyncio.run(main()) == (tmp_path, 0, "ended with exit code 0")
