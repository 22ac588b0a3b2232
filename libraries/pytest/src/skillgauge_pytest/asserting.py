"""The demands that a test can make on an evaluation. A run that proves nothing meets no demand."""

from __future__ import annotations

from skillgauge import Evaluated
from skillgauge.api.report import PairSummary, headline
from skillgauge.stats import Finding


def assert_lift(run: Evaluated, *, at_least: float) -> None:
    """Demand that every comparison of a run shows a lift of so many points.

    It is the estimate over the run's cases; on few of them chance alone may reach it. See `assert_helps`.

    Args:
        run: what `evaluate` came back with.
        at_least: percentage points, -100 to 100.

    Raises:
        AssertionError: with the run's own words, where a comparison shows less or cannot be made.
    """
    for pair in _comparisons(run):
        if pair.lift is None or pair.lift * 100 < at_least:
            raise AssertionError(f"a lift of {at_least:+g} points was asked for\n{run}")


def assert_helps(run: Evaluated) -> None:
    """Demand that every comparison of a run shows, beyond chance, that the skill helps.

    Args:
        run: what `evaluate` came back with.

    Raises:
        AssertionError: with the run's own words, where it does not, or cannot tell.
    """
    for pair in _comparisons(run):
        if pair.evidence is None or pair.evidence.finding is not Finding.HELPS:
            raise AssertionError(f"a proof of help was asked for\n{run}")


def assert_passes(run: Evaluated, *, at_least: float = 1.0) -> None:
    """Demand a pass rate of every group of cases whose arm is no mere baseline, whatever its errors had come to.

    Args:
        run: what `evaluate` came back with.
        at_least: share of the cases, 0 to 1.

    Raises:
        AssertionError: with the run's own words, where a group has a lower rate.
    """
    _require_sound(run)
    suites = {suite.id: suite for suite in run.head.suites}
    for group in run.summary.groups:
        if suites[group.suite_id].is_baseline(group.arm):
            continue
        rate = headline(group).value or 0.0
        counted = group.counts.total - group.counts.errors
        surely = rate * counted / group.counts.total if group.counts.total else 0.0
        if surely < at_least:
            raise AssertionError(f"a pass rate of {at_least:.0%} was asked for\n{run}")


def _comparisons(run: Evaluated) -> tuple[PairSummary, ...]:
    _require_sound(run)
    if not run.summary.pairs:
        raise AssertionError(f"nothing is compared; was it run without its baseline?\n{run}")
    return run.summary.pairs


def _require_sound(run: Evaluated) -> None:
    """Refuse a run that was stopped, or has too many errors: whatever it shows, it shows by accident."""
    if not run.complete:
        raise AssertionError(f"the run was stopped before its end\n{run}")
    for validity in run.summary.validity:
        if not validity.valid:
            raise AssertionError(f"{validity.suite_id} is invalid: {validity.reason}\n{run}")
