"""The reasons why a session did not come to its end: from a program's words to a class, a blame, and a retry."""

from __future__ import annotations

from collections.abc import Mapping

from skillgauge.api import Blame, Failure, FailureClass, Workspace

from .json_lines import bounded_text

_MESSAGE_CHARACTERS = 1_000
_BAD_GATEWAY, _UNREACHED = 502, "relay: the API cannot be reached"
"""What the relay of a sandbox answers in place of an API that does not accept connections."""
_LIMITS = frozenset({FailureClass.TIMEOUT, FailureClass.MAX_TURNS})
_RETRYABLE = frozenset({FailureClass.RATE_LIMITED, FailureClass.OVERLOADED, FailureClass.SERVER, FailureClass.NETWORK})
_STATUSES: Mapping[int, FailureClass] = {
    401: FailureClass.AUTH,
    402: FailureClass.BUDGET,
    403: FailureClass.AUTH,
    404: FailureClass.MODEL_NOT_FOUND,
    413: FailureClass.CONTEXT_TOO_LONG,
    429: FailureClass.RATE_LIMITED,
    503: FailureClass.OVERLOADED,
    529: FailureClass.OVERLOADED,
}
_SIGNS: tuple[tuple[FailureClass, tuple[str, ...]], ...] = (
    (FailureClass.REFUSED, ("content filter", "content_filter", "content management policy")),
    (FailureClass.BUDGET, ("credit balance", "insufficient_quota", "exceeded your current quota", "out of credits")),
    (
        FailureClass.CONTEXT_TOO_LONG,
        ("prompt is too long", "context_length_exceeded", "context window", "context length"),
    ),
    (FailureClass.AUTH, ("not logged in", "invalid api key", "missing environment variable", "please log in")),
    (FailureClass.RATE_LIMITED, ("usage limit", "rate limit", "too many requests")),
    (FailureClass.OVERLOADED, ("overloaded",)),
    (FailureClass.PROTOCOL, ("malformed response", "json parse error")),
    (
        FailureClass.NETWORK,
        ("econn", "enotfound", "etimedout", "connection", "stream disconnected", "network", "error sending request"),
    ),
)

_WHOLE: Mapping[str, FailureClass] = {"terminated": FailureClass.NETWORK}
"""Messages that mean something only if there is nothing else in them: Node says so of a body that broke off."""


def failed(kind: FailureClass, message: str, *, retry_after_s: float | None = None) -> Failure:
    """A failure of a session.

    Running out of time or turns is the agent's own limit, which the suite's format judges. Everything else is
    infrastructure, so that no skill is blamed for it.

    Args:
        kind: its class.
        message: what the program said.
        retry_after_s: seconds to wait, if the service asked for a pause.
    """
    return Failure(
        failure_class=kind,
        blame=Blame.AGENT_LIMIT if kind in _LIMITS else Blame.INFRASTRUCTURE,
        message=bounded_text(" ".join(message.split()), _MESSAGE_CHARACTERS) or str(kind),
        retryable=kind in _RETRYABLE,
        retry_after_s=retry_after_s if kind in _RETRYABLE else None,
    )


def ran_out(duration_s: float, silent_s: float, *, awaits_model: bool) -> Failure:
    """The failure of a session that was ended because its time was up.

    Whoever waits for the model for more than half of that time has been let down by its service: the agent had no part
    in it. In any other case the limit is the agent's.

    Args:
        duration_s: how long the session took.
        silent_s: how long at its end nothing came from the agent.
        awaits_model: whether it was the model's turn then.
    """
    if awaits_model and silent_s * 2 > duration_s:
        message = f"no answer from the model's service for {silent_s:.1f} s, until the time of the session was up"
        return failed(FailureClass.NETWORK, message)
    return failed(FailureClass.TIMEOUT, f"no end within {duration_s:.1f} s")


def asked_pause(workspace: Workspace) -> Failure | None:
    """Return the failure of a session whose model API asks for a pause in its newest answer.

    A sandbox with a relay has an attribute `pause` for this: the HTTP status and the seconds that are left, or `None`.
    Programs give up without naming the pause, or sleep through it, so that their words tell neither class nor time.
    """
    pause = getattr(workspace, "pause", None)
    if pause is None:
        return None
    status, left_s = pause
    message = f"the model's service answers HTTP {status} and asks for a pause of {left_s:.0f} s"
    return failed(class_of_status(status), message, retry_after_s=left_s)


def cut_off(program: str) -> Failure:
    """Return the failure of a session whose session file lacks the end that the program's stream tells.

    Such a file proves nothing, and a stream alone, into which others can write, proves no answer.

    Args:
        program: name of the agent's program.
    """
    message = f"the session file of {program} is cut off, as happens if the disk of the temporary folder is full"
    return failed(FailureClass.SETUP, f"{message}; free some space, or set TMPDIR to a folder with more")


def class_of_status(status: int, text: str = "") -> FailureClass:
    """Return the meaning of an HTTP status of a model API; for some the text of the answer decides."""
    if status in (400, 429):
        meaning = class_of_text(text)
        if meaning in (FailureClass.REFUSED, FailureClass.BUDGET, FailureClass.CONTEXT_TOO_LONG):
            return meaning
    if status in _STATUSES:
        return _STATUSES[status]
    if status == _BAD_GATEWAY and _UNREACHED in text:
        return FailureClass.NETWORK
    return FailureClass.SERVER if status >= 500 else FailureClass.BAD_REQUEST


def class_of_text(text: str) -> FailureClass | None:
    """Return the meaning of a message of which only the words are known; `None` if they have none, either."""
    lower = text.lower()
    if whole := _WHOLE.get(lower.strip(" .")):
        return whole
    return next((kind for kind, signs in _SIGNS if any(sign in lower for sign in signs)), None)
