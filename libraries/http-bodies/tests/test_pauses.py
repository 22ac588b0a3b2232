"""The pause that a server asks for, in all the ways in which servers ask."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from skillgauge_http_bodies.pauses import retry_after_s

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "body", "wait_s"),
    [
        ({}, "", None),
        ({"retry-after": ""}, "", None),
        ({"retry-after": "0"}, "", 0),
        ({"retry-after": " 120 "}, "", 120),
        ({"retry-after": "2.5"}, "", 2.5),
        ({"retry-after": "9", "retry-after-ms": "1500"}, "", 1.5),
        ({"retry-after": "9", "retry-after-ms": "soon"}, "", 9),
        ({"retry-after": "Wed, 01 Jul 2026 12:00:30 GMT"}, "", 30),
        ({"retry-after": "Wed, 01 Jul 2026 12:00:30 -0000"}, "", 30),
        ({"retry-after": "Wed, 01 Jul 2020 12:00:00 GMT"}, "", 0),
        ({"retry-after": "Wed, 99 Jul 2026 12:00:00 GMT"}, "", None),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "-1"}, "", None),
        ({"retry-after": "1e9"}, "", None),
        ({}, '{"details": [{"retryDelay": "34.5s"}]}', 34.5),
        ({}, '{"retryDelay": "later"}', None),
    ],
)
def test_retry_after(headers: dict[str, str], body: str, wait_s: float | None) -> None:
    """Milliseconds, seconds, dates, and the delay that stands in a body; the past is now, anything else is nothing."""
    assert retry_after_s(headers, NOW, body) == wait_s
