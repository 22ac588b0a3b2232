"""When a skill counts as having got worse.

Direct calls of a deterministic skill give the same verdict every time, so one task that passed and now fails is a
regression, however few tasks there are. What an agent does differs by itself, and so may a direct skill whose own
repeats show it; there a loss must be more than what chance makes of it, all skills and tasks considered. The rule is
in the README word for word; change both.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skillgauge.api import DIRECT, chance_text, counted, holm, plain, points

from .document import Difference, LiftChange, Regression, Side, TaskRuns
from .evidence import TaskPair, loss_chance

MAX_DROP = 0.05
"""Loss of pass rate, as a fraction, that is no regression unless the user says otherwise."""
RATE_CHANCE = 0.04
"""The pass rates of all skills together are called worse by chance alone this often or less."""
CASE_CHANCE = 0.01
"""The same of all single tasks; the two together make 5 %."""
MIN_REPEATS = 3
"""Graded repeats on both sides from which a single task can prove anything where repeats differ."""
_ROUNDING = 1e-9
_NAMED = 3
_SUGGESTED_RUNS = (3, 5, 7, 10, 15, 20, 30)


@dataclass(frozen=True)
class Weighed:
    """A skill that both reports have, in a candidate arm, as far as it can be compared."""

    arm: str
    tasks: Sequence[TaskPair]
    """Those compared."""
    difference: Difference | None
    lift: LiftChange | None = None

    @property
    def differs_by_itself(self) -> bool:
        """Whether repeats are a matter of chance: with agents, and where a direct skill's own repeats disagree."""
        runs = (side for pair in self.tasks for side in (pair.before, pair.after))
        return self.arm != DIRECT.name or any(0 < one.passed < one.graded for one in runs)

    def is_down(self, max_drop: float) -> bool:
        """Whether its pass rate is down by more than this, and its lift, where it is known."""
        found = [one.estimate for one in (self.difference, self.lift) if one]
        return bool(found) and all(-estimate > max_drop + _ROUNDING for estimate in found)

    @property
    def broken(self) -> list[TaskPair]:
        """Tasks that passed in all graded repeats and pass in none, where the baseline arm did not go the same way."""
        return [
            pair for pair in self.tasks if (pair.before.share, pair.after.share) == (1.0, 0.0) and pair.lift_change < 0
        ]


@dataclass(frozen=True)
class Deciding:
    """Cases whose repetition would decide if they went on like this, how often, and in which of the reports."""

    runs: int
    tasks: tuple[str, ...]
    sides: tuple[Side, ...]

    @property
    def options(self) -> str:
        """Of `eval`."""
        return f"--runs {self.runs}{''.join(f' --case {shlex.quote(_pattern(task))}' for task in self.tasks)}"


def _pattern(task: str) -> str:
    """What `--case` finds a task by: its id, with `?` for what a pattern, a list or a terminal would take otherwise."""
    return "".join(letter if letter.isprintable() and letter not in ",*?[" else "?" for letter in task)


@dataclass(frozen=True)
class Judged:
    """Whether a skill regressed, and why."""

    regression: Regression
    reasons: tuple[str, ...] = ()
    decided_by: Deciding | None = None
    """If undecided: what would decide; `None` if no number of repeats would."""


def judge(skills: Sequence[Weighed], max_drop: float, *, any_loss: bool = False) -> list[Judged]:
    """Whether each skill regressed.

    Args:
        skills: all that are to be judged: the more there are, the more each has to prove.
        max_drop: largest loss of pass rate, as a fraction, that is no regression.
        any_loss: call each task that broke a regression, however little proves it.
    """
    uncertain = [place for place, skill in enumerate(skills) if skill.difference and skill.differs_by_itself]
    rates = dict(zip(uncertain, holm([loss_chance(skills[place].tasks) for place in uncertain]), strict=True))
    cases = [(place, pair) for place in uncertain for pair in skills[place].tasks if _has_repeats(pair)]
    chances = zip(cases, holm([loss_chance([pair]) for _, pair in cases]), strict=True)
    proven: dict[int, dict[str, float]] = {}
    for (place, pair), chance in chances:
        if chance <= CASE_CHANCE:
            proven.setdefault(place, {})[pair.task] = chance
    judged = []
    for place, skill in enumerate(skills):
        if skill.difference is None:
            judged.append(Judged(Regression.NOT_JUDGED))
        elif any_loss and (lost := [pair for pair in skill.tasks if (pair.before.share, pair.after.share) == (1, 0)]):
            judged.append(Judged(Regression.YES, (_broke(lost),)))
        elif place in rates:
            of_skill = _Evidence(rates[place], proven.get(place, {}), len(uncertain))
            judged.append(_by_evidence(skill, skill.difference, of_skill, max_drop))
        else:
            judged.append(_directly(skill))
    return judged


def overall(judged: Sequence[Regression]) -> Regression:
    """The worst of several."""
    order = (Regression.YES, Regression.UNDECIDED, Regression.NO)
    return next((one for one in order if one in judged), Regression.NOT_JUDGED)


def named(tasks: Sequence[str]) -> str:
    """Some tasks by name and the rest by number."""
    shown = ", ".join(plain(task, 60) for task in tasks[:_NAMED])
    more = len(tasks) - _NAMED
    return f"{shown} and {more} more" if more > 0 else shown


@dataclass(frozen=True)
class _Evidence:
    """How likely chance alone explains what is seen of a skill, all skills and tasks allowed for."""

    rate: float
    tasks: Mapping[str, float]
    """Those that got worse beyond chance by themselves."""
    skills: int


