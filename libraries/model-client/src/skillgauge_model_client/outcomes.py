"""The reasons why there is no answer: from status, headers and body to a reply that gives them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

from skillgauge.api import FailureClass, JudgeReply
from skillgauge_http_bodies.pauses import retry_after_s

from .answers import dig

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
    (FailureClass.REFUSED, ("content filter", "content_filter", "content management policy", "requires moderation")),
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
"""What bodies of 400, 403 and 429 say that their status does not."""
_STATUSES: Mapping[str, int] = {
    "invalid_request_error": 400,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "resource_exhausted": 429,
    "context_length_exceeded": 400,
    "unavailable": 503,
    "overloaded_error": 529,
}
"""Words by which errors name themselves, and the status that belongs to each."""
_UPSTREAM = HTTPStatus.BAD_GATEWAY
"""Stands for an error of which nothing but its words is known: the service behind a gateway failed."""
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


def status_error(
    status: int, headers: Mapping[str, str], body: bytes, now: datetime, *, within: int | None = None
) -> Unanswered:
    """Return the meaning of a status other than 2xx.

    Args:
        status: of the answer, or of the error in it.
        headers: by names in lower case.
        body: of the answer.
        now: the time from which a date in a header is counted.
        within: status of the answer that the error was found in.
    """
    text_body = body.decode("utf-8", "replace")
    message = f"HTTP {status}{_phrase(status)}"
    if within is not None:
        message = f"HTTP {within} with error {status}{_phrase(status)} in it"
    if 300 <= status < 400:
        return Unanswered(FailureClass.PROTOCOL, f"{message}: redirects are not followed")
    kind = _KINDS.get(status, FailureClass.SERVER if status >= 500 else FailureClass.BAD_REQUEST)
    if status in (400, 403, 429):
        lower = text_body.lower()
        kind = next((sign for sign, words in _SIGNS if any(word in lower for word in words)), kind)
    reason = _reason(text_body)
    message = f"{message}: {reason}" if reason else message
    if kind not in _RETRYABLE:
        return Unanswered(kind, message)
    return Unanswered(kind, message, retryable=True, retry_after_s=retry_after_s(headers, now, text_body))


@dataclass(frozen=True)
class ErrorWithin:
    """An error in an answer whose status promises success."""

    status: int
    """That it would have had by itself."""
    body: bytes
    headers: Mapping[str, str]
    """Those of the service behind, as far as they are told."""


def error_within(document: Mapping[str, object]) -> ErrorWithin | None:
    """Return the error in an answer: gateways tell so that the service behind them failed after they had begun.

    It is in place of the answer, or in its first choice, whatever else that holds.
    """
    choice = dig(document, "choices", 0)
    error = document.get("error") or dig(choice, "error")
    if not error and dig(choice, "finish_reason") == "error":
        error = "the service behind the gateway ended its answer with an error"
    if not error:
        return None
    message = dig(error, "message") or (error if isinstance(error, str) else json.dumps(error))
    raw, provider = dig(error, "metadata", "raw"), dig(error, "metadata", "provider_name")
    source = f" ({provider})" if isinstance(provider, str) else ""
    cause = f": {raw if isinstance(raw, str) else json.dumps(raw)}" if raw else ""
    headers = dig(error, "metadata", "headers")
    pairs = headers.items() if isinstance(headers, dict) else ()
    return ErrorWithin(
        _status_of(error),
        json.dumps({"error": {"message": f"{message}{source}{cause}", "code": dig(error, "code")}}).encode(),
        {str(name).lower(): str(value) for name, value in pairs},
    )


def _status_of(error: object) -> int:
    """Return the status that an error names, by number or by word."""
    for name in ("code", "status", "type"):
        value = dig(error, name)
        if isinstance(value, str | int) and str(value).isdecimal() and 400 <= int(value) <= 599:
            return int(value)
        if isinstance(value, str) and (status := _STATUSES.get(value.lower())):
            return status
    return _UPSTREAM


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
