"""Words are found in the sessions of a case, and the list of runs shows how they went before."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from skillgauge.api import EventKind, FileChange, Kept, Score, Trajectory, TrajectoryEvent, TrialResult
from skillgauge.api.report import RunState, RunView, case_by_case
from skillgauge_command_view.pages.searching import MOST, search
from skillgauge_command_view.pages.sparklines import Sparkline, sparklines
from skillgauge_command_view.rows import row_of

STEPS = 150


def with_session(result: TrialResult, texts: dict[int, str]) -> TrialResult:
    """The trial with a session of many steps, of which some say something."""
    events = tuple(
        TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Bash", text=texts.get(step, "nothing"))
        for step in range(1, STEPS + 1)
    )
    files = (FileChange(path="out/crate.txt", change="created", text="sealed with wax\n"),)
    facts = {"trajectory": Trajectory(events=events), "text": "It is <b>done</b>.", "files": files}
    execution = result.execution.model_copy(update=facts)
    scores = (Score.failed("no LABEL on the box \u202eturned"),)
    return result.model_copy(update={"execution": execution, "scores": scores})


@pytest.fixture
def view(views: list[RunView]) -> RunView:
    """A run whose first case has one session with a needle in its second part."""
    view = next(view for view in views if view.run.run_id == "run6")
    first, *others = view.results()
    texts = {7: "grep label box.txt", 120: "a Needle\nin <i>hay</i>"}
    results = [with_session(first, texts), *(with_session(result, {}) for result in others)]
    return replace(view, source=Kept(lambda: results, list(view.cases())))


def found(page: str) -> list[tuple[str, str]]:
    """Address and text of each place that a page lists."""
    listed = re.findall(r'<li><a href="([^"]+)">.*?<br><bdi>(.*?)</bdi></li>', page, re.DOTALL)
    return [(address, text) for address, text in listed if "/trials/" in address]


def test_a_step_is_found_and_linked_to(serve: Any, view: RunView) -> None:
    """In upper and lower case, in the part of the session where it is, with its text escaped."""
    with serve([view]) as served:
        page = served.get("/runs/run6/cases/0-0?q=needle").text
        ((address, text),) = found(page)
        assert address == "/runs/run6/trials/0?from=101#t0-s120"
        assert text == "Bash a <mark>Needle</mark> in &lt;i&gt;hay&lt;/i&gt;"
        assert "1 place in 1 trial" in page
        assert 'id="t0-s120"' in served.get("/runs/run6/trials/0?from=101").text


def test_checks_and_answers_are_found_too(serve: Any, view: RunView) -> None:
    """Every word has to be in the same place; the first one is marked."""
    with serve([view]) as served:
        checks = found(served.get("/runs/run6/cases/0-0?q=label+box").text)
        answers = found(served.get("/runs/run6/cases/0-0?q=%3Cb%3Edone").text)
        nothing = served.get("/runs/run6/cases/0-0?q=label+needle").text
    assert any(address.endswith("#t0-s7") and "<mark>label</mark> box.txt" in text for address, text in checks)
    assert any("#" not in address and "no <mark>LABEL</mark> on the box" in text for address, text in checks)
    assert answers
    assert all("&lt;b&gt;done" in text.replace("<mark>", "").replace("</mark>", "") for _, text in answers)
    assert "No step, answer, file or check has these words" in nothing


@pytest.mark.parametrize("words", ["crate.txt", "sealed+wax"])
def test_files_are_found_by_path_and_content(serve: Any, view: RunView, words: str) -> None:
    """One in each trial."""
    trials = sum(len(results) for results in next(iter(case_by_case(view))).results.values())
    with serve([view]) as served:
        assert f"{trials} places in {trials} trials" in served.get(f"/runs/run6/cases/0-0?q={words}").text


def test_no_character_turns_a_place_around(serve: Any, view: RunView) -> None:
    """It is replaced, as everywhere on a page."""
    with serve([view]) as served:
        page = served.get("/runs/run6/cases/0-0?q=turned").text
    assert any(text.endswith("\ufffd<mark>turned</mark>") for _, text in found(page))
    assert "\u202e" not in page


def test_hostile_places_are_texts(serve: Any, views: list[RunView]) -> None:
    """What is found and what was searched for act on nothing."""
    with serve(views) as served:
        page = served.get("/runs/run3/cases/0-0?q=%3Cscript%3E").text
    assert found(page)
    assert all("&lt;" in text for _, text in found(page))
    assert "<script" not in page


def test_only_the_first_places_are_listed(view: RunView) -> None:
    """All are counted."""
    report = next(iter(case_by_case(view)))
    whole = search(report, "nothing")
    assert whole is not None
    trials = sum(len(results) for results in report.results.values())
    assert (len(whole.hits), whole.trials) == (MOST, trials)
    assert whole.total == trials * STEPS - 2
    assert search(report, "  ") is None


def test_runs_before_a_run(serve: Any, views: list[RunView]) -> None:
    """A line for each run that has an earlier one of the same skill, suite, engine and model."""
    view = next(view for view in views if view.run.run_id == "run6")
    days = [
        replace(view, run=view.run.model_copy(update={"run_id": f"day{day}", "started_at": 1e9 + day}))
        for day in range(14)
    ]
    going_on = replace(view, run=view.run.model_copy(update={"run_id": "now", "state": RunState.RUNNING}))
    rows = [row_of(one, one.run.run_id, "store") for one in (*days, going_on)]
    rows[1] = replace(rows[1], passed=0.25)
    rows[5] = replace(rows[5], models=("another",))
    lines = sparklines(rows, rows)
    assert set(lines) == {f"day{day}" for day in range(1, 14)} - {"day5"}
    share = rows[0].passed
    assert lines["day2"].shares == (share, 0.25, share)
    assert len(lines["day13"].shares) == 12
    with serve(days) as served:
        assert served.get("/runs").text.count("Cases passed in the last 2 runs") == 2  # a label, and a tooltip


def test_a_line_goes_up_where_more_pass() -> None:
    """From left to right, the oldest first."""
    line = Sparkline((0.0, 0.5, 1.0))
    assert line.path == "M2.0 12.0L30.0 7.0L58.0 2.0"
    assert line.label == "Cases passed in the last 3 runs: 0.0%, 50.0%, 100.0%"
