"""Pages have the remarks of plugins that reports have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from skillgauge.api import ResultOrder, TrialResult
from skillgauge.api.report import JUDGED, Figure, GroupKey, RunState, RunView, abridged, moment
from skillgauge.api.run import Globals, invocation
from skillgauge_command_view.export import export
from skillgauge_command_view.links import key_of
from skillgauge_command_view.pages.last_few import LastFew
from skillgauge_command_view.pages.remarks import Remarks
from skillgauge_command_view.rows import row_of
from skillgauge_testkit.program import Program

MARK = "decided by a judge that is not calibrated"
LINE = "the judge of this run is not calibrated"
SUITE = """\
cases:
  - name: greets
    prompt: Say hello.
    expectations:
      - It greets.
"""


def plugins() -> Remarks:
    """The installed plugins."""
    call = invocation(Globals(quiet=True), {})
    return Remarks(call.commented, call.cwd)


def test_a_judge_that_is_not_calibrated_is_told_of(
    serve: Callable[..., object], judged_view: RunView, tmp_path: Path
) -> None:
    """On the page of the run before its figures, served and exported."""
    with serve([judged_view], remarks=plugins()) as running:
        served = running.get("/runs/judged").text
    row = row_of(judged_view, key_of(judged_view.run.run_id), "file")
    list(export([(row, judged_view)], tmp_path / "pages", remarks=plugins()))
    for page in (served, (tmp_path / "pages/index.html").read_text("utf-8")):
        assert 0 < page.index(MARK) < page.index("<table")
        assert LINE in page


def test_pages_of_several_runs_tell_of_it_too(
    serve: Callable[..., object], views: list[RunView], judged_view: RunView
) -> None:
    """Once, beside the figures of two runs and of three, with the runs that it is of."""
    runs = [
        replace(judged_view, run=judged_view.run.model_copy(update={"run_id": name, "started_at": at}))
        for name, at in (("first", 1_600_000_000.0), ("second", 1_700_000_000.0), ("third", 1_800_000_000.0))
    ]
    first, second, third = (moment(run.run.started_at) for run in runs)
    with serve([*runs, views[7]], remarks=plugins()) as running:
        told = {
            f"{first} and {second}: {LINE}": "a=first&b=second",
            f"{third}: {LINE}": "a=run7&b=third",
            f"{first}, {third}: {LINE}": "run=first&run=third&run=run7",
            f"all runs: {LINE}": "run=first&run=second&run=third",
        }
        for sentence, query in told.items():
            page = running.get(f"/compare?{query}").text
            assert sentence in page
            assert page.count(LINE) == 1
        assert LINE not in running.get("/compare?a=run6&b=run7").text


@pytest.mark.slow
def test_a_page_says_what_the_terminal_says(program: Program, work: Path) -> None:
    """Of the same run, by the commands of both."""
    skill = work / "greeter"
    skill.mkdir()
    (skill / "SKILL.md").write_text("---\nname: greeter\ndescription: Greets. Use it to greet.\n---\n\nGreet.\n")
    (skill / "eval.yaml").write_text(SUITE)
    assert program("eval", "greeter", "--engine", "mock", "--judge", "mock").code in (0, 1)
    shown = program("report", "show", "latest")
    assert program("view", "export", "pages", "latest").code == 0
    page = (work / "pages/index.html").read_text("utf-8")
    for remark in (MARK, LINE):
        assert remark in " ".join((shown.stdout + shown.stderr).split())
        assert remark in page


class InParts:
    """The results of a run, which come without what agents did step by step, or not at all."""

    def __init__(self, view: RunView) -> None:
        self.cases, self._view = view.cases, view

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """Fail: it takes long."""
        raise AssertionError("every step was read")

    def abridged(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """The results, without steps."""
        return map(abridged, self._view.results(group))

    def of_case(self, suite_id: str, case_index: int) -> Iterator[TrialResult]:
        """Fail as well."""
        return self.results(ResultOrder.CASE)

    def of_trial(self, ordinal: int) -> TrialResult | None:
        """Fail as well."""
        return next(self.results(ResultOrder.CASE))


def test_remarks_need_no_step_of_a_session(judged_view: RunView) -> None:
    """So a page opens as fast whatever the sessions are."""
    _, lines = plugins().on(replace(judged_view, source=InParts(judged_view)))
    assert [LINE in line for line in lines] == [True]


class Asked:
    """A plugin that counts how often it is asked."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, view: RunView) -> tuple[RunView, tuple[str, ...]]:
        """A figure of the first group, and a line."""
        self.times += 1
        first, *others = view.summary.groups
        figure = Figure(name=f"{JUDGED}_times", label="Times", value=self.times, note=f"asked {self.times} times")
        group = first.model_copy(update={"figures": (*first.figures, figure)})
        summary = view.summary.model_copy(update={"groups": (group, *others)})
        return replace(view, summary=summary), (f"line {self.times}",)


def test_plugins_are_asked_again_when_their_folder_has_changed(views: list[RunView], tmp_path: Path) -> None:
    """A calibration may have been written; until then the page of a large run reads no result again."""
    remarks = Remarks(Asked(), tmp_path, f"{tmp_path}/runs.db")
    for name in ("runs.db", "runs.db-wal", "reports"):
        assert remarks.on(views[6])[1] == ("line 1",)
        (tmp_path / name).write_text("") if "." in name else (tmp_path / name).mkdir()
    assert remarks.on(views[6])[1] == ("line 1",)
    (tmp_path / "calibration.json").write_text("{}")
    view, lines = remarks.on(views[6])
    assert lines == ("line 2",)
    assert view.summary.groups[0].figures[-1].value == 2
    assert view.source is views[6].source
    (tmp_path / "calibration.json").write_text("{ }")
    assert remarks.on(views[6])[1] == ("line 3",)
    assert remarks.on(views[7])[1] == ("line 4",)
    assert Remarks(Asked(), tmp_path / "absent").on(views[6])[1] == ("line 1",)


def test_a_run_that_goes_on_is_shown_as_it_is(views: list[RunView]) -> None:
    """Its results are still to come."""
    view = replace(views[6], run=views[6].run.model_copy(update={"state": RunState.RUNNING}))
    asked = Asked()
    assert Remarks(asked).on(view) == (view, ())
    assert asked.times == 0


def test_the_last_few_values_stay() -> None:
    """Those that were asked for last, not those that were made last."""
    made: list[str] = []

    def make(name: str) -> str:
        made.append(name)
        return name.upper()

    few: LastFew[str] = LastFew(2)
    assert [few.of(name, lambda name=name: make(name)) for name in "abaca"] == list("ABACA")
    assert made == ["a", "b", "c"]
    assert few.of("b", lambda: make("b")) == "B"
    assert made == ["a", "b", "c", "b"]
