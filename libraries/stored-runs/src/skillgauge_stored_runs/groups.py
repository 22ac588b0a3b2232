"""The parts of a run by which stores find it and its results."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from operator import attrgetter
from uuid import uuid4

from skillgauge.api import PlanHead, RunQuery, TrialResult
from skillgauge.api.report import GroupKey

Group = tuple[str, str | None, str, str, str | None]
"""Suite, target, arm, runner and model."""
group_of: Callable[[TrialResult | GroupKey], Group] = attrgetter("suite_id", "target_id", "arm", "runner", "model")
"""The group of a result as plain texts, which are looked up in a fifth of the time."""


def compact(trial_id: str) -> bytes | str:
    """A trial id in half its size if it is a digest, as those of the kernel are."""
    try:
        raw = bytes.fromhex(trial_id)
    except ValueError:
        return trial_id
    return raw if raw.hex() == trial_id else trial_id


def new_run_id(started_at: float) -> str:
    """An id for a run that begins at this moment: sorted as runs begin, and no other run has it."""
    return f"{datetime.fromtimestamp(started_at, UTC):%Y%m%dT%H%M%S}{uuid4().hex[:6]}"


def is_selected(head: PlanHead, query: RunQuery) -> bool:
    """Tell whether a plan has the suite that a query asks for, and in it the target."""
    if query.suite_id is None and query.target_id is None:
        return True
    return any(
        query.target_id is None or any(target.id == query.target_id for target in suite.targets)
        for suite in head.suites
        if query.suite_id in (None, suite.id)
    )
