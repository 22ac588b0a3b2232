"""Whether this process may open as many files as a run needs: said before it starts, not by trial after trial."""

from __future__ import annotations

import sys

from ..errors import Problem, UsageError

_OWN = 48
"""Store, event loop, reports, and what was open before."""
_PER_TRIAL = 6
"""Streams of a process, what tells of its end, and what is open while it starts."""


def require_descriptors(trials_at_once: int) -> None:
    """Allow ourselves as many file descriptors as a run needs.

    Raises:
        UsageError: the system allows fewer.
    """
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not everywhere

    needed = _OWN + _PER_TRIAL * trials_at_once
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard == resource.RLIM_INFINITY or hard >= needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
        return
    possible = (hard - _OWN) // _PER_TRIAL
    fewer = f"ask for fewer trials at once: --concurrency {possible}; or " if possible > 0 else ""
    message = f"{trials_at_once} trials at once need {needed} file descriptors, and {hard} are allowed"
    raise UsageError(Problem("run.descriptors", message, hint=f"{fewer}raise the limit: ulimit -n {needed}"))
