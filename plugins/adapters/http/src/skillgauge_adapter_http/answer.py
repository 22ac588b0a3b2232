"""From a service's answer to an execution: what status, headers and body mean."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus

from skillgauge.api import Blame, Failure, FailureClass, JsonValue, Usage, freeze, without_secrets
from skillgauge_http_bodies.pauses import retry_after_s

_EXCERPT = 300
_LOOKED_AT = 65_536
_USAGE_HEADER = "x-usage-{}-tokens"
_REASON_KEYS = ("error", "message", "detail", "title", "reason")


def failure(
    failure_class: FailureClass, message: str, *, retryable: bool = False, retry_after_s: float | None = None
) -> Failure:
    """A failure of the service: whatever it does or does not is its own doing."""
    return Failure(
        failure_class=failure_class,
        blame=Blame.TARGET,
        message=message,
        retryable=retryable,
        retry_after_s=retry_after_s,
    )


def is_success(status: int) -> bool:
    """Tell whether a status promises an answer."""
    return 200 <= status < 300


def status_failure(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> Failure:
    """Return the meaning of a status other than 2xx."""
    message = f"HTTP {status}{_phrase(status)}"
    if 300 <= status < 400:
        location = without_secrets(headers.get("location", ""))[:_EXCERPT] or "nowhere"
        return failure(FailureClass.REJECTED, f"{message}: redirected to {location}, which is not followed")
    reason = _reason(body)
    message = f"{message}: {reason}" if reason else message
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= 500:
        kind = FailureClass.SERVER if status >= 500 else FailureClass.RATE_LIMITED
        return failure(kind, message, retryable=True, retry_after_s=retry_after_s(headers, now))
    return failure(FailureClass.REJECTED, message)


def output_of(body: bytes, content_type: str) -> JsonValue:
    """The JSON value that a body is.

    Raises:
        ValueError: it is none; the message says what it is instead.
    """
    if not body.strip():
        raise ValueError("the answer has no body")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        content_note = f" (Content-Type: {without_secrets(content_type)[:80]})" if content_type else ""
        raise ValueError(f"the answer is not JSON{content_note}: {excerpt(body)}") from None
    try:
        return freeze(value)
    except ValueError as error:
        raise ValueError(f"the answer is no JSON value: {error}") from None


def usage_of(headers: Mapping[str, str]) -> tuple[Usage | None, tuple[str, ...]]:
    """Tokens by the usage headers, and a note for each that is no number; a missing total is the sum."""
    counts: dict[str, int] = {}
    notes = []
    for kind in ("input", "output", "total"):
        name = _USAGE_HEADER.format(kind)
        value = headers.get(name, "").strip()
        if re.fullmatch("[0-9]{1,15}", value):
            counts[kind] = int(value)
        elif value:
            notes.append(f"header {name} is no number of tokens and was ignored: {without_secrets(value)[:80]!r}")
    if "input" in counts and "output" in counts:
        counts.setdefault("total", counts["input"] + counts["output"])
    if not counts:
        return None, tuple(notes)
    usage = Usage(
        input_tokens=counts.get("input"), output_tokens=counts.get("output"), total_tokens=counts.get("total")
    )
    return usage, tuple(notes)


def excerpt(body: bytes) -> str:
    """The beginning of a body on one line."""
    text = without_secrets(" ".join(body[:_LOOKED_AT].decode("utf-8", "replace").split()))
    return text if len(text) <= _EXCERPT else f"{text[: _EXCERPT - 1]}…"


def _reason(body: bytes) -> str:
    """Return the words of a refusal: its own sentence if it is JSON of a usual kind, else its beginning."""
    try:
        reason = json.loads(body)
    except (ValueError, RecursionError):
        return excerpt(body)
    for _ in range(2):  # {"error": {"message": "..."}} is as usual as {"error": "..."}
        if isinstance(reason, dict):
            reason = next((reason[key] for key in _REASON_KEYS if reason.get(key)), None)
    return excerpt(reason.encode("utf-8", "replace") if isinstance(reason, str) else body)


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""
