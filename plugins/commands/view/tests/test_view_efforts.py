"""The effort of sessions stands beside the figures of a run, as numbers and pictures; nothing unknown is drawn."""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import Kept, TrialResult, Usage, Verdict
from skillgauge.api.report import GroupKey, RunView
from skillgauge_run_pages.efforts import COST, SCALE, Efforts


def with_cost(result: TrialResult, cost_usd: float | None, **more: Any) -> TrialResult:
    """The same trial with another cost."""
    usage = None if cost_usd is None else Usage(cost_usd=cost_usd)
    execution = result.execution.model_copy(update={"usage": usage, "duration_s": None, "replayed": False, **more})
    return result.model_copy(update={"execution": execution, "verdict": Verdict.PASS})


@pytest.fixture(scope="module")
def result(views: list[RunView]) -> TrialResult:
    """Some trial."""
    return next(iter(views[6].results()))


@given(st.lists(st.floats(0, 100, allow_subnormal=False), min_size=1, max_size=20), st.integers(0, 5))
def test_a_box_orders_its_amounts(result: TrialResult, costs: list[float], unknown: int) -> None:
    """Its parts are in order and inside the picture; its line is the median; what is unknown is counted apart."""
    efforts = Efforts()
    efforts.add([with_cost(result, cost) for cost in [*costs, *[None] * unknown]])
    (boxes,) = efforts.boxes()
    (box,) = boxes.boxes
    assert (box.n, box.unknown, box.least, box.most) == (len(costs), unknown, min(costs), max(costs))
    assert box.median == pytest.approx(median(costs))
    places = [boxes.place(value) for value in (box.least, box.lower, box.median, box.upper, box.most)]
    assert places == sorted(places)
    assert places[0] >= 0
    assert places[-1] in (SCALE, 0)


def test_recordings_and_errors_took_nothing_here(result: TrialResult) -> None:
    """Their times and costs belong to other runs, or to no session."""
    efforts = Efforts()
    efforts.add([with_cost(result, 1.0, replayed=True)])
    efforts.add([with_cost(result, 1.0).model_copy(update={"verdict": Verdict.ERROR})])
    assert list(efforts.boxes()) == []


def priced(view: RunView, by_arm: dict[str, float | None]) -> RunView:
    """The run, each of whose trials costs what its arm says."""
    results = [
        one
        if one.verdict is Verdict.ERROR
        else with_cost(one, by_arm.get(one.arm, 0.5)).model_copy(update={"verdict": one.verdict})
        for one in view.results()
    ]
    return replace(view, source=Kept(lambda: results, list(view.cases())))


def arms(view: RunView) -> list[GroupKey]:
    """The groups that have a pass rate."""
    return [group.key for group in view.summary.groups if group.pass_rate.rate is not None]


@pytest.mark.slow
def test_cost_stands_against_quality(serve: Any, views: list[RunView]) -> None:
    """Each group is a point whose numbers stand in the table; the dearest lies at the right edge."""
    view = views[6]
    costs = {group.arm: place + 1.0 for place, group in enumerate(arms(view))}
    assert len(costs) > 1
    with serve([priced(view, costs)]) as served:
        address = re.search(r'href="(/runs/[^/"?]+)"', served.get("/runs").text)
        assert address
        page = served.get(address[1]).text
    assert "Cost against pass rate" in page
    label = re.search(r'aria-label="(Mean cost of a trial against pass rate: [^"]*)"', page)
    assert label
    assert [float(cost) for cost in re.findall(r"[A-Z] ([\d.]+) USD", label[1])] == sorted(costs.values())
    circles = [float(x) for x in re.findall(r'<circle class="point" cx="([\d.]+)"', page)]
    assert circles == sorted(circles)
    assert circles[-1] == 480 - 16
    assert circles[0] == pytest.approx(52 + (480 - 16 - 52) / len(costs), abs=0.1)


def test_unknown_cost_is_not_drawn(views: list[RunView]) -> None:
    """A group of which one graded trial does not tell its cost has no point, and so there is no picture of one."""
    view = views[6]
    first, *others = arms(view)
    efforts = Efforts()
    costs: dict[str, float | None] = {first.arm: None, **dict.fromkeys((other.arm for other in others), 1.0)}
    efforts.add(priced(view, costs).results())
    assert efforts.against_quality(view.summary.groups) is None
    known = Efforts()
    known.add(priced(view, dict.fromkeys(costs, 1.0)).results())
    assert known.against_quality(view.summary.groups)
    (boxes,) = (one for one in efforts.boxes() if one.measure is COST)
    assert all(box.group.arm != first.arm for box in boxes.boxes)
