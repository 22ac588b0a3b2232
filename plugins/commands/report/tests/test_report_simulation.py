"""How often the rule is wrong, and how often it finds what is there: seeded simulations of agents."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from skillgauge_run_comparisons.document import Regression, Side, TaskRuns
from skillgauge_run_comparisons.evidence import Control, TaskPair, difference, lift_change
from skillgauge_run_comparisons.regression import MAX_DROP, Judged, Weighed, judge

README = Path(__file__).parents[1] / "README.md"
CELLS = [(tasks, repeats) for tasks in (4, 10, 20) for repeats in (1, 3, 5)]
SEED = 1


@dataclass(frozen=True)
class Truth:
    """Chances that a run passes, before and after: of the skill, and of the model without it."""

    before: float
    after: float
    without: tuple[float, float] | None = None


def share_regressed(truth: Truth, tasks: int, repeats: int, *, skills: int = 1, times: int) -> float:
    """How often any of the skills is said to have regressed."""
    rng = random.Random(SEED)

    def runs(chance: float) -> TaskRuns:
        passed = sum(rng.random() < chance for _ in range(repeats))
        return TaskRuns.model_construct(passed=passed, graded=repeats, errors=0, shown="")

    def pairs() -> Iterator[TaskPair]:
        for task in range(tasks):
            control = Control("without", *map(runs, truth.without)) if truth.without else None
            yield TaskPair(str(task), runs(truth.before), runs(truth.after), control)

    def weighed() -> Weighed:
        of_skill = list(pairs())
        return Weighed("with_skill", of_skill, difference(of_skill), lift_change(of_skill))

    judged = (judge([weighed() for _ in range(skills)], MAX_DROP) for _ in range(times))
    return sum(any(one.regression is Regression.YES for one in of_run) for of_run in judged) / times


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "repeats"), CELLS)
@pytest.mark.parametrize(
    "truth",
    [Truth(0.5, 0.5), Truth(0.8, 0.8), Truth(0.95, 0.95), Truth(0.8, 0.8, (0.4, 0.4)), Truth(0.9, 0.5, (0.6, 0.2))],
    ids=str,
)
def test_false_alarms(truth: Truth, tasks: int, repeats: int) -> None:
    """At most 5 % of runs of what did not change are called a regression, nor where the model changed in both arms."""
    assert share_regressed(truth, tasks, repeats, times=250) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "repeats"), CELLS)
def test_false_alarms_of_ten_skills(tasks: int, repeats: int) -> None:
    """Ten skills in a run raise no more of them."""
    assert share_regressed(Truth(0.8, 0.8), tasks, repeats, skills=10, times=200) <= 0.05


@dataclass(frozen=True)
class Continued:
    """Two runs that are compared, and compared again once both have the repeats that the comparison advises."""

    rng: random.Random
    truth: Truth
    tasks: int

    def runs(self, chance: float, repeats: int) -> TaskRuns:
        """Some repeats of a task."""
        passed = sum(self.rng.random() < chance for _ in range(repeats))
        return TaskRuns.model_construct(passed=passed, graded=repeats, errors=0, shown="")

    def judged(self, tasks: list[TaskPair], earlier: list[list[TaskPair]]) -> Judged:
        """What is said of the skill."""
        return judge([Weighed("with_skill", tasks, difference(tasks), lift_change(tasks), earlier)], MAX_DROP)[0]

    def outcome(self, repeats: int) -> Regression:
        """What is said in the end."""
        before, after = self.truth.before, self.truth.after
        first = [
            TaskPair(str(task), self.runs(before, repeats), self.runs(after, repeats)) for task in range(self.tasks)
        ]
        judged = self.judged(first, [])
        deciding = judged.decided_by
        if deciding is None or not judged.loss_seen:
            return judged.regression
        assert set(deciding.tasks) == {pair.task for pair in first}
        again = []
        for pair in first:
            sides = [
                self._more(had, self.runs(chance, deciding.runs)) if side in deciding.sides else had
                for side, had, chance in zip(Side, (pair.before, pair.after), (before, after), strict=True)
            ]
            again.append(TaskPair(pair.task, *sides))
        return self.judged(again, [first]).regression

    @staticmethod
    def _more(had: TaskRuns, new: TaskRuns) -> TaskRuns:
        return had.model_copy(update={"passed": had.passed + new.passed, "graded": had.graded + new.graded})


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "repeats"), [(4, 1), (4, 3), (10, 1), (10, 3)])
def test_a_loss_is_not_acquitted(tasks: int, repeats: int) -> None:
    """A skill that lost 20 points is not called unharmed, also after the repeats that its comparison advises."""
    rng = random.Random(f"{tasks} {repeats}")
    ends = [Continued(rng, Truth(0.8, 0.6), tasks).outcome(repeats) for _ in range(100)]
    assert ends.count(Regression.NO) <= 10
    if (tasks, repeats) == (10, 3):
        assert ends.count(Regression.YES) >= 60


@pytest.mark.parametrize("tasks", [4, 10, 20])
def test_one_repeat_is_no_reason_to_cry(tasks: int) -> None:
    """N-A2: the same skill twice with one repeat, which "regressed" in 51 to 98 %."""
    assert share_regressed(Truth(0.8, 0.8), tasks, 1, times=200) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "truth"),
    [
        ("90 % → 50 %", Truth(0.9, 0.5)),
        ("90 % → 70 %", Truth(0.9, 0.7)),
        ("90 % → 50 %, without the skill 0 %", Truth(0.9, 0.5, (0, 0))),
        ("90 % → 50 %, without the skill 40 %", Truth(0.9, 0.5, (0.4, 0.4))),
    ],
)
def test_the_power_that_the_readme_prints(row: str, truth: Truth) -> None:
    """Each row of the table, cell by cell."""
    (line,) = [line for line in README.read_text().splitlines() if line.startswith(f"| {row} |")]
    found = [share_regressed(truth, tasks, repeats, times=250) for tasks, repeats in CELLS]
    assert re.findall(r"(\d+) % (?=\|)", line.removeprefix(f"| {row} |")) == [f"{share * 100:.0f}" for share in found]
