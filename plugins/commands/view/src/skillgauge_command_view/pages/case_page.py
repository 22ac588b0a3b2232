"""The page of a case, arm beside arm and repeat after repeat, and the page of one trial with its whole session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skillgauge.api import CaseHead, TrialResult, Verdict
from skillgauge.api.report import CaseReport, GroupKey, RunView, case_by_case, case_name, counted
from skillgauge_run_pages.waterfall import Waterfall, waterfall
from skillgauge_run_views import Excerpt, Room, Step, Transcript, excerpt, outcome_text, transcript
from skillgauge_run_views.transcripts import as_text

SIDE_ROOM = Room(characters=4_000, steps=60)
"""The part of a trial that is shown beside others."""
_WHOLE = 100_000
"""Characters of one text on the page of a trial."""
STEPS = 100
"""Steps on a page of a trial."""
_OPEN = 3
"""Repeats that stand open, of those that are not alike."""


@dataclass(frozen=True)
class NumberedStep:
    """A step with its place in the session, from 1, by which it is linked to."""

    number: int
    step: Step


@dataclass(frozen=True)
class Side:
    """A trial beside those of other arms."""

    result: TrialResult
    shown: Transcript

    @classmethod
    def of(cls, result: TrialResult, room: Room) -> Side:
        """Return a trial as it is shown in some room."""
        return cls(result, transcript(result, room))

    @property
    def steps(self) -> tuple[NumberedStep, ...]:
        """Its steps with their places."""
        return tuple(_numbered(self.shown))

    @property
    def times(self) -> Waterfall | None:
        """The time of its session, if it is known and all of its steps are here to be linked to."""
        return None if self.shown.steps_left_out else waterfall(self.result)

    @property
    def is_cut(self) -> bool:
        """True if the page of the trial shows more."""
        texts = (*(one.content for one in self.shown.steps), *self.shown.excerpts)
        return bool(self.shown.steps_left_out) or any(text.note for text in texts if text)

    @property
    def total_steps(self) -> int:
        """Steps of its session."""
        return len(self.shown.steps) + self.shown.steps_left_out


@dataclass(frozen=True)
class Repeat:
    """The trials of one repeat, arm beside arm."""

    number: int
    sides: tuple[Side, ...]
    like: int | None
    """An earlier repeat that ended alike, so that this one is folded; `None` if there is none."""
    is_open: bool


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
    """A case by the place of its suite in the plan and its own in the suite; reads no further than it has to."""
    suites = view.head.suites
    if suite >= len(suites):
        return None
    reports = (report for report in case_by_case(view) if report.case.suite_id == suites[suite].id)
    return next((report for report in reports if report.case.index == index), None)


def case_page(report: CaseReport) -> CasePage:
    """Return the page of a case."""
    lanes = dict.fromkeys(group.in_arm("") for group in report.results)
    question = None
    if report.case.prompt is not None:
        question = excerpt("Prompt", report.case.prompt, characters=SIDE_ROOM.characters)
    elif report.case.input is not None:
        question = excerpt("Input", as_text(report.case.input), characters=SIDE_ROOM.characters)
    return CasePage(report.case, question, tuple(_lane(report, lane) for lane in lanes))


def _lane(report: CaseReport, lane: GroupKey) -> Lane:
    outcomes = tuple(
        (pair.baseline.arm, outcome_text(pair.outcome)) for pair in report.pairs if pair.candidate.in_arm("") == lane
    )
    by_repeat: dict[int, list[TrialResult]] = {}
    for group, results in report.results.items():
        if group.in_arm("") == lane:
            for result in results:
                by_repeat.setdefault(result.repeat, []).append(result)
    return Lane(lane, outcomes, tuple(_repeats(sorted(by_repeat.items()))))


def _repeats(repeats: Sequence[tuple[int, Sequence[TrialResult]]]) -> Iterator[Repeat]:
    """Yield the repeats; one whose verdicts and checks are those of an earlier one is folded."""
    endings: dict[object, int] = {}
    opened = 0
    for number, results in repeats:
        ending = tuple(_ending(result) for result in results)
        like = endings.get(ending)
        endings.setdefault(ending, number)
        is_open = like is None and opened < _OPEN
        opened += is_open
        sides = tuple(Side.of(result, SIDE_ROOM) for result in results)
        yield Repeat(number, sides, like, is_open)


def _ending(result: TrialResult) -> tuple[object, ...]:
    failure = result.execution.failure
    checks = tuple((score.check_id, score.status) for score in result.scores)
    return result.arm, result.verdict, checks, failure.failure_class if failure else None


@dataclass(frozen=True)
class TrialPage:
    """A trial with a part of its session."""

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
        return (step - 1) // STEPS * STEPS + 1

    @property
    def steps_text(self) -> str:
        """The number of its steps in words."""
        return counted(self.total, "step")


def find_trial(view: RunView, ordinal: int) -> TrialResult | None:
    """A trial by its place in the plan."""
    return next((result for result in view.results() if result.ordinal == ordinal), None)


def trial_page(result: TrialResult, first: int = 1, *, whole: bool = False) -> TrialPage:
    """Return the page of a trial.

    Args:
        result: the trial.
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
    return TrialPage(result, shown, steps, len(events), first, times)


def is_passed(result: TrialResult) -> bool:
    """Tell whether a trial passed."""
    return result.verdict is Verdict.PASS


def _numbered(shown: Transcript) -> Iterator[NumberedStep]:
    half = len(shown.steps) // 2
    for place, step in enumerate(shown.steps):
        left_out = shown.steps_left_out if place >= half else 0
        yield NumberedStep(place + 1 + left_out, step)
