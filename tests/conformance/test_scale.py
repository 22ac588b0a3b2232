"""Runs on many workers that die and stand still, at a provider that refuses, in simulated time: benchmarks/scale.py."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.scale import Setting, Tally, row, settings, simulate

from skillgauge.types.results.trials import Verdict

SMALL = Setting("small", workers=20, trials=1_000, lives_s=3_600.0, grading_s=60.0)
"""Workers that die every hour, often while they grade."""


def _is_whole(tally: Tally) -> bool:
    """Tell whether every trial of a run has one result."""
    return set(tally.committed) == {1}


@pytest.mark.slow
def test_nothing_is_paid_twice_and_nothing_lost() -> None:
    """What has come to its end is graded by another worker when its own dies; a session that was cut off runs again."""
    tally = simulate(SMALL)
    assert tally.deaths > 20
    assert _is_whole(tally)
    assert tally.repeated == 0
    assert tally.repeated_usd == 0
    assert tally.verdicts[Verdict.PASS] > 0.99 * SMALL.trials
    assert 0.8 < tally.efficiency < 1
    assert tally.most_at_once == SMALL.workers
    assert tally.writes["claim"] == SMALL.trials
    assert tally.writes["keep"] >= tally.verdicts[Verdict.PASS]


@pytest.mark.slow
def test_without_keeping_finished_sessions_are_paid_again() -> None:
    """That the simulation can tell: workers die over gradings, too."""
    tally = simulate(replace(SMALL, keeps=False))
    assert _is_whole(tally)
    assert tally.repeated > 0
    assert tally.repeated_usd > 0
    assert not tally.writes["keep"]


@pytest.mark.slow
def test_a_provider_that_is_asked_too_much_is_asked_less() -> None:
    """A run that is told of the limit is never refused; one that is not finds it, and loses little to it."""
    told = simulate(replace(SMALL, workers=10, provider=10))
    found = simulate(replace(SMALL, provider=10))
    assert told.refused == 0
    assert 0 < found.refused < SMALL.trials
    assert _is_whole(told)
    assert _is_whole(found)
    assert found.most_at_once == told.most_at_once == 10
    assert found.verdicts[Verdict.PASS] > 0.99 * SMALL.trials
    assert 0.5 < found.efficiency < told.efficiency


def test_a_budget_ends_a_run() -> None:
    """Reservations keep many workers near the limit: what goes beyond it was under way."""
    setting = replace(SMALL, budget=0.5)
    tally = simulate(setting)
    limit = setting.budget * setting.expected_usd
    assert 0.8 * limit < tally.spent_usd < 1.1 * limit
    assert max(tally.committed) == 1
    assert 0 < sum(tally.committed) < SMALL.trials


@pytest.mark.slow
def test_a_database_far_away_slows_short_sessions_down() -> None:
    """Claims wait for each other, so what counts is the way to the database."""
    near = simulate(replace(SMALL, mean_s=1.0, grading_s=0.1))
    far = simulate(replace(SMALL, mean_s=1.0, grading_s=0.1, write_s=0.2))
    assert _is_whole(far)
    assert far.efficiency < near.efficiency / 2


@pytest.mark.slow
def test_every_setting_of_the_table_can_be_simulated() -> None:
    """As `python -m benchmarks.scale` does it, with few trials."""
    for setting in settings(1_000):
        few = replace(setting, workers=min(setting.workers, 20), provider=setting.provider and 10, trials=200)
        assert row(simulate(few)).startswith(f"| {setting.name} | ")
