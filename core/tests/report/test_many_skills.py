"""A skill costs the same beside a thousand others as beside ten: no part of a summary grows faster than they do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

from skillgauge.api import Kept, ResultOrder
from skillgauge.api.report import GroupKey, RunView, SuiteSummary
from skillgauge.decide.decision import GateOptions, decide
from skillgauge.decide.failing import failing_lines
from skillgauge.report.catalogue import SkillFinding, catalogue
from skillgauge.report.rows import BAR, lift_bar, table_of
from skillgauge.report.summary import summarize
from skillgauge_testkit import contract_views

ARMS = dict(contract_views())["a comparison of two arms"]


def run_of(skills: int) -> RunView:
    """The same comparison of two arms for as many skills."""
    names = [f"skill-{number:04}" for number in range(skills)]
    (suite,) = ARMS.head.suites
    (target,) = suite.targets
    suites = tuple(
        suite.model_copy(update={"id": name, "targets": (target.model_copy(update={"id": name}),)}) for name in names
    )
    results = [
        result.model_copy(update={"suite_id": name, "target_id": name}) for name in names for result in ARMS.results()
    ]
    source = Kept(lambda: results)
    head = ARMS.head.model_copy(update={"suites": suites})
    summary = summarize(head, source.results(ResultOrder.CASE), figures=no_figures)
    return replace(ARMS, head=head, source=source, summary=summary)


def no_figures(_: SuiteSummary) -> dict[GroupKey, tuple[()]]:
    """A format without numbers of its own."""
    return {}


def calls(work: Callable[[], object]) -> int:
    """Count the calls that some work makes."""
    count = 0

    def counted(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
def test_a_summary_takes_so_many_calls_a_skill_however_many_there_are() -> None:
    """R3-V4: four times the skills take at most five times the calls, where a quadratic part would take sixteen."""
    few, many = run_of(40), run_of(160)

    def summary_of(view: RunView) -> Callable[[], object]:
        results = list(view.source.results(ResultOrder.CASE))
        return lambda: summarize(view.head, results, figures=no_figures)

    options = GateOptions(exit_on_fail=True, min_completion=1.0)
    for work in (
        summary_of,
        lambda view: lambda: catalogue(view),
        lambda view: lambda: list(failing_lines(view, ())),
        lambda view: lambda: decide(view, options),
    ):
        work(few)()  # what is made once
        assert calls(work(many)) < 5 * calls(work(few))


def test_every_skill_has_a_row() -> None:
    """Of one skill there is no catalogue; of several each has a row, and the line counts them."""
    assert catalogue(run_of(1)) is None
    skills = catalogue(run_of(3))
    assert skills is not None
    assert [row.name for row in skills.rows] == ["skill-0000", "skill-0001", "skill-0002"]
    assert {row.finding for row in skills.rows} == {SkillFinding.UNDECIDED}
    assert skills.headline == "3 skills: 3 cannot be told"
    heads, rows = table_of(skills, most=2)
    assert heads[:3] == ("Skill", "Verdict", "Lift (points)")
    assert [row[0] for row in rows] == ["skill-0000", "skill-0001"]
    assert all(len(row) == len(heads) for row in rows)


def bars() -> Iterator[tuple[float, float, float]]:
    """Intervals around an estimate, beyond the scale as well."""
    steps = (-1.2, -1.0, -0.5, 0.0, 0.3, 1.0, 1.4)
    yield from ((low, mid, high) for low in steps for mid in steps for high in steps if low <= mid <= high)


def test_a_bar_has_its_estimate_inside_its_interval() -> None:
    """Every bar is as wide as the others, and the point stands where the estimate is."""
    for lower, estimate, upper in bars():
        bar = lift_bar(lower, estimate, upper)
        assert len(bar) == BAR
        assert bar.count("o") == 1
        assert bar.strip(" |") == bar.strip(" |").strip()
        drawn = [at for at, character in enumerate(bar) if character in "-o"]
        assert drawn[0] <= bar.index("o") <= drawn[-1]
