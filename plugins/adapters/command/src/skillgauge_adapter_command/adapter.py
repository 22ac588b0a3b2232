"""Shell commands as a way to call a target: no protocol, just streams and an exit code."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

from skillgauge.api import (
    Blame,
    CallRequest,
    Command,
    Execution,
    Failure,
    FailureClass,
    Finished,
    Identity,
    LaunchError,
    Problem,
    Session,
    Target,
    Workspace,
    host_environment,
)

from .call import Call, Step

OUTPUT_BYTES = 5 * 1024 * 1024
"""Bytes kept of each stream of a command unless the suite sets another limit."""
SHELL = "sh"


class CommandAdapter:
    """Runs the commands that a case's input names."""

    async def check(self) -> tuple[Problem, ...]:
        """There has to be a shell."""
        if shutil.which(SHELL, path=host_environment().get("PATH")):
            return ()
        hint = "Install a POSIX shell, or put it on PATH."
        return (Problem("adapter.shell", f"there is no {SHELL!r} to run commands with", hint=hint),)

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        """All that is run stands in the cases."""
        return ()

    def identity(self, target: Target) -> Identity:
        """Incomplete: the programs that commands call are not looked at."""
        return Identity(name="command", version=version("skillgauge-adapter-command"), complete=False)

    async def open(self, target: Target, workspace: Workspace) -> Session:
        """Nothing is started before a call."""
        return CommandSession(workspace)


@dataclass
class _Streams:
    """The output of a call's commands, one after another."""

    stdout: bytes = b""
    stderr: bytes = b""
    truncated: bool = False
    left_behind: bool = False

    def add(self, finished: Finished) -> None:
        """Add the output of a further command."""
        self.stdout += finished.stdout
        self.stderr += finished.stderr
        self.truncated |= bool(finished.stdout_dropped or finished.stderr_dropped)
        self.left_behind |= finished.left_behind


class CommandSession:
    """Starts a shell per command in the workspace of the case.

    Args:
        workspace: where they run.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def call(self, request: CallRequest) -> Execution:
        """Run the commands up to the first that does not exit with 0; an exit code is an answer, and no failure."""
        try:
            call = Call.model_validate(request.input)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            message = f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
            failure = _failed(FailureClass.BAD_REQUEST, f"the input names no commands: {message}")
            return Execution(failure=failure, duration_s=0.0, sandbox=self._workspace.tier)
        streams, started, finished = _Streams(), time.monotonic(), None
        for step in call.steps:
            limit = _tighter(step.timeout_s, request.limits.timeout_s, time.monotonic() - started)
            try:
                running = await self._workspace.start(self._command(step, call, request, limit))
            except LaunchError as error:
                failure = Failure.of_agent(FailureClass.LAUNCH, str(error))
                return Execution(failure=failure, sandbox=self._workspace.tier)
            finished = await running.wait()
            streams.add(finished)
            if finished.timed_out or finished.sandbox_failure or finished.exit_code != 0:
                break
        assert finished is not None  # there is one step at least
        return self._execution(finished, streams, time.monotonic() - started, _limit_text(step, request))

    async def close(self) -> None:
        """Nothing outlives a call."""

    def _command(self, step: Step, call: Call, request: CallRequest, limit: float | None) -> Command:
        root = self._workspace.root
        own = {call.root_variable: str(root)} if call.root_variable else {}
        return Command(
            argv=(SHELL, "-c", step.command),
            cwd=str(Path(root, call.cwd)),
            env={"LANG": "C.UTF-8", **own, **request.env},
            stdin=call.stdin.encode("utf-8", "replace"),
            timeout_s=limit,
            output_bytes=request.limits.output_bytes or OUTPUT_BYTES,
        )

    def _execution(self, finished: Finished, streams: _Streams, duration_s: float, limit: str) -> Execution:
        stdout = streams.stdout.decode("utf-8", "replace")
        failure = None
        if finished.timed_out:
            failure = _failed(FailureClass.TIMEOUT, f"timeout after {limit}")
        elif finished.sandbox_failure:
            failure = Failure.of_agent(FailureClass.KILLED, finished.sandbox_failure)
        elif finished.signal is not None:
            failure = _failed(FailureClass.CRASH, f"the command was ended by signal {finished.signal}")
        return Execution(
            output=stdout,
            exit_code=finished.exit_code,
            stdout=stdout,
            stderr=streams.stderr.decode("utf-8", "replace"),
            truncated=streams.truncated,
            duration_s=duration_s,
            failure=failure,
            sandbox=self._workspace.tier,
            notes=("processes that it left behind were ended",) if streams.left_behind else (),
        )


def _failed(failure_class: FailureClass, message: str) -> Failure:
    """A failure of what is called."""
    return Failure(failure_class=failure_class, blame=Blame.TARGET, message=message)


def _tighter(own: float | None, of_call: float | None, used: float) -> float | None:
    """Seconds that a command has: its own limit, or what is left of the call's."""
    remaining = None if of_call is None else max(0.001, of_call - used)
    return min((limit for limit in (own, remaining) if limit is not None), default=None)


def _limit_text(step: Step, request: CallRequest) -> str:
    limits = [limit for limit in (step.timeout_s, request.limits.timeout_s) if limit is not None]
    return f"{min(limits):g} s" if limits else "its limit"
