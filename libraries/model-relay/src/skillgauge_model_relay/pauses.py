"""The pause that a model API asks for: programs of agents seldom report it, and some sleep through it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus

from skillgauge_http_bodies.pauses import retry_after_s

_OVERLOADED = 529
_PAUSING = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE, _OVERLOADED})


class Pauses:
    """Keeps the pause that the newest answer of an API asks for."""

    def __init__(self) -> None:
        self._status = 0
        self._until = 0.0
        self._under_way = 0

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Count a request as under way: while there is one, its program does not wait for a pause to end."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def hear(self, status: int, headers: Mapping[str, str]) -> None:
        """Take note of an answer.

        Args:
            status: of the answer.
            headers: by names in lower case.
        """
        self._status = 0
        if status in _PAUSING and (wait_s := retry_after_s(headers, datetime.now(UTC))) is not None:
            self._status, self._until = status, time.monotonic() + wait_s

    @property
    def pause(self) -> tuple[int, float] | None:
        """HTTP status, and the seconds that are left of the pause; `None` if none was asked for, or is kept."""
        if not self._status or self._under_way:
            return None
        return self._status, max(0.0, self._until - time.monotonic())
