"""From what a process did to an execution: the same words for a process per call and for a worker."""

from __future__ import annotations

import re

from skillgauge.api import Blame, Execution, Failure, FailureClass, Finished, LaunchError

from .wire import Answer

OUTPUT_BYTES = 5 * 1024 * 1024
"""Bytes kept of stdout and of stderr unless the suite sets another limit."""
EXCERPT_BYTES = 8000
"""Of which an excerpt is made."""
_EXCERPT = 2000
_SAID = 300
_WITHOUT = re.compile(
    rb"ModuleNotFoundError: No module named '([\w.]{1,100})'|Cannot find (?:module|package) '([^']{1,100})'"
)
"""The words of Python and of Node."""


def failed(failure_class: FailureClass, message: str, *, retryable: bool = True) -> Failure:
    """A failure of the skill."""
    return Failure(failure_class=failure_class, blame=Blame.TARGET, message=message, retryable=retryable)


def rejected(answer: Answer) -> Failure | None:
    """The failure that an answer reports."""
    if answer.error is None:
        return None
    return failed(FailureClass.REJECTED, answer.error, retryable=answer.retryable)


def timed_out(timeout_s: float | None, words: str) -> Failure:
    """It took longer than its limit."""
    limit = "its limit" if timeout_s is None else f"{timeout_s:g} s"
    return failed(FailureClass.TIMEOUT, f"no answer within {limit}{_detail(words)}")


def crashed(finished: Finished, words: str) -> Failure | None:
    """The failure that the way a process ended is by itself."""
    if finished.sandbox_failure:
        return Failure.of_agent(FailureClass.KILLED, finished.sandbox_failure)
    if finished.signal is not None:
        return failed(FailureClass.CRASH, f"the process was killed by signal {finished.signal}{_detail(words)}")
    if finished.exit_code != 0:
        hint = without_module(finished.stderr)
        return failed(FailureClass.CRASH, f"the process exited with code {finished.exit_code}{_detail(words)}{hint}")
    return None


def without_module(stderr: bytes) -> str:
    """Say what is to be done where a program lacks a module: an image, above all, has seldom all that a machine has."""
    match = _WITHOUT.search(stderr[-EXCERPT_BYTES:])
    if match is None:
        return ""
    name = (match[1] or match[2]).decode("utf-8", "replace")
    return f" (where it runs there is no module {name!r}: add it there, or to the image of the sandbox)"


def not_launched(error: LaunchError, tier: str) -> Execution:
    """No process could be started, which is not the skill's fault."""
    failure = Failure(failure_class=FailureClass.LAUNCH, blame=Blame.INFRASTRUCTURE, message=str(error))
    return Execution(failure=failure, sandbox=tier)


def left_behind(finished: Finished) -> tuple[str, ...]:
    """A note, if there was something to be ended besides the process itself."""
    return ("processes that it left behind were ended",) if finished.left_behind else ()


def excerpt(output: bytes | bytearray) -> str:
    """The beginning of a stream."""
    return _shortened(output[:EXCERPT_BYTES], _EXCERPT)


def first_words(stderr: bytes) -> str:
    """Read the answer of a process that got one request."""
    return _shortened(stderr[: 4 * _SAID], _SAID)


def last_words(stderr: bytes) -> str:
    """Read the answer of a process that got many requests to the last one."""
    return stderr[-4 * _SAID :].decode("utf-8", "replace").strip()[-_SAID:]


def _shortened(output: bytes | bytearray, limit: int) -> str:
    text = output.decode("utf-8", "replace").strip()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _detail(said: str) -> str:
    return f": {said}" if said else ""
