"""One process per call."""

from __future__ import annotations

import os
import shlex
import shutil
from importlib.metadata import version
from pathlib import Path

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
    Target,
    Workspace,
    host_environment,
)

from .wire import NoAnswer, find_answer, request

OUTPUT_BYTES = 5 * 1024 * 1024
"""Bytes kept of stdout and of stderr unless the suite sets another limit."""
_EXCERPT = 2000


def command_line(target: Target) -> tuple[str, ...]:
    """The words of a target's command: `command` and `args` of its configuration, else its entrypoint.

    Raises:
        ValueError: a quotation is not closed, or there is no command.
    """
    command = target.config.get("command")
    words = shlex.split(str(command)) if command else shlex.split(target.entrypoint or "")
    arguments = target.config.get("args")
    if command and isinstance(arguments, tuple):
        words.extend(str(argument) for argument in arguments)
    if not words:
        raise ValueError("the entrypoint is empty")
    return tuple(words)


class SubprocessAdapter:
    """Calls skills as processes."""

    async def check(self) -> tuple[Problem, ...]:
        """Nothing but the target can be missing."""
        return ()

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        """Whether there is a command and its program exists."""
        try:
            words = command_line(target)
        except ValueError as error:
            return (
                _problem(target, f"entrypoint {target.entrypoint!r}: {error}", "Write it as a shell command line."),
            )
        program = words[0]
        root = Path(target.root or ".")
        found = (root / program).exists() if os.sep in program else shutil.which(program, path=_search_path())
        if found:
            return ()
        return (
            _problem(
                target,
                f"program {program!r} of skill {target.id!r} is not there",
                "Install it, or name another in `entrypoint`.",
            ),
        )

    def identity(self, target: Target) -> Identity:
        """The adapter's version and the command; incomplete, since the program's own version is not known."""
        return Identity(
            name="subprocess",
            version=version("skillgauge-adapter-subprocess"),
            settings={"command": command_line(target)},
            complete=False,
        )

    async def open(self, target: Target, workspace: Workspace) -> SubprocessSession:
        """Nothing is started before the first call."""
        return SubprocessSession(target, workspace)


def _search_path() -> str | None:
    return host_environment().get("PATH")


def _problem(target: Target, message: str, hint: str) -> Problem:
    return Problem("adapter.entrypoint", message, origin=target.origin_of("entrypoint"), hint=hint)


class SubprocessSession:
    """Starts one process per call in the skill's folder."""

    def __init__(self, target: Target, workspace: Workspace) -> None:
        self._argv = command_line(target)
        self._root = target.root
        self._workspace = workspace

    async def call(self, request_: CallRequest) -> Execution:
        """Send the input to a new process and read its answer."""
        command = Command(
            argv=self._argv,
            cwd=self._root,
            env=request_.env,
            stdin=request(request_.input),
            timeout_s=request_.limits.timeout_s,
            output_bytes=request_.limits.output_bytes or OUTPUT_BYTES,
        )
        try:
            running = await self._workspace.start(command)
        except LaunchError as error:
            failure = Failure(failure_class=FailureClass.LAUNCH, blame=Blame.INFRASTRUCTURE, message=str(error))
            return Execution(failure=failure, sandbox=self._workspace.tier)
        return _execution(await running.wait(), request_.limits.timeout_s, self._workspace.tier)

    async def close(self) -> None:
        """Nothing outlives a call."""


def _execution(finished: Finished, timeout_s: float | None, tier: str) -> Execution:
    notes = ("processes that it left behind were ended",) if finished.left_behind else ()
    failure = _ended_badly(finished, timeout_s)
    output = None
    if failure is None:
        try:
            answer = find_answer(finished.stdout)
        except NoAnswer as why:
            cut = f" (stdout exceeded its limit; {finished.stdout_dropped} bytes were dropped)"
            message = f"{why}{cut if finished.stdout_dropped else ''}"
            failure = _failure(FailureClass.PROTOCOL, message, retryable=True)
        else:
            if answer.error is not None:
                failure = _failure(FailureClass.REJECTED, answer.error, retryable=answer.retryable)
            output = answer.result
    return Execution(
        output=output,
        exit_code=finished.exit_code,
        stdout=_excerpt(finished.stdout) if failure else None,
        stderr=_excerpt(finished.stderr) or None,
        truncated=bool(finished.stdout_dropped or finished.stderr_dropped),
        duration_s=finished.duration_s,
        failure=failure,
        sandbox=tier,
        notes=notes,
    )


def _ended_badly(finished: Finished, timeout_s: float | None) -> Failure | None:
    said = _excerpt(finished.stderr, 300)
    detail = f": {said}" if said else ""
    if finished.timed_out:
        return _failure(FailureClass.TIMEOUT, f"no answer within {timeout_s:g} s{detail}", retryable=True)
    if finished.signal is not None:
        return _failure(
            FailureClass.CRASH, f"the process was killed by signal {finished.signal}{detail}", retryable=True
        )
    if finished.exit_code != 0:
        return _failure(
            FailureClass.CRASH, f"the process exited with code {finished.exit_code}{detail}", retryable=True
        )
    return None


def _failure(failure_class: FailureClass, message: str, *, retryable: bool) -> Failure:
    return Failure(failure_class=failure_class, blame=Blame.TARGET, message=message, retryable=retryable)


def _excerpt(output: bytes, limit: int = _EXCERPT) -> str:
    text = output[: 4 * limit].decode("utf-8", "replace").strip()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
