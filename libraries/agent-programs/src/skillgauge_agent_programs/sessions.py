"""One run of a program: its stream read as it comes, its end put together with what the stream told."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from signal import Signals

from skillgauge.api import (
    Blame,
    Command,
    Emit,
    EventKind,
    Execution,
    Failure,
    FailureClass,
    Finished,
    LaunchError,
    TrajectoryEvent,
    Usage,
    Workspace,
)

from .accounts import Account, Ending, Transcript
from .failures import failed, ran_out
from .json_lines import bounded_text, parse_line
from .raw import RawStream

LINE_BYTES = 16 * 1024 * 1024
"""Of a longer line only the beginning is read, which is no JSON then."""
STDERR_CHARACTERS = 64 * 1024
_SIGNALLED = 128


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
    try:
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
                if event.kind is not EventKind.NOTICE:
                    last_event = time.monotonic()
            if transcript.hopeless:
                break
        hopeless = transcript.hopeless
        finished = await (running.stop() if hopeless else running.wait())
    finally:
        await running.stop()  # an ended process is left as it is
    return Ran(finished, raw, records, noise, hopeless, time.monotonic() - last_event)


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
