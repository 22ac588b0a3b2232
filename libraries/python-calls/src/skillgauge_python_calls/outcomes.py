"""From what a child process said, or how it ended, to an execution: whatever the user's code does is its own doing."""

from __future__ import annotations

from skillgauge.api import Blame, Execution, Failure, FailureClass, LaunchError

from .worker import End, Reply

_EXCERPT = 2000
_IN_MESSAGE = 300


class FailedError(Exception):
    """There is no process to ask; carries the failure and what is known beside it."""

    def __init__(self, failure: Failure, stderr: str = "", exit_code: int | None = None) -> None:
        self.failure = failure
        self.stderr = stderr
        self.exit_code = exit_code
        super().__init__(failure.message)

    def execution(self, duration_s: float, tier: str) -> Execution:
        """The execution of which that is the failure."""
        is_started = self.failure.failure_class is not FailureClass.LAUNCH
        return Execution(
            exit_code=self.exit_code,
            stderr=self.stderr[-_EXCERPT:] or None,
            duration_s=duration_s if is_started else None,
            failure=self.failure,
            sandbox=tier,
        )


def not_started(error: LaunchError) -> FailedError:
    """The system would not start a process."""
    return FailedError(Failure(failure_class=FailureClass.LAUNCH, blame=Blame.INFRASTRUCTURE, message=str(error)))


def ended(end: End) -> FailedError:
    """The process is gone."""
    if end.sandbox_failure:
        return FailedError(Failure.of_agent(FailureClass.KILLED, end.sandbox_failure), end.said, end.exit_code)
    message = f"the process {end.how}{_hint(end.said)}"
    return FailedError(_failure(FailureClass.CRASH, message, retryable=True), end.said, end.exit_code)


def late(action: str, limit_s: float | None, stderr: str = "") -> FailedError:
    """The process was killed because its time was up; `action` it did not do."""
    message = f"{action} within {limit_s:g} s{_hint(stderr)}"
    return FailedError(_failure(FailureClass.TIMEOUT, message, retryable=True), stderr)


def not_loaded(reply: Reply) -> FailedError:
    """The object could not be had."""
    message = f"cannot be loaded: {reply.raised}"
    return FailedError(_failure(FailureClass.CRASH, message, retryable=False), reply.trace)


def executed(reply: Reply, duration_s: float, tier: str) -> Execution:
    """Make an execution of the outcome of a call."""
    if reply.raised is not None:
        failed = FailedError(_failure(FailureClass.CRASH, reply.raised, retryable=True), reply.trace)
        return failed.execution(duration_s, tier)
    if reply.unusable is not None:
        return FailedError(_failure(FailureClass.PROTOCOL, reply.unusable)).execution(duration_s, tier)
    return Execution(output=reply.result, usage=reply.usage, notes=reply.notes, duration_s=duration_s, sandbox=tier)


def _failure(failure_class: FailureClass, message: str, *, retryable: bool = False) -> Failure:
    return Failure(failure_class=failure_class, blame=Blame.TARGET, message=message, retryable=retryable)


def _hint(stderr: str) -> str:
    """The last words on one line."""
    words = " ".join(stderr[-4 * _IN_MESSAGE :].split())[-_IN_MESSAGE:]
    return f": {words}" if words else ""
