"""The result of a comparison: the document of `report diff --json`, from which Markdown and HTML are made too.

Rates are fractions from 0 to 1 and their differences fractions from -1 to 1; latencies are in milliseconds; `null` is
unknown or not comparable. `before` is the first report, `after` the second, and a difference is after minus before.
"""

from __future__ import annotations

from enum import StrEnum

from skillgauge.api import EMPTY, Frozen, JsonObject
from skillgauge.stats import LIFT_LEVEL, Repeats


class Direction(StrEnum):
    """The meaning of a difference for the user."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    """Equal as far as it is printed."""
    UNKNOWN = "unknown"


class Unit(StrEnum):
    """The unit of a metric, and so the way it is printed."""

    RATIO = "ratio"
    """Percent with one decimal; differences in percentage points."""
    MILLISECONDS = "ms"
    """Whole milliseconds."""
    SCORE = "score"
    """Three decimals."""


class Metric(Frozen):
    """One row of a skill's table."""

    name: str
    """`completionRate` or the figure that a format has in its place, `errorRate`, `p95Ms` or `compositeScore`."""
    label: str
    unit: Unit
    before: float | None
    after: float | None
    delta: float | None
    direction: Direction


class TaskRuns(Frozen):
    """The ends of the repeats of one task in one report."""

    passed: int
    graded: int
    """Repeats with a verdict: passes and fails."""
    errors: int
    """Repeats that say nothing about the skill, because infrastructure failed or a check gave no verdict."""
    shown: str
    """For people: `pass`, `fail (timeout)`, `3 of 5 passed`."""

    @property
    def share(self) -> float:
        """Share of graded repeats that passed; there must be one."""
        return self.repeats.share

    @property
    def repeats(self) -> Repeats:
        """The graded ones, as the statistics take them; there must be one."""
        return Repeats(self.passed, self.graded)


class Turn(StrEnum):
    """The change of a task."""

    BROKE = "broke"
    """It passed in every repeat before and in none after."""
    FIXED = "fixed"
    """It passed in no repeat before and in every one after."""
    WEAKER = "weaker"
    """It passes less often, but neither always before nor never after."""
    STRONGER = "stronger"


class TaskChange(Frozen):
    """A task whose pass share differs."""

    task: str
    turn: Turn
    before: TaskRuns
    after: TaskRuns
    reason: str
    """Why the first repeat that did not pass failed: in the second report if the task got worse, else in the first."""


class CheckChange(Frozen):
    """A check of a compared task whose share of passes differs, whatever became of the task."""

    task: str
    check: str
    turn: Turn
    before: TaskRuns
    after: TaskRuns


class Tasks(Frozen):
    """The tasks of a skill that could be compared."""

    compared: int
    """Tasks that both reports have, with a verdict in both."""
    ungraded: tuple[str, ...] = ()
    """Tasks that both have, but with errors only on one side: nothing is concluded from them."""
    changed: tuple[str, ...] = ()
    """Tasks that both have, but that ask or check something else in the second report: they are not compared."""
    quarantined: tuple[str, ...] = ()
    """Tasks that both have, but that are in quarantine in the second report: they are not compared."""
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()


class Difference(Frozen):
    """The difference of the pass rates over the compared tasks: repeats of a task averaged first, errors left out."""

    estimate: float
    tasks: int
    lower: float | None
    """Bounds for new tasks of this kind; `null` if there are too few tasks to tell."""
    upper: float | None
    level: float = LIFT_LEVEL
    method: str | None
    """How the bounds are made: `agresti-min`."""
    chance: float
    """How likely chance alone makes these very tasks at least this much worse: exact permutation test within tasks,
    one-sided. Small means worse beyond run-to-run noise."""
    chance_different: float
    """How likely chance alone makes them at least this different, for better or worse: the same test, two-sided."""


class LiftChange(Frozen):
    """The change of the lift, over the tasks with a verdict in both arms of both reports."""

    arm: str
    """The baseline arm, which is the control: where the model itself changed, it changes, too."""
    tasks: int
    before: float
    after: float
    estimate: float
    chance: float
    """How likely chance alone makes the lift of these very tasks fall at least this much, were neither arm changed:
    exact permutation test within tasks and arms, one-sided."""


class Role(StrEnum):
    """The purpose of an arm."""

    CANDIDATE = "candidate"
    """It is judged."""
    BASELINE = "baseline"
    """Others are compared with it: the control."""


