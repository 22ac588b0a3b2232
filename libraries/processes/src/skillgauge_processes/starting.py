"""The contract of whatever starts a process in place of `subprocess`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol


class SupervisorLostError(Exception):
    """Raised by `Started.wait` once all is reaped: what confined the process ended without saying how the process did.

    Args:
        code: how the supervisor ended: its exit code, or the signal that ended it, negative.
    """

    def __init__(self, code: int) -> None:
        how = f"exit code {code}" if code >= 0 else f"signal {-code}"
        super().__init__(f"the sandbox's own process was ended by {how}, and the command with it")
        self.code = code


class Started(Protocol):
    """A process that was started in a session of its own."""

    @property
    def pid(self) -> int:
        """Its id."""

    def wait(self) -> int:
        """Reap it once it has ended; its exit code, or the signal that ended it, negative.

        Raises:
            SupervisorLostError: the sandbox broke.
        """


Starter = Callable[[int, int, int, Mapping[str, str]], Started]
"""Starts a child of ours with these file descriptors as its streams and these variables among its own."""
