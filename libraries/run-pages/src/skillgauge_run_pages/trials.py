"""The trials of a case, arm beside arm and repeat after repeat, each with its checks, answer, files and session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skillgauge.api import CaseHead, TrialResult, Verdict
from skillgauge.api.report import CaseReport, GroupKey
from skillgauge_run_views.transcripts import Excerpt, Room, Step, Transcript, as_text, excerpt, transcript

from .waterfall import Waterfall, waterfall

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

    ordinal: int
    """Its place in the plan."""
    arm: str
    repeat: int
    verdict: Verdict
    duration_s: float | None
    shown: Transcript
    times: Waterfall | None
    """The time of its session; `None` if it is unknown or not shown, or not all steps are here to be linked to."""

    @classmethod
    def of(cls, result: TrialResult, room: Room, *, has_times: bool) -> Side:
        """Return a trial as it is shown in some room; of the trial itself nothing is kept."""
        shown = transcript(result, room)
        times = waterfall(result) if has_times and not shown.steps_left_out else None
        duration_s = result.execution.duration_s
        return cls(result.ordinal, result.arm, result.repeat, result.verdict, duration_s, shown, times)

    @property
    def is_cut(self) -> bool:
        """True if there is more of the trial than is shown."""
        texts = (*(one.content for one in self.shown.steps), *self.shown.excerpts)
        return bool(self.shown.steps_left_out) or any(text.note for text in texts if text)


@dataclass(frozen=True)
class Repeat:
    """The trials of one repeat, arm beside arm."""

    number: int
    sides: tuple[Side, ...]
    like: int | None
    """An earlier repeat that ended alike, so that this one is folded; `None` if there is none."""
    is_open: bool


def question_of(case: CaseHead, characters: int = Room().characters) -> Excerpt | None:
    """Return the prompt of a case, else its input; `None` if the run keeps neither."""
    if case.prompt is not None:
        return excerpt("Prompt", case.prompt, characters=characters)
    return None if case.input is None else excerpt("Input", as_text(case.input), characters=characters)


def repeats_of(report: CaseReport, lane: GroupKey, room: Room, *, has_times: bool) -> Iterator[Repeat]:
    """Yield the repeats of a case; one whose verdicts and checks are those of an earlier one is folded.

    Args:
        report: the case.
        lane: the target, engine and model.
        room: of each trial.
        has_times: whether a page shows where the time of a session went.
    """
    by_repeat: dict[int, list[TrialResult]] = {}
    for group, results in report.results.items():
        if group.in_arm("") == lane:
            for result in results:
                by_repeat.setdefault(result.repeat, []).append(result)
    endings: dict[object, int] = {}
    opened = 0
    for number, results in sorted(by_repeat.items()):
        ending = tuple(_ending(result) for result in results)
        like = endings.get(ending)
        endings.setdefault(ending, number)
        is_open = like is None and opened < _OPEN
        opened += is_open
        sides = tuple(Side.of(result, room, has_times=has_times) for result in results)
        yield Repeat(number, sides, like, is_open)


def _ending(result: TrialResult) -> tuple[object, ...]:
    failure = result.execution.failure
    checks = tuple((score.check_id, score.status) for score in result.scores)
    return result.arm, result.verdict, checks, failure.failure_class if failure else None


def numbered(shown: Transcript) -> Sequence[NumberedStep]:
    """Return the steps with their places; those after the ones that are left out are numbered on from them."""
    half = len(shown.steps) // 2
    return [
        NumberedStep(place + 1 + (shown.steps_left_out if place >= half else 0), step)
        for place, step in enumerate(shown.steps)
    ]
