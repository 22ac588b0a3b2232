"""One run of a program: its stream read as it comes, its end put together with what the stream told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from signal import Signals

from skillgauge.api import (
    LONGEST_PAUSE_S,
    Blame,
    Command,
    Emit,
    EventKind,
    Execution,
    Failure,
    FailureClass,
    Finished,
    LaunchError,
    Running,
    TrajectoryEvent,
    Usage,
    Workspace,
)

from .accounts import Account, Ending, Transcript
from .failures import asked_pause, failed, ran_out
from .json_lines import bounded_text, parse_line
from .raw import RawStream

LINE_BYTES = 16 * 1024 * 1024
"""Of a longer line only the beginning is read, which is no JSON then."""
STDERR_CHARACTERS = 64 * 1024
_SIGNALLED = 128
_LOOK_S = 0.5
"""How often the pause that a model API asks for is looked at."""
_WHILE_PAUSED = frozenset(
    {
        FailureClass.RATE_LIMITED,
        FailureClass.OVERLOADED,
        FailureClass.SERVER,
        FailureClass.NETWORK,
        FailureClass.TIMEOUT,
    }
)
"""The ways in which programs fail whose model API asks for a pause."""


@dataclass(frozen=True)
class Ran:
    """The output of the process."""

    finished: Finished
    raw: RawStream
    records: int
    """Lines that were JSON objects."""
    noise: int
    """Lines that were not."""
    hopeless: Failure | None = None
    """Why it was stopped before its end, if it was."""
    silent_s: float = 0.0
    """How long at its end the agent neither said nor did anything; what the program itself says does not count."""


async def follow(workspace: Workspace, command: Command, transcript: Transcript, emit: Emit, raw: RawStream) -> Ran:
    """Run a program and read its stream to the end. Cancelling ends the program.

    Raises:
        LaunchError: it cannot be started.
    """
    running = await workspace.start(command)
    records = noise = 0
    last_event = time.monotonic()
    calls = set[str | None]()
    try:
        async with _ended_by_long_pause(running, workspace, calls) as pauses:
            async for line in running.lines():
                if not line.strip():
                    continue
                raw.add(line)
                record = parse_line(line)
                if record is None:
                    noise += 1
                    continue
                records += 1
                for event in transcript.read(record):
                    emit(event)
                    _follow_call(event, calls)
                    if event.kind is not EventKind.NOTICE:
                        last_event = time.monotonic()
                if transcript.hopeless:
                    break
        hopeless = next(iter(pauses), transcript.hopeless)
        finished = await (running.stop() if hopeless else running.wait())
    finally:
        await running.stop()  # an ended process is left as it is
    return Ran(finished, raw, records, noise, hopeless, time.monotonic() - last_event)


def _follow_call(event: TrajectoryEvent, calls: set[str | None]) -> None:
    """Keep the calls of tools that are under way up to date."""
    if event.kind is EventKind.TOOL_CALL:
        calls.add(event.call_id)
    elif event.kind is EventKind.TOOL_RESULT:
        calls.discard(event.call_id)


@asynccontextmanager
async def _ended_by_long_pause(
    running: Running, workspace: Workspace, calls: Collection[str | None]
) -> AsyncIterator[list[Failure]]:
    """End a program whose model API asks for a pause that is not granted: some would sleep until their time is up.

    Args:
        running: the program.
        workspace: where it runs.
        calls: those of tools that are under way now; meanwhile the program has something else to do than to wait.

    Yields:
        The failure, once it has come to that.
    """
    pauses: list[Failure] = []

    async def watch() -> None:
        while not pauses:
            await asyncio.sleep(_LOOK_S)
            pause = None if calls else asked_pause(workspace)
            if pause and (pause.retry_after_s or 0) > LONGEST_PAUSE_S:
                pauses.append(pause)
        await running.stop()

    watching = asyncio.create_task(watch())
    try:
        yield pauses
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


def with_pause(execution: Execution, workspace: Workspace) -> Execution:
    """Return the execution with the pause that the model API asked for as its failure, if that is why it failed."""
    failure, pause = execution.failure, asked_pause(workspace)
    if failure is None or pause is None or failure.failure_class not in _WHILE_PAUSED:
        return execution
    words = f"{pause.message}; the program: {failure.message}" if failure.message != pause.message else pause.message
    return execution.model_copy(update={"failure": pause.model_copy(update={"message": words})})


def not_started(error: LaunchError, tier: str) -> Execution:
    """The execution of a session that never began."""
    return Execution(failure=failed(FailureClass.LAUNCH, str(error)), sandbox=tier)


def ending_of(finished: Finished) -> Ending:
    """Return the end of a program, as a transcript wants to know it."""
    stderr = finished.stderr.decode("utf-8", "replace")
    return Ending(finished.exit_code, stderr, finished.timed_out)


def execution_of(ran: Ran, account: Account, tier: str) -> Execution:
    """Everything that is known of a session."""
    finished, failure = ran.finished, failure_of(ran, account)
    trajectory = account.trajectory.model_copy(update={"raw": ran.raw.text() or None})
    stderr = finished.stderr.decode("utf-8", "replace")
    return Execution(
        text=None if failure else account.text,
        exit_code=finished.exit_code,
        stderr=bounded_text(stderr, STDERR_CHARACTERS),
        truncated=bool(ran.raw.lines_left_out or finished.stderr_dropped),
        trajectory=trajectory,
        usage=account.usage,
        duration_s=finished.duration_s,
        failure=failure,
        sandbox=tier,
        notes=(*account.notes, *_notes(ran, account)),
    )


def failure_of(ran: Ran, account: Account) -> Failure | None:
    """Return the failure of a session: the program's own words come first, a missing end is a failure of its own.

    A program that hangs after the end that it told has done its work. An answer without a word, to which no work
    belongs, is none.
    """
    finished = ran.finished
    if ran.hopeless:
        return ran.hopeless
    if finished.sandbox_failure:
        return Failure.of_agent(FailureClass.KILLED, finished.sandbox_failure)
    if account.failure:
        return account.failure
    if account.is_over:
        return failed(FailureClass.PROTOCOL, "the answer is empty") if account.is_empty else None
    if finished.timed_out:
        return ran_out(finished.duration_s, ran.silent_s, awaits_model=account.awaits_model)
    return _without_end(ran, account)


def _without_end(ran: Ran, account: Account) -> Failure:
    """Return why a program ended by itself before it told the session's end."""
    finished = ran.finished
    last_line = finished.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    reason = f": {last_line}" if last_line else ""
    signal = finished.signal or max(0, (finished.exit_code or 0) - _SIGNALLED)
    if signal:
        return _ended(FailureClass.KILLED, f"ended by {_signal_name(signal)} before its end{reason}", account)
    if finished.exit_code and not ran.records:
        return failed(FailureClass.LAUNCH, f"exit code {finished.exit_code} without an event{reason}")
    kind = FailureClass.CRASH if finished.exit_code else FailureClass.PROTOCOL
    return _ended(kind, f"exit code {finished.exit_code} without telling the session's end{reason}", account)


def _ended(kind: FailureClass, message: str, account: Account) -> Failure:
    """The failure of a program that ended too early.

    An agent that has run something can have ended it, and is blamed: else whoever cannot do a task leaves the rate.
    """
    failure = failed(kind, message)
    acted = any(event.kind is EventKind.TOOL_CALL for event in account.trajectory.events)
    return failure.model_copy(update={"blame": Blame.TARGET, "retryable": False}) if acted else failure


def _signal_name(number: int) -> str:
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"


def _notes(ran: Ran, account: Account) -> list[str]:
    notes = []
    if ran.noise:
        notes.append(f"{ran.noise} lines of the program's output were no events")
    if ran.raw.lines_left_out:
        notes.append(f"{ran.raw.lines_left_out} lines in the middle of the program's stream were not kept")
    if ran.finished.left_behind:
        notes.append("processes that the agent left behind were ended")
    if ran.finished.timed_out and account.is_over:
        notes.append("the program did not exit after the end of its session and was ended")
    return notes


def cleaned_emit(emit: Emit, clean: Callable[[TrajectoryEvent | Usage], TrajectoryEvent | Usage]) -> Emit:
    """Pass events on without secrets."""
    return lambda event: emit(clean(event))
