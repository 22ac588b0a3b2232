"""The rule by which a skill counts as having got worse.

Direct calls of a deterministic skill give the same verdict every time, so one task that passed and now fails is a
regression, however few tasks there are. What an agent does differs by itself, and so may a direct skill whose own
repeats show it; there a loss must be more than what chance makes of it, all skills and tasks considered, and "no
regression" is said only where the repeats exclude a loss that matters. The rule is in the README word for word; change
both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skillgauge.api import DIRECT, plain
from skillgauge.api.report import chance_text, counted, points
from skillgauge.stats import has_fallen, holm

from .document import Difference, LiftChange, Regression, Side, TaskRuns
from .evidence import TaskPair, least_loss_change, loss_chance, share_of_level

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
    earlier: Sequence[Sequence[TaskPair]] = ()
    """The tasks as they were each time that the two runs could be compared before, the oldest first."""

    @property
    def differs_by_itself(self) -> bool:
        """Tell whether repeats are a matter of chance: with agents, and where a direct skill's own repeats disagree."""
        runs = (side for pair in self.tasks for side in (pair.before, pair.after))
        return self.arm != DIRECT.name or any(0 < one.passed < one.graded for one in runs)

    def is_down(self, max_drop: float) -> bool:
        """Tell whether its pass rate is down by more than this, and its lift, where it is known."""
        if self.difference is None:
            return False
        return has_fallen(self.difference.estimate, self.lift.estimate if self.lift else None, max_drop)

    @property
    def broken(self) -> list[TaskPair]:
        """Tasks that passed in all graded repeats and pass in none, where the baseline arm did not go the same way."""
        return [
            pair for pair in self.tasks if (pair.before.share, pair.after.share) == (1.0, 0.0) and pair.lift_change < 0
        ]


@dataclass(frozen=True)
class Deciding:
    """Further repeats that would decide a comparison if it went on as it began."""

    runs: int
    """Of every task, in every arm."""
    tasks: tuple[str, ...]
    """All that are compared: to repeat only those that look bad would acquit skills that got worse."""
    sides: tuple[Side, ...]
    """The reports whose runs are continued."""

    @property
    def options(self) -> str:
        """Options of `eval --confirm`."""
        return f"--runs {self.runs}"


@dataclass(frozen=True)
class Judged:
    """The judgement of a skill, and what it rests on."""

    regression: Regression
    reasons: tuple[str, ...] = ()
    decided_by: Deciding | None = None
    """If undecided: what would decide; `None` if no number of repeats would."""
    loss_seen: bool = False
    """Whether it looks worse than before."""
    possible_loss: float | None = None
    """Loss, as a fraction, that cannot be excluded; `None` where repeats agree."""


def judge(skills: Sequence[Weighed], max_drop: float, *, any_loss: bool = False) -> list[Judged]:
    """Judge each skill.

    Args:
        skills: all that are to be judged: the more there are, the more each has to prove.
        max_drop: largest loss of pass rate, as a fraction, that is no regression.
        any_loss: call each task that broke a regression, however little proves it.
    """
    uncertain = [place for place, skill in enumerate(skills) if skill.difference and skill.differs_by_itself]
    rates = dict(zip(uncertain, holm([_rate_chance(skills[place]) for place in uncertain]), strict=True))
    proven = _proven_tasks(skills, uncertain)
    judged = []
    for place, skill in enumerate(skills):
        evidence = None
        if place in rates:
            evidence = _Evidence(rates[place], proven.get(place, {}), len(uncertain))
        judged.append(_judge_skill(skill, evidence, max_drop, any_loss=any_loss))
    return judged


def _proven_tasks(skills: Sequence[Weighed], uncertain: Sequence[int]) -> dict[int, dict[str, float]]:
    """Return the chance of each task that got worse beyond chance by itself, by the place of its skill."""
    tasks = [(place, pair) for place in uncertain for pair in skills[place].tasks if _has_repeats(pair)]
    chances = holm([_task_chance(skills[place], pair, len(tasks)) for place, pair in tasks])
    proven: dict[int, dict[str, float]] = {}
    for (place, pair), chance in zip(tasks, chances, strict=True):
        if chance <= CASE_CHANCE:
            proven.setdefault(place, {})[pair.task] = chance
    return proven


