"""Runs that are kept nowhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ...errors import Problem, Severity


def unkept_run(location: str | None, installed: Collection[str], *, is_given: bool) -> Iterator[Problem]:
    """Yield a warning if a run has a place to be kept in by default, and no store that keeps it is installed.

    Args:
        location: path or address of the store; `None` if the run is to stay in this process.
        installed: names of the installed stores that keep runs in such a place.
        is_given: whether the user chose the place; then a missing store is an error, which opening it raises.
    """
    if location is not None and not installed and not is_given:
        message = "no store is installed: this run is kept in memory, and nothing can be resumed"
        hint = "pip install skillgauge-store-sqlite"
        yield Problem("store.none", message, hint=hint, severity=Severity.WARNING)
