"""The arithmetic of services whose sessions several runs share."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import ServiceShare, ServiceStanding, SharedService


def standing_at(
    service: SharedService, asked: ServiceShare, others: Iterable[ServiceShare], pause_s: float
) -> ServiceStanding:
    """Weigh a share that a run asks for against those of all other runs.

    A place is left free for each run that waits and would still have fewer sessions than this one, so that all get the
    same in the end, and none waits for ever.

    Args:
        service: which.
        asked: with the session that the run wants to begin.
        others: the shares of the other runs that go on.
        pause_s: seconds for which the service has asked any run to wait.
    """
    others = tuple(others)
    sessions = sum(other.sessions for other in others)
    left_free = sum(other.waits and other.sessions + 1 < asked.sessions for other in others)
    fits = pause_s <= 0 and asked.sessions + sessions + left_free <= service.sessions
    return ServiceStanding(fits=fits, sessions=sessions, pause_s=max(0.0, pause_s))


def share_after(
    standing: ServiceStanding, asked: ServiceShare, earlier: ServiceShare, *, must_fit: bool
) -> ServiceShare:
    """Return the share that a run has after it was weighed: the one it asked for, or the earlier one, and it waits."""
    if standing.fits or not must_fit:
        return asked
    return earlier.model_copy(update={"waits": True})
