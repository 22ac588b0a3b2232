"""The pause that a server asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_DELAY = re.compile(r'"retryDelay"\s*:\s*"([0-9]{1,9}(?:\.[0-9]{1,9})?)s"')
"""The same in the body of an error of Google's APIs."""


def retry_after_s(headers: Mapping[str, str], now: datetime, body: str = "") -> float | None:
    """Return the seconds to wait; `None` if the server says nothing that can be understood.

    Args:
        headers: of the answer, by names in lower case: `retry-after-ms`, or `retry-after` in seconds or as a date.
        now: the time from which a date is counted; one in the past means no wait.
        body: of the answer, where a `retryDelay` may stand.
    """
    if re.fullmatch("[0-9]{1,9}", text := headers.get("retry-after-ms", "").strip()):
        return int(text) / 1000
    text = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        delay = _DELAY.search(body)
        return float(delay[1]) if delay else None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())
