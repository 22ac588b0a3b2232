"""The time of a session is shown for each answer of the model and each call of a tool."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from skillgauge.api import EventKind, Kept, Trajectory, TrajectoryEvent, TrialResult
from skillgauge.api.report import RunView
from skillgauge_run_pages.waterfall import LONGEST, SCALE, waterfall


def event(kind: EventKind, at_s: float | None, **more: Any) -> TrajectoryEvent:
    """One event."""
    return TrajectoryEvent(kind=kind, at_s=at_s, **more)


def with_session(result: TrialResult, events: list[TrajectoryEvent], duration_s: float | None = None) -> TrialResult:
    """The same trial with another session."""
    update = {"trajectory": Trajectory(events=tuple(events)), "duration_s": duration_s}
    return result.model_copy(update={"execution": result.execution.model_copy(update=update)})


@pytest.fixture
def result(views: list[RunView]) -> TrialResult:
    """Some trial."""
    return next(iter(views[6].results()))


SESSION = [
    event(EventKind.MESSAGE, 1.0),
    event(EventKind.TOOL_CALL, 2.0, name="Bash", call_id="a"),
    event(EventKind.TOOL_CALL, 2.0, name="<b>Read</b>", call_id="b"),
    event(EventKind.TOOL_RESULT, 4.0, call_id="b", is_error=True),
    event(EventKind.TOOL_RESULT, 5.0, call_id="a"),
    event(EventKind.MESSAGE, 8.0),
]


def test_bars_lie_where_their_time_was(result: TrialResult) -> None:
    """Two tools that worked at once count once; the scale ends with the session."""
    found = waterfall(with_session(result, SESSION, duration_s=10.0))
    assert found is not None
    bars = [(bar.step, bar.title, bar.name, bar.start_s, bar.end_s, bar.is_error) for bar in found.bars]
    assert bars == [
        (1, "Model", "", 0.0, 2.0, False),
        (3, "Tool", "<b>Read</b>", 2.0, 4.0, True),
        (2, "Tool", "Bash", 2.0, 5.0, False),
        (6, "Model", "", 5.0, 8.0, False),
    ]
    assert (found.model_s, found.tools_s, found.total_s) == (5.0, 3.0, 10.0)
    assert found.place(found.bars[-1]) == (SCALE * 0.5, SCALE * 0.3)


def test_times_that_nobody_told_are_not_made_up(result: TrialResult) -> None:
    """A session without moments, and one that took no time, have no picture."""
    assert waterfall(with_session(result, [event(EventKind.MESSAGE, None)])) is None
    assert waterfall(with_session(result, [event(EventKind.MESSAGE, 0.0)])) is None
    assert (
        waterfall(result.model_copy(update={"execution": result.execution.model_copy(update={"trajectory": None})}))
        is None
    )


def test_long_sessions_say_what_is_left_out(result: TrialResult) -> None:
    """A picture has a bounded number of bars."""
    events = [event(kind, place + 1.0) for place in range(400) for kind in (EventKind.MESSAGE, EventKind.USER)]
    found = waterfall(with_session(result, events))
    assert found is not None
    assert (len(found.bars), found.left_out) == (LONGEST, 400 - LONGEST)


def served_page(serve: Any, view: RunView, changed: TrialResult, path: str) -> tuple[str, Any]:
    """A page of a run in which a trial is another."""
    results = [changed if one.ordinal == changed.ordinal else one for one in view.results()]
    changed_view = replace(view, source=Kept(lambda: results, list(view.cases())))
    with serve([changed_view]) as served:
        address = re.search(r'href="(/runs/[^/"?]+)"', served.get("/runs").text)
        assert address
        page = served.get(f"{address[1]}/{path}").text
        linked = [
            served.get(one.partition("#")[0]).text for one in re.findall(r'<td><a href="(/[^"#]*#t\d+-s\d+)"', page)
        ]
    return page, linked


def test_the_page_of_a_case_shows_them(serve: Any, views: list[RunView], result: TrialResult) -> None:
    """Numbers stand in a table beside the bars, names are texts, and each step is linked to."""
    changed = with_session(result, SESSION, duration_s=10.0)
    suites = [suite.id for suite in views[6].head.suites]
    page, _ = served_page(serve, views[6], changed, f"cases/{suites.index(result.suite_id)}-{result.case_index}")
    assert "Where the time went" in page
    assert "(the model 5.0 s, tools 3.0 s, of 10.0 s)" in page
    assert "<b>Read</b>" not in page
    steps = re.findall(rf'<a href="#t{result.ordinal}-s(\d+)">', page)
    assert steps == ["1", "3", "2", "6"]
    assert all(f'id="t{result.ordinal}-s{step}"' in page for step in steps)


@pytest.mark.slow
def test_a_step_on_another_part_is_linked_to_there(serve: Any, views: list[RunView], result: TrialResult) -> None:
    """The page of a long session shows a hundred steps; its picture covers all of them."""
    events = [event(kind, place + 1.0) for place in range(80) for kind in (EventKind.MESSAGE, EventKind.USER)]
    page, linked = served_page(serve, views[6], with_session(result, events), f"trials/{result.ordinal}")
    assert len(linked) == 80
    steps = re.findall(rf'<td><a href="[^"]*#(t{result.ordinal}-s\d+)"', page)
    assert all(f'id="{step}"' in part for step, part in zip(steps, linked, strict=True))