def _has_repeats(pair: TaskPair) -> bool:
    sides = [pair.before, pair.after, *((pair.control.before, pair.control.after) if pair.control else ())]
    return all(side.graded >= MIN_REPEATS for side in sides)


def _directly(skill: Weighed) -> Judged:
    """Direct calls whose repeats agree: a task that broke is a regression, unless errors took most of its repeats."""
    broken = skill.broken
    certain = [pair for pair in broken if _is_complete(pair.before) and _is_complete(pair.after)]
    if certain:
        return Judged(Regression.YES, (_broke(certain),))
    if broken:
        sides = tuple(side for side in Side if not all(_is_complete(getattr(pair, side)) for pair in broken))
        again = Deciding(MIN_REPEATS, tuple(pair.task for pair in broken), sides)
        return Judged(Regression.UNDECIDED, (f"{_broke(broken)}, but errors left too few repeats to tell",), again)
    return Judged(Regression.NO)


def _is_broad(pairs: Sequence[TaskPair]) -> bool:
    """Whether a loss rests on more than a run or two of one single task."""
    worse = [pair for pair in pairs if pair.change < 0]
    return len(worse) > 1 or all(map(_has_repeats, worse))


def _is_complete(runs: TaskRuns) -> bool:
    return runs.graded >= min(MIN_REPEATS, runs.graded + runs.errors)


def _by_evidence(skill: Weighed, difference: Difference, evidence: _Evidence, max_drop: float) -> Judged:
    is_down = skill.is_down(max_drop)
    allowed = f", {evidence.skills} skills allowed for" if evidence.skills > 1 else ""
    rate = f"{_rate(difference)}{_lift(skill.lift)}"
    reasons = []
    if is_down and evidence.rate <= RATE_CHANCE and _is_broad(skill.tasks):
        reasons.append(f"{rate}, which chance explains with {chance_text(evidence.rate)} only{allowed}")
    if evidence.tasks:
        least = chance_text(max(evidence.tasks.values()))
        reasons.append(
            f"{named(list(evidence.tasks))} got worse by more than chance explains ({least}, all allowed for)"
        )
    if reasons:
        return Judged(Regression.YES, tuple(reasons))
    broken = skill.broken
    if is_down:
        reasons.append(f"{rate}, which chance may explain ({chance_text(evidence.rate)}{allowed})")
    if broken:
        reasons.append(f"{_broke(broken)}, but too few repeats show it")
    if reasons:
        return Judged(Regression.UNDECIDED, tuple(reasons), _deciding(skill, is_down=is_down, skills=evidence.skills))
    return Judged(Regression.NO, tuple(_control(skill, difference, max_drop)))


def _control(skill: Weighed, difference: Difference, max_drop: float) -> Sequence[str]:
    """What the baseline arm explains."""
    if skill.lift is None:
        return ()
    if -difference.estimate > max_drop + _ROUNDING:
        return (f"{_rate(difference)}{_lift(skill.lift)}: the model changed, not the skill",)
    if -skill.lift.estimate > max_drop + _ROUNDING:
        better = f"{skill.lift.arm} got better, the skill did not get worse"
        return (f"lift {points(skill.lift.estimate)}{_from_to(skill.lift)}: {better}",)
    return ()


def _rate(difference: Difference) -> str:
    return f"pass rate {points(difference.estimate)} over {counted(difference.tasks, 'task')}"


def _lift(lift: LiftChange | None) -> str:
    return f", lift against {lift.arm} {points(lift.estimate)}{_from_to(lift)}" if lift else ""


def _from_to(lift: LiftChange) -> str:
    return f" ({points(lift.before)} before, {points(lift.after)} now)"


def _broke(pairs: Sequence[TaskPair]) -> str:
    return f"{named([pair.task for pair in pairs])} passed before and {'fails' if len(pairs) == 1 else 'fail'} now"


def _deciding(skill: Weighed, *, is_down: bool, skills: int) -> Deciding | None:
    """The doubtful tasks alone, in the second report alone if that does not take more runs in all than in both."""
    doubtful = [pair for pair in skill.tasks if pair.change < 0] if is_down else skill.broken
    enough = {}
    for sides in ((Side.AFTER,), (Side.BEFORE, Side.AFTER)):
        for runs in _SUGGESTED_RUNS:
            joined = [_repeated(pair, runs, sides) if pair in doubtful else pair for pair in skill.tasks]
            if _decides(joined, is_down=is_down, skills=skills):
                enough[sides] = runs
                break
    if not enough:
        return None
    sides = min(enough, key=lambda sides: (enough[sides] * len(sides), len(sides)))
    return Deciding(enough[sides], tuple(pair.task for pair in doubtful), sides)


def _decides(tasks: Sequence[TaskPair], *, is_down: bool, skills: int) -> bool:
    """Whether such tasks would be a regression."""
    repeated = [loss_chance([pair]) for pair in tasks if _has_repeats(pair)]
    if repeated and min(holm(repeated)) <= CASE_CHANCE:
        return True
    return is_down and loss_chance(tasks) <= RATE_CHANCE / skills and _is_broad(tasks)


def _repeated(pair: TaskPair, runs: int, sides: Sequence[Side]) -> TaskPair:
    """The task as it would be with so many repeats in some of the reports, and the same shares."""

    def more(found: TaskRuns, side: Side) -> TaskRuns:
        more = {"passed": round(found.share * runs), "graded": runs}
        return found.model_copy(update=more) if side in sides else found

    before, after, control = more(pair.before, Side.BEFORE), more(pair.after, Side.AFTER), pair.control
    if control:
        control = replace(control, before=more(control.before, Side.BEFORE), after=more(control.after, Side.AFTER))
    return replace(pair, before=before, after=after, control=control)