def _judge_skill(skill: Weighed, evidence: _Evidence | None, max_drop: float, *, any_loss: bool) -> Judged:
    """Judge one skill; `evidence` is there where its repeats are a matter of chance."""
    if skill.difference is None:
        return Judged(Regression.NOT_JUDGED)
    if any_loss:
        lost = [pair for pair in skill.tasks if (pair.before.share, pair.after.share) == (1, 0)]
        if lost:
            return Judged(Regression.YES, (_broke(lost),), loss_seen=True)
    if evidence is not None:
        return _by_evidence(skill, skill.difference, evidence, max_drop)
    return _directly(skill)


def _rate_chance(skill: Weighed) -> float:
    """Chance of the loss of the pass rate, earlier looks allowed for."""
    return min(1.0, loss_chance(skill.tasks) / share_of_level(skill.earlier, RATE_CHANCE))


def _task_chance(skill: Weighed, task: TaskPair, tasks: int) -> float:
    """Chance of the loss of one task, earlier looks at it allowed for."""
    earlier = [[pair for pair in look if pair.task == task.task] for look in skill.earlier]
    return min(1.0, loss_chance([task]) / share_of_level(earlier, CASE_CHANCE / tasks))


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
    """The chance that nothing but chance explains a skill's loss, all skills and tasks allowed for."""

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
        return Judged(Regression.YES, (_broke(certain),), loss_seen=True)
    if broken:
        sides = tuple(side for side in Side if not all(_is_complete(getattr(pair, side)) for pair in broken))
        again = Deciding(MIN_REPEATS, tuple(pair.task for pair in skill.tasks), sides)
        reason = f"{_broke(broken)}, but errors left too few repeats to tell"
        return Judged(Regression.UNDECIDED, (reason,), again, loss_seen=True)
    return Judged(Regression.NO)


def _is_broad(pairs: Sequence[TaskPair]) -> bool:
    """Tell whether a loss rests on more than a run or two of one single task."""
    worse = [pair for pair in pairs if pair.change < 0]
    return len(worse) > 1 or all(map(_has_repeats, worse))


def _is_complete(runs: TaskRuns) -> bool:
    return runs.graded >= min(MIN_REPEATS, runs.graded + runs.errors)


def _by_evidence(skill: Weighed, difference: Difference, evidence: _Evidence, max_drop: float) -> Judged:
    is_down, broken = skill.is_down(max_drop), skill.broken
    possible = -least_loss_change(skill.tasks)
    allowed = f", {evidence.skills} skills allowed for" if evidence.skills > 1 else ""
    rate = f"{_rate(difference)}{_lift(skill.lift)}"
    reasons = []
    if is_down and evidence.rate <= RATE_CHANCE and _is_broad(skill.tasks):
        reasons.append(f"{rate}, {chance_text(evidence.rate)}{allowed}")
    if evidence.tasks:
        least = chance_text(max(evidence.tasks.values()))
        reasons.append(
            f"{named(list(evidence.tasks))} got worse by more than chance explains ({least}, all allowed for)"
        )
    if reasons:
        return Judged(Regression.YES, tuple(reasons), loss_seen=True, possible_loss=possible)
    if is_down:
        reasons.append(f"{rate}, which chance may explain ({chance_text(evidence.rate)}{allowed})")
    if broken:
        reasons.append(f"{_broke(broken)}, but too few repeats show it")
    if reasons:
        deciding = _deciding(skill, _Target(max_drop, evidence.skills, is_down=is_down, loss_seen=True))
        return Judged(Regression.UNDECIDED, tuple(reasons), deciding, loss_seen=True, possible_loss=possible)
    if possible < max_drop:
        return Judged(Regression.NO, _explained(skill, difference, max_drop), possible_loss=possible)
    deciding = _deciding(skill, _Target(max_drop, evidence.skills, is_down=False, loss_seen=False))
    reason = f"{_observation(skill, difference, max_drop)}, but one of {possible * 100:.1f} points cannot be excluded"
    return Judged(Regression.UNDECIDED, (reason,), deciding, possible_loss=possible)


