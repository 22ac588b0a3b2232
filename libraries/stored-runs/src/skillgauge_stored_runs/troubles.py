"""Errors of stores."""

from __future__ import annotations

from skillgauge.api import ExitCode, Problem, StoreError

AGAIN = "then run the same command again: it goes on after the last stored result"
"""The end of a hint of an error that ends a run."""

_IN_A_RUN = (
    "store.disk-full",
    "store.disconnected",
    "store.io",
    "store.taken-over",
    "store.run-ended",
    "store.plan-mismatch",
    "store.closed",
)
"""What ends a run that had begun; everything else is wrong with the place that was named."""


def trouble(code: str, message: str, hint: str | None = None) -> StoreError:
    """A `StoreError` with one problem; its exit code is that of a run that cannot go on, or of a wrong place."""
    error = StoreError(Problem(code, message, hint=hint))
    if code not in _IN_A_RUN:
        error.exit_code = ExitCode.USAGE
    return error
