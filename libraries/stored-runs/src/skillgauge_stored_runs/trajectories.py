"""Results in two parts: the facts, which every list and figure needs, and what the agent did step by step."""

from __future__ import annotations

from skillgauge.api import Trajectory, TrialResult
from skillgauge.api.report import abridged, with_trajectory

from .records import LONG, Extra, decode, encode


def texts_of(result: TrialResult) -> tuple[str, str | None]:
    """Return the JSON of the facts of a result, and that of its trajectory; a short one stays with the facts."""
    trajectory = result.execution.trajectory
    if trajectory is None or not _is_long(trajectory):
        return encode(result, sparse=True), None
    apart = Trajectory(events=trajectory.events, raw=trajectory.raw)
    return encode(abridged(result), sparse=True), encode(apart, sparse=True)


def _is_long(trajectory: Trajectory) -> bool:
    """Tell whether it is worth a part of its own, by its texts alone: its arguments would have to be encoded."""
    size = len(trajectory.raw or "")
    for event in trajectory.events:
        size += len(event.text) + _OF_DATA * (event.data is not None)
        if size >= LONG:
            return True
    return size >= LONG


_OF_DATA = 200
"""Characters that the data of an event are taken to have."""


def result_of(
    facts: str | bytes, trajectory: str | bytes | None, *, extra: Extra, subject: str, place: object = ""
) -> TrialResult:
    """Return the result of the two texts, packed or not.

    Args:
        facts: the first.
        trajectory: the second.
        extra: as in `decode`.
        subject: as in `decode`.
        place: as in `decode`.

    Raises:
        StoreError: one of them is not such a text.
    """
    result = decode(TrialResult, facts, extra=extra, subject=subject, place=place)
    if trajectory is None:
        return result
    apart = decode(Trajectory, trajectory, extra=extra, subject=subject, place=place)
    known = result.execution.trajectory or Trajectory()
    return with_trajectory(result, known.model_copy(update={"events": apart.events, "raw": apart.raw}))


def facts_of(facts: str | bytes, *, extra: Extra, subject: str, place: object = "") -> TrialResult:
    """Return the result of the first text alone, abridged; see `result_of`.

    Raises:
        StoreError: it is not such a text.
    """
    return abridged(decode(TrialResult, facts, extra=extra, subject=subject, place=place))
