"""The page of a case, arm beside arm and repeat after repeat, and the page of one trial with its whole session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skillgauge.api import CaseHead, TrialResult, Verdict
from skillgauge.api.report import CaseReport, GroupKey, RunView, case_name, case_report, counted
from skillgauge_run_pages.case_rows import lanes_of
from skillgauge_run_pages.trials import NumberedStep, Repeat, Side, question_of, repeats_of
from skillgauge_run_pages.waterfall import Waterfall, waterfall
from skillgauge_run_views.outcomes import outcome_text
from skillgauge_run_views.transcripts import Excerpt, Room, Transcript, transcript

SIDE_ROOM = Room(characters=4_000, steps=60)
"""The part of a trial that is shown beside others."""
_WHOLE = 100_000
"""Characters of one text on the page of a trial."""
STEPS = 100
"""Steps on a page of a trial."""


@dataclass(frozen=True)
class Lane:
    """The trials of a case with one target, engine and model."""

    group: GroupKey
    outcomes: tuple[tuple[str, str], ...]
    """Baseline arm and outcome of each comparison."""
    repeats: tuple[Repeat, ...]


@dataclass(frozen=True)
class CasePage:
    """A case of a run."""

    case: CaseHead
    question: Excerpt | None
    lanes: tuple[Lane, ...]

    @property
    def name(self) -> str:
        """The case for people."""
        return case_name(self.case)

    @property
    def sides(self) -> Iterator[Side]:
        """Every trial that is shown."""
        for lane in self.lanes:
            for repeat in lane.repeats:
                yield from repeat.sides


def find_case(view: RunView, suite: int, index: int) -> CaseReport | None:
    """A case by the place of its suite in the plan and its own in the suite."""
    suites = view.head.suites
    return case_report(view, suites[suite].id, index) if suite < len(suites) else None


def case_page(report: CaseReport) -> CasePage:
    """Return the page of a case."""
    question = question_of(report.case, SIDE_ROOM.characters)
    return CasePage(report.case, question, tuple(_lane(report, lane) for lane in lanes_of(report)))


def _lane(report: CaseReport, lane: GroupKey) -> Lane:
    outcomes = tuple(
        (pair.baseline.arm, outcome_text(pair.outcome)) for pair in report.pairs if pair.candidate.in_arm("") == lane
    )
    return Lane(lane, outcomes, tuple(repeats_of(report, lane, SIDE_ROOM, has_times=True)))


@dataclass(frozen=True)
class TrialPage:
    """A trial with a part of its session."""

    name: str
    """Of its case."""
    result: TrialResult
    shown: Transcript
    steps: tuple[NumberedStep, ...]
    total: int
    first: int
    """Place of the first step that is shown, from 1."""
    times: Waterfall | None
    """The time of the whole session; `None` if that is unknown."""

    @property
    def parts(self) -> tuple[tuple[int, str], ...]:
        """The first step of each part of the session, and the words for it; none if there is one part."""
        if self.total <= STEPS:
            return ()
        return tuple(
            (first, f"{first} to {min(first + STEPS - 1, self.total)}") for first in range(1, self.total + 1, STEPS)
        )

    def part_of(self, step: int) -> int:
        """The first step of the part that a step is in."""
        return part_of(step)

    @property
    def steps_text(self) -> str:
        """The number of its steps in words."""
        return counted(self.total, "step")


def part_of(step: int) -> int:
    """Return the first step of the part of a session that a step is in, both from 1."""
    return (step - 1) // STEPS * STEPS + 1


def name_in(view: RunView, result: TrialResult) -> str:
    """Return the name of a trial's case; its id if the run tells no more of it."""
    place = result.suite_id, result.case_index
    names = (case_name(case) for case in view.cases() if (case.suite_id, case.index) == place)
    return next(names, result.case_id)


def trial_page(result: TrialResult, name: str, first: int = 1, *, whole: bool = False) -> TrialPage:
    """Return the page of a trial.

    Args:
        result: the trial.
        name: of its case.
        first: step that the part begins with, from 1.
        whole: whether all steps are on the page.
    """
    times = waterfall(result)
    trajectory = result.execution.trajectory
    events = trajectory.events if trajectory else ()
    first = min(max(1, first), max(1, len(events)))
    part = events if whole else events[first - 1 : first - 1 + STEPS]
    if trajectory is not None:
        execution = result.execution.model_copy(update={"trajectory": trajectory.model_copy(update={"events": part})})
        result = result.model_copy(update={"execution": execution})
    shown = transcript(result, Room(characters=_WHOLE, steps=max(2, len(part))))
    steps = tuple(NumberedStep(first + place, step) for place, step in enumerate(shown.steps))
    return TrialPage(name, result, shown, steps, len(events), first, times)


def is_passed(result: TrialResult) -> bool:
    """Tell whether a trial passed."""
    return result.verdict is Verdict.PASS
