"""What a difference proves."""

from __future__ import annotations

import pytest

from skillgauge_run_comparisons.document import Difference, TaskRuns
from skillgauge_run_comparisons.evidence import Control, TaskPair, difference, lift_change, loss_chance

Counts = tuple[int, int]


def runs(passed: int, graded: int) -> TaskRuns:
    """The repeats of a task."""
    return TaskRuns(passed=passed, graded=graded, errors=0, shown="")


def pair(before: Counts, after: Counts, control: tuple[Counts, Counts] | None = None) -> TaskPair:
    """A task before and after, each as passed and graded repeats, and the same in the baseline arm."""
    of_control = Control("without", runs(*control[0]), runs(*control[1])) if control else None
    return TaskPair("t", runs(*before), runs(*after), of_control)


def known(pairs: list[TaskPair]) -> Difference:
    """The difference, of which there is one."""
    found = difference(pairs)
    assert found is not None
    return found


@pytest.mark.parametrize("tasks", range(1, 8))
def test_few_tasks_have_no_interval(tasks: int) -> None:
    """Below eight tasks nothing is said of new ones, but what is known of these stays."""
    found = known([pair((1, 1), (0, 1))] * tasks)
    assert (found.lower, found.upper, found.method) == (None, None, None)
    assert (found.estimate, found.chance) == (-1.0, 0.5**tasks)
    assert found.chance_different == min(1.0, 2 * 0.5**tasks)


def test_the_interval_is_the_one_of_lift() -> None:
    """From eight tasks on, around the estimate, with the name of its method, and the mirror image for the way back."""
    there = known([pair((2, 3), (3, 3))] * 4 + [pair((3, 3), (1, 3))] * 4)
    back = known([pair((3, 3), (2, 3))] * 4 + [pair((1, 3), (3, 3))] * 4)
    assert there.method == "agresti-min"
    assert there.lower is not None
    assert there.upper is not None
    assert -1 <= there.lower < there.estimate < there.upper <= 1
    assert (back.lower, back.upper) == pytest.approx((-there.upper, -there.lower))


def test_known_chances() -> None:
    """Five of five, then one of five: 6/252; then two of five: 21/252; no change: 1; no task: nothing."""
    assert known([pair((5, 5), (1, 5))]).chance == pytest.approx(6 / 252)
    assert known([pair((5, 5), (2, 5))]).chance == pytest.approx(21 / 252)
    assert known([pair((3, 3), (3, 3)), pair((0, 2), (0, 2))]).chance == 1.0
    assert difference([]) is None


def test_the_lift_over_the_tasks_that_the_baseline_arm_has() -> None:
    """Three of three against none, then one of three against two: from +100 to -33 points; others are left out."""
    found = lift_change([pair((3, 3), (1, 3), ((0, 3), (2, 3))), pair((0, 1), (1, 1))])
    assert found is not None
    assert (found.before, found.after, found.estimate) == pytest.approx((1.0, -1 / 3, -4 / 3))
    assert (found.tasks, found.arm) == (1, "without")
    assert lift_change([pair((3, 3), (1, 3))]) is None


def test_a_loss_is_as_likely_as_the_likelier_of_rate_and_lift() -> None:
    """A steady baseline changes nothing; one that fell as well explains the loss; one that rose does not add to it."""
    alone = loss_chance([pair((5, 5), (0, 5))])
    assert alone == pytest.approx(1 / 252)
    assert loss_chance([pair((5, 5), (0, 5), ((0, 5), (0, 5)))]) == alone
    assert loss_chance([pair((5, 5), (0, 5), ((5, 5), (0, 5)))]) > 0.5
    assert loss_chance([pair((5, 5), (0, 5), ((0, 5), (5, 5)))]) == alone
