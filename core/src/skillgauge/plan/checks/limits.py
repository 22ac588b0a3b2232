"""Limits that the user may not have meant as written."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import Problem


def bare_timeout(timeout_s: float | None, *, is_bare: bool, runs_agents: bool) -> Iterator[Problem]:
    """Yield a problem if sessions of agents are limited by a number without a unit, which means milliseconds.

    Args:
        timeout_s: limit on the command line.
        is_bare: whether the user wrote it without a unit.
        runs_agents: whether any agent takes part.
    """
    if not runs_agents or not is_bare or timeout_s is None:
        return
    milliseconds = f"{timeout_s * 1000:g}"
    message = f"--timeout {milliseconds} has no unit, and a session of an agent lasts minutes"
    hint = f"Write --timeout {milliseconds}ms or --timeout {milliseconds}s."
    yield Problem("usage.timeout", message, hint=hint)