class Regression(StrEnum):
    """The judgement whether a skill got worse."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"
    """It looks worse, but chance explains that; or it does not, but a loss cannot be excluded."""
    NOT_JUDGED = "not-judged"
    """There is nothing to judge: it is a baseline arm, new or removed, no task has a verdict in both reports, or model,
    engine or judge are others."""


class Circumstance(StrEnum):
    """A change beside the skill to which a difference may be owed."""

    MODEL = "model"
    ENGINE = "engine"
    JUDGE = "judge"


class Side(StrEnum):
    """One of the two reports."""

    BEFORE = "before"
    AFTER = "after"


class Presence(StrEnum):
    """The reports that have a skill."""

    BOTH = "both"
    NEW = "new"
    REMOVED = "removed"


class SkillDiff(Frozen):
    """One skill (on one suite, in one arm, with one model)."""

    title: str
    """Id of the skill, and what tells it from the others: suite, arm, model, runner."""
    skill: str | None
    suite: str
    arm: str
    runner: str
    """Adapter or engine, as the first report that has the skill names it."""
    model: str | None
    role: Role
    presence: Presence
    version_before: str | None
    version_after: str | None
    metrics: tuple[Metric, ...]
    common_tasks_only: bool
    """The metrics are computed anew over the tasks that both reports have, because their task sets differ."""
    tasks: Tasks
    names: JsonObject = EMPTY
    """What tasks that are told of are called: id to name, of those that have a name of their own."""
    changes: tuple[TaskChange, ...] = ()
    checks: tuple[CheckChange, ...] = ()
    """Only where both reports tell the checks of a task."""
    difference: Difference | None = None
    lift: LiftChange | None = None
    """Only where both reports have the baseline arm, too."""
    also_changed: tuple[str, ...] = ()
    """What else is not as it was, so that a difference may be none of the skill: its model, engine or judge."""
    barred_by: tuple[Circumstance, ...] = ()
    """Which of these keep it from being judged: those that the user did not say to compare across."""
    regression: Regression
    regression_reasons: tuple[str, ...] = ()
    loss_seen: bool = False
    """Whether it looks worse: its pass rate is down by more than `max_drop`, or a task broke."""
    possible_loss: float | None = None
    """Loss of pass rate, as a fraction, that cannot be excluded with 95 % confidence; `null` where repeats agree."""
    decided_by: str | None = None
    """If undecided: options of `eval --confirm` that would decide if it went on like this; `null` if more repeats would
    not."""
    decided_in: tuple[Side, ...] = ()
    """In which of the reports it takes them."""
    confirm: tuple[str, ...] = ()
    """The whole commands, if the reports tell enough: of the second report, or of the first and then of the second."""

    def called(self, task: str) -> str:
        """A task as people know it: by its name, then its id."""
        name = self.names.get(task)
        return f"{name} ({task})" if name else task

    @property
    def versions(self) -> str:
        """The versions of the skill that are known, from the first to the second; empty if none is."""
        versions = [version for version in (self.version_before, self.version_after) if version]
        return " → ".join(dict.fromkeys(versions))


class ReportFacts(Frozen):
    """The report that is compared."""

    label: str
    file: str
    run_id: str
    started_at: float
    """Seconds since the epoch."""
    suites: tuple[str, ...]
    repeats: int
    """Of the task that was run most often."""
    fewest_repeats: int
    """Of the task that was run least often."""

    @property
    def repeats_text(self) -> str:
        """The runs of each task, to stand behind other facts; empty if there is one."""
        if self.repeats == 1:
            return ""
        fewest = "" if self.fewest_repeats == self.repeats else f"{self.fewest_repeats} to "
        return f", {fewest}{self.repeats} runs of each case"


class DiffDocument(Frozen):
    """The document of `report diff --json` and `--format json`."""

    schema_version: str = "2.5"
    before: ReportFacts
    after: ReportFacts
    max_drop: float
    """Largest loss of pass rate that is no regression."""
    across: tuple[Circumstance, ...] = ()
    """What may be another one in the second report, as the user said."""
    any_loss: bool = False
    """Whether each task that broke counts as a regression, however little proves it."""
    warnings: tuple[str, ...] = ()
    """What makes the comparison less than it seems."""
    unproven: tuple[str, ...] = ()
    """Why the absence of a regression would prove nothing; empty if it would."""
    skills: tuple[SkillDiff, ...]
    """Those of the first report in its order, then new ones."""
    regression: Regression
    """`yes` if any skill regressed, else `undecided` if any is, else `no`; `not-judged` if none was compared."""
    exit_code: int
    verdict: str
