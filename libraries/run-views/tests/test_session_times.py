"""Model calls and tool calls are found in the events of a session."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import EventKind, TrajectoryEvent
from skillgauge_run_views.session_times import model_calls, tool_calls


def event(kind: EventKind, at_s: float | None, **more: object) -> TrajectoryEvent:
    """One event."""
    return TrajectoryEvent(kind=kind, at_s=at_s, **more)  # type: ignore[arg-type]  # fields by name


def test_an_answer_reaches_from_the_results_to_its_last_part() -> None:
    """Thoughts, words and calls are one answer; the next one begins with the result."""
    events = [
        event(EventKind.REASONING, 1.0),
        event(EventKind.TOOL_CALL, 2.0, name="Bash", call_id="a"),
        event(EventKind.TOOL_RESULT, 5.0, call_id="a"),
        event(EventKind.MESSAGE, 9.0, duration_s=3.0),
    ]
    assert [(call.start_s, call.end_s, len(call.events)) for call in model_calls(events)] == [(0, 2, 2), (6, 9, 1)]
    (step,) = tool_calls(events)
    assert (step.call.name, step.start_s, step.end_s) == ("Bash", 2, 5)


def test_without_times_there_are_no_calls() -> None:
    """A time that is unknown is not made up."""
    events = [event(EventKind.MESSAGE, None), event(EventKind.TOOL_CALL, None, call_id="a")]
    assert [*model_calls(events), *tool_calls([*events, event(EventKind.TOOL_RESULT, 1.0, call_id="a")])] == []


times = st.floats(min_value=0, max_value=1e5)
any_event = st.builds(
    event,
    st.sampled_from(list(EventKind)),
    st.none() | times,
    name=st.sampled_from(["Bash", "Read"]),
    call_id=st.none() | st.sampled_from("abc"),
    duration_s=st.none() | times,
)


@given(st.lists(any_event, max_size=30))
def test_every_call_takes_some_time_and_none_is_counted_twice(events: list[TrajectoryEvent]) -> None:
    """Whatever an engine reports: no negative time, and each event belongs to one answer at most."""
    events = sorted(events, key=lambda one: one.at_s or 0.0)
    answers = list(model_calls(events))
    assert all(0 <= call.start_s <= call.end_s for call in answers)
    assert all(step.start_s <= step.end_s for step in tool_calls(events))
    spoken = [one for call in answers for one in call.events]
    kinds = (EventKind.MESSAGE, EventKind.REASONING, EventKind.TOOL_CALL)
    assert len(spoken) == sum(one.at_s is not None and one.kind in kinds for one in events)
