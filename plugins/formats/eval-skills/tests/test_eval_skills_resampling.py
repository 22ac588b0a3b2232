"""The interval of the document: that of the original, repeatable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge_format_eval_skills.reports.resampling import MAX_RESAMPLED, mean_interval

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("name", ["calculator-coding-easy", "h1-unicode", "h3-schema"])
def test_published_intervals_are_met(name: str) -> None:
    """The original draws without a seed, so its bounds are met within one result's weight, and those of 1 exactly."""
    (report,) = json.loads((DATA / f"{name}.json").read_text())
    scores = [task["score"] for task in report["taskResults"]]
    published = report["summary"]["confidenceInterval"]
    ours = mean_interval(scores, 0)
    assert ours is not None
    assert ours["level"] == published["level"]
    for key in ("lower", "upper", "mean"):
        assert ours[key] == pytest.approx(published[key], abs=1 / len(scores)), key
    if set(scores) == {1}:
        assert (ours["lower"], ours["upper"], ours["mean"]) == (1, 1, 1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=10, max_size=60), st.integers(0, 2**32))
def test_it_repeats_and_holds_the_mean(scores: list[float], seed: int) -> None:
    """The same seed gives the same interval, within the range of the scores."""
    one = mean_interval(scores, seed)
    assert one == mean_interval(scores, seed)
    assert one is not None
    assert min(scores) - 1e-9 <= one["lower"] <= one["upper"] <= max(scores) + 1e-9
    assert one["lower"] - 1e-9 <= one["mean"] <= one["upper"] + 1e-9


def test_many_results_have_the_interval_of_the_limit() -> None:
    """Above the bound nothing is resampled, and nobody sees a difference."""
    below, above = [1.0, 0.0] * (MAX_RESAMPLED // 2), [1.0, 0.0] * (MAX_RESAMPLED // 2 + 1)
    resampled, drawn = mean_interval(below, 1), mean_interval(above, 1)
    assert resampled is not None
    assert drawn is not None
    for key in ("lower", "upper", "mean"):
        assert resampled[key] == pytest.approx(drawn[key], abs=0.01)


@pytest.mark.parametrize("score", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("count", [MAX_RESAMPLED, MAX_RESAMPLED + 1])
def test_equal_scores_are_not_resampled(score: float, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each resample of a run that passes, or fails, as a whole would be the same, and drawing them takes a while."""
    monkeypatch.setattr("random.Random.random", None)
    interval = mean_interval([score] * count, 1)
    assert interval == {"lower": score, "upper": score, "mean": score, "level": 0.95}


def test_few_results_have_none() -> None:
    """As in the original."""
    assert mean_interval([1.0] * 9, 0) is None
