"""Results in two parts: the facts, and what the agent did step by step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import EventKind, Execution, StoreError, Trajectory, TrajectoryEvent, TrialResult
from skillgauge.api.report import abridged, with_trajectory
from skillgauge_stored_runs import LONG, facts_of, packed, result_of, texts_of
from skillgauge_testkit.contract import samples

events = st.builds(
    TrajectoryEvent,
    kind=st.sampled_from(EventKind),
    text=st.text(max_size=20) | st.integers(1, 2 * LONG).map("x".__mul__),
    data=st.none() | st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
)
trajectories = st.builds(
    Trajectory,
    events=st.lists(events, max_size=30).map(tuple),
    turns=st.none() | st.integers(0, 9),
    skills_offered=st.none() | st.just(("demo",)),
    raw=st.none() | st.text(max_size=20) | st.integers(1, 2 * LONG).map("r".__mul__),
)
RESULT = samples.result(3, execution=Execution(text="done", trajectory=Trajectory()))


@given(trajectories)
def test_both_parts_are_the_whole(trajectory: Trajectory) -> None:
    """To the letter; and the facts alone are the result without its steps, however it was stored."""
    result = with_trajectory(RESULT, trajectory)
    facts, apart = texts_of(result)
    stored = packed(facts), None if apart is None else packed(apart)
    assert result_of(*stored, extra=None, subject="it") == result
    assert facts_of(stored[0], extra=None, subject="it") == abridged(result)
    if apart is not None:
        assert len(facts) < LONG


def test_only_what_is_long_stands_apart() -> None:
    """A direct call, and a session of a few words, are one text."""
    short = with_trajectory(RESULT, Trajectory(events=(TrajectoryEvent(kind=EventKind.MESSAGE, text="hello"),)))
    for result in (samples.result(1), RESULT, short):
        assert texts_of(result)[1] is None
    many = with_trajectory(RESULT, Trajectory(events=(TrajectoryEvent(kind=EventKind.TOOL_CALL, data={"a": 1}),) * 50))
    raw = with_trajectory(RESULT, Trajectory(raw="r" * LONG))
    for result in (many, raw):
        assert texts_of(result)[1] is not None


def test_nothing_but_the_steps_is_left_out() -> None:
    """What a trajectory tells beside them stays, and a result without one is the same object."""
    direct = samples.result(1)
    assert abridged(direct) is direct
    trajectory = Trajectory(turns=3, model="m1", skills_offered=("demo",))
    steps = {"events": (TrajectoryEvent(kind=EventKind.MESSAGE, text="hello"),), "raw": "line"}
    long = with_trajectory(RESULT, trajectory.model_copy(update=steps))
    assert abridged(long) == with_trajectory(RESULT, trajectory)


def test_damage_of_either_part_is_named() -> None:
    """With the place of the result."""
    facts, apart = texts_of(with_trajectory(RESULT, Trajectory(raw="r" * LONG)))
    assert apart
    for stored in ((facts[:-1], apart), (facts, apart[:-1])):
        with pytest.raises(StoreError, match="result 7 cannot be read"):
            result_of(*stored, extra=None, subject="result {}", place=7)
    with pytest.raises(StoreError, match="result 7 cannot be read"):
        facts_of(facts[:-1], extra=None, subject="result {}", place=7)


def test_unknown_fields_of_a_newer_version_are_passed_over() -> None:
    """In both parts."""
    result: TrialResult = with_trajectory(RESULT, Trajectory(raw="r" * LONG))
    facts, apart = texts_of(result)
    assert apart
    newer = facts[:-1] + ',"later":1}', apart[:-1] + ',"later":1}'
    assert result_of(*newer, extra="ignore", subject="it") == result
