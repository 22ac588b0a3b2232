"""The amount that the processes of a workspace may use of its relay."""

from __future__ import annotations

from dataclasses import dataclass

from .answers import Tally
from .pauses import Pauses


@dataclass(frozen=True)
class RelayLimits:
    """The amounts that all processes of a workspace may use together."""

    requests: int = 10_000
    """Requests to model APIs and connections to hosts."""
    total_bytes: int = 1 << 30
    """Bytes sent and received."""
    connections: int = 128
    """Connections at a time."""


class ExceededError(Exception):
    """A limit is reached; the text says which."""


class Meter:
    """Counts, and refuses what is too much.

    Args:
        limits: what may be used.
    """

    def __init__(self, limits: RelayLimits) -> None:
        self.tally, self.pauses = Tally(), Pauses()
        self._limits = limits
        self._requests = 0
        self._bytes = 0

    def count_request(self) -> None:
        """Count a request or a connection. Raises `ExceededError`."""
        if self._requests >= self._limits.requests:
            raise ExceededError(f"this workspace has made the {self._limits.requests} requests that its relay allows")
        if self._bytes >= self._limits.total_bytes:
            raise ExceededError(f"this workspace has moved the {self._limits.total_bytes} bytes that its relay allows")
        self._requests += 1

    def count_bytes(self, number: int) -> None:
        """Count bytes, whichever way they go. Raises `ExceededError`."""
        self._bytes += number
        if self._bytes > self._limits.total_bytes:
            raise ExceededError(f"this workspace has moved the {self._limits.total_bytes} bytes that its relay allows")