def _explained(skill: Weighed, difference: Difference, max_drop: float) -> tuple[str, ...]:
    """Say what the baseline arm explains of a loss that is not the skill's."""
    if skill.lift is None:
        return ()
    if -difference.estimate > max_drop + _ROUNDING:
        return (f"{_rate(difference)}{_lift(skill.lift)}: the model changed, not the skill",)
    if -skill.lift.estimate > max_drop + _ROUNDING:
        better = f"{skill.lift.arm} got better, the skill did not get worse"
        return (f"lift {points(skill.lift.estimate)}{_from_to(skill.lift)}: {better}",)
    return ()


def _observation(skill: Weighed, difference: Difference, max_drop: float) -> str:
    """Say what is seen of a skill that does not look worse."""
    margin = f"more than {max_drop * 100:g} points is seen"
    if skill.lift is None:
        return f"no loss of {margin}"
    none_seen = f"no loss of the skill's own of {margin}"
    if -difference.estimate > max_drop + _ROUNDING:
        return f"{_rate(difference)}{_lift(skill.lift)}: {skill.lift.arm} fell as well, so {none_seen}"
    if -skill.lift.estimate > max_drop + _ROUNDING:
        return f"lift {points(skill.lift.estimate)}{_from_to(skill.lift)}: {skill.lift.arm} got better, so {none_seen}"
    return none_seen


def _rate(difference: Difference) -> str:
    return f"pass rate {points(difference.estimate)} over {counted(difference.tasks, 'case')}"


def _lift(lift: LiftChange | None) -> str:
    return f", lift against {lift.arm} {points(lift.estimate)}{_from_to(lift)}" if lift else ""


def _from_to(lift: LiftChange) -> str:
    return f" ({points(lift.before)} before, {points(lift.after)} now)"


def _broke(pairs: Sequence[TaskPair]) -> str:
    names = named([pair.task for pair in pairs])
    if len(pairs) == 1:
        return f"case {names} passed before and fails now"
    return f"cases {names} passed before and fail now"


@dataclass(frozen=True)
class _Target:
    """The decision that further repeats are to reach: a regression, or that a loss is excluded."""

    max_drop: float
    skills: int
    is_down: bool
    loss_seen: bool


def _deciding(skill: Weighed, target: _Target) -> Deciding | None:
    """Find the fewest further repeats that decide: in the second report alone, if that takes fewer in all than both."""
    enough: dict[tuple[Side, ...], int] = {}
    choices: tuple[tuple[Side, ...], ...] = ((Side.AFTER,), (Side.BEFORE, Side.AFTER))
    for sides in choices:
        for runs in _SUGGESTED_RUNS:
            further = [_repeated(pair, runs, sides) for pair in skill.tasks]
            if _decides(skill, further, target):
                enough[sides] = runs
                break
    if not enough:
        return None
    cheapest = min(enough, key=lambda sides: (enough[sides] * len(sides), len(sides)))
    return Deciding(enough[cheapest], tuple(pair.task for pair in skill.tasks), cheapest)


def _decides(skill: Weighed, further: Sequence[TaskPair], target: _Target) -> bool:
    """Tell whether the tasks with further repeats would decide, this look at them included."""
    if not target.loss_seen:
        return -least_loss_change(further) < target.max_drop
    continued = replace(skill, tasks=further, earlier=[*skill.earlier, skill.tasks])
    repeated = [_task_chance(continued, pair, len(further)) for pair in further if _has_repeats(pair)]
    if repeated and min(holm(repeated)) <= CASE_CHANCE:
        return True
    return target.is_down and _rate_chance(continued) <= RATE_CHANCE / target.skills and _is_broad(further)


def _repeated(pair: TaskPair, runs: int, sides: Sequence[Side]) -> TaskPair:
    """The task with further repeats in some of the reports, of which the same share passes."""

    def more(repeats: TaskRuns, side: Side) -> TaskRuns:
        if side not in sides:
            return repeats
        graded = repeats.graded + runs
        return repeats.model_copy(update={"passed": round(repeats.share * graded), "graded": graded})

    before, after, control = more(pair.before, Side.BEFORE), more(pair.after, Side.AFTER), pair.control
    if control:
        control = replace(control, before=more(control.before, Side.BEFORE), after=more(control.after, Side.AFTER))
    return replace(pair, before=before, after=after, control=control)
