"""The reasons why there is no answer: from status, headers and body to a reply that gives them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus

from skillgauge.api import FailureClass, JudgeReply
from skillgauge_http_bodies.pauses import retry_after_s

_EXCERPT = 300
_OVERLOADED = (503, 529)
_KINDS: Mapping[int, FailureClass] = {
    401: FailureClass.AUTH,
    402: FailureClass.BUDGET,
    403: FailureClass.AUTH,
    404: FailureClass.MODEL_NOT_FOUND,
    408: FailureClass.TIMEOUT,
    413: FailureClass.CONTEXT_TOO_LONG,
    429: FailureClass.RATE_LIMITED,
    **dict.fromkeys(_OVERLOADED, FailureClass.OVERLOADED),
}
_SIGNS = (
    (FailureClass.REFUSED, ("content filter", "content_filter", "content management policy")),
    (FailureClass.BUDGET, ("insufficient_quota", "credit balance")),
    (FailureClass.AUTH, ("api_key_invalid", "api key not valid")),
    (
        FailureClass.CONTEXT_TOO_LONG,
        (
            "context_length_exceeded",
            "context length",
            "context window",
            "prompt is too long",
            "maximum number of tokens",
        ),
    ),
)
"""What bodies of 400 and 429 say that their status does not."""
_RETRYABLE = {FailureClass.TIMEOUT, FailureClass.RATE_LIMITED, FailureClass.OVERLOADED, FailureClass.SERVER}


class Unanswered(Exception):  # noqa: N818 - an outcome
    """There is no answer. The first word of the reply's error is the class of the failure."""

    def __init__(
        self, kind: FailureClass, reason: str, *, retryable: bool = False, retry_after_s: float | None = None
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.told = reason
        error = f"{kind}: {reason}".encode("utf-8", "replace").decode()
        self.reply = JudgeReply(
            text=None, error=error, failure_class=kind, retryable=retryable, retry_after_s=retry_after_s
        )


def is_success(status: int) -> bool:
    """Tell whether a status promises an answer."""
    return 200 <= status < 300


def status_error(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> Unanswered:
    """Return the meaning of a status other than 2xx."""
    text_body = body.decode("utf-8", "replace")
    message = f"HTTP {status}{_phrase(status)}"
    if 300 <= status < 400:
        return Unanswered(FailureClass.PROTOCOL, f"{message}: redirects are not followed")
    kind = _KINDS.get(status, FailureClass.SERVER if status >= 500 else FailureClass.BAD_REQUEST)
    if status in (400, 429):
        lower = text_body.lower()
        kind = next((sign for sign, words in _SIGNS if any(word in lower for word in words)), kind)
    reason = _reason(text_body)
    message = f"{message}: {reason}" if reason else message
    if kind not in _RETRYABLE:
        return Unanswered(kind, message)
    return Unanswered(kind, message, retryable=True, retry_after_s=retry_after_s(headers, now, text_body))


def excerpt(text: str) -> str:
    """The beginning of a text on one line."""
    text = " ".join(text[: 4 * _EXCERPT].split())
    return text if len(text) <= _EXCERPT else f"{text[: _EXCERPT - 1]}…"


def _reason(body: str) -> str:
    """Return the words of a refusal: its own sentence if it is JSON of a usual kind, else its beginning."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return excerpt(body)
    for _ in range(2):  # {"error": {"message": "..."}} is as usual as {"error": "..."}
        if isinstance(said, list) and said:
            said = said[0]
        if isinstance(said, dict):
            said = next((said[key] for key in ("error", "message", "detail") if said.get(key)), None)
    return excerpt(said if isinstance(said, str) else body)


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return " Overloaded" if status in _OVERLOADED else ""
