"""What a difference proves."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from skillgauge_command_report import evidence
from skillgauge_command_report.document import TaskRuns
from skillgauge_command_report.evidence import chance_of_worse, difference, newcombe, phi


def runs(passed: int, graded: int) -> TaskRuns:
    """The repeats of a task."""
    return TaskRuns(passed=passed, graded=graded, errors=0, shown="")


def pair(before: tuple[int, int], after: tuple[int, int]) -> evidence.Pair:
    """A task before and after, each as passed and graded repeats."""
    return runs(*before), runs(*after)


def table(both: int, only_before: int, only_after: int, neither: int) -> tuple[list[float], list[float]]:
    """Two pass/fail series with these counts."""
    before = [1.0] * (both + only_before) + [0.0] * (only_after + neither)
    after = [1.0] * both + [0.0] * only_before + [1.0] * only_after + [0.0] * neither
    return before, after


def singles(both: int, only_before: int, only_after: int, neither: int) -> list[evidence.Pair]:
    """The same as tasks with one repeat each."""
    before, after = table(both, only_before, only_after, neither)
    return [pair((int(x), 1), (int(y), 1)) for x, y in zip(before, after, strict=True)]


def test_newcombe_gives_the_published_example() -> None:
    """Method 10 on the table 36, 12, 2, 0 of the paper: 0.0569 to 0.3404."""
    before, after = table(both=36, only_before=2, only_after=12, neither=0)
    bounds = newcombe(before, after, correlation=phi(before, after), method="m")
    assert (round(bounds.lower, 4), round(bounds.upper, 4)) == (0.0569, 0.3404)


def test_newcombe_without_any_change_is_as_wide_as_wilson() -> None:
    """Twenty of twenty twice: the lower end of Wilson's interval, 0.838875, below and above."""
    before, after = table(20, 0, 0, 0)
    bounds = newcombe(before, after, correlation=phi(before, after), method="m")
    assert (round(bounds.lower, 6), round(bounds.upper, 6)) == (-0.161125, 0.161125)


tables = st.tuples(*[st.integers(0, 30)] * 4).filter(lambda counts: sum(counts) >= 8)


@settings(deadline=None)
@given(tables)
def test_intervals_contain_the_estimate_and_turn_with_the_question(counts: tuple[int, int, int, int]) -> None:
    """Inside [-1, 1] and around the estimate; with the reports exchanged it is the mirror image."""
    both, only_before, only_after, neither = counts
    there = difference(singles(*counts))
    back = difference(singles(both, only_after, only_before, neither))
    assert there.lower is not None
    assert there.upper is not None
    assert -1 <= there.lower <= there.estimate + 1e-12
    assert there.estimate - 1e-12 <= there.upper <= 1
    assert back.lower == pytest.approx(-there.upper, abs=1e-9)
    assert back.upper == pytest.approx(-there.lower, abs=1e-9)
    assert there.method == "newcombe-paired"
    assert there.tasks == sum(counts)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=8, max_size=40))
def test_intervals_with_repeats(passes: list[tuple[int, int]]) -> None:
    """Repeats give the interval of the mean change, by the methods of a pass rate, or say that the spread is nought."""
    pairs = [pair((first, 3), (second, 3)) for first, second in passes]
    assume(any(one % 3 for both in passes for one in both))
    found = difference(pairs)
    assert found.estimate == pytest.approx(sum(second - first for first, second in passes) / 3 / len(passes))
    equal = len({second - first for first, second in passes}) == 1
    methods = {"newcombe-wilson"} if equal else {"paired-bootstrap-bca", "paired-bootstrap-percentile"}
    assert found.method in methods
    assert found.lower is not None
    assert found.upper is not None
    assert -1 <= found.lower <= found.upper <= 1
    if equal:
        assert found.lower < found.estimate < found.upper


@pytest.mark.parametrize("tasks", range(1, 8))
def test_few_tasks_have_no_interval(tasks: int) -> None:
    """Below eight tasks nothing is said of new ones, but what is known of these stays."""
    found = difference(singles(0, tasks, 0, 0))
    assert (found.lower, found.upper, found.method) == (None, None, None)
    assert (found.estimate, found.chance) == (-1.0, 0.5**tasks)


@settings(deadline=None)
@given(tables)
def test_with_one_repeat_the_test_is_mcnemars(counts: tuple[int, int, int, int]) -> None:
    """The exact one-sided tail of the discordant tasks."""
    _, broke, fixed, _ = counts
    n = broke + fixed
    tail = sum(math.comb(n, k) for k in range(broke, n + 1)) / 2**n
    assert chance_of_worse(singles(*counts)) == pytest.approx(tail)


def brute_force(pairs: list[evidence.Pair]) -> float:
    """Every way to deal the repeats of each task out to the two reports."""
    dealt = []
    for before, after in pairs:
        deck = [1] * (before.passed + after.passed)
        deck += [0] * (before.graded + after.graded - len(deck))
        hands = itertools.combinations(range(len(deck)), after.graded)
        losses = []
        for hand in hands:
            passed = sum(deck[card] for card in hand)
            losses.append(Fraction(sum(deck) - passed, before.graded) - Fraction(passed, after.graded))
        dealt.append(losses)
    observed = sum(
        (Fraction(before.passed, before.graded) - Fraction(after.passed, after.graded) for before, after in pairs),
        Fraction(),
    )
    sums = [sum(losses) for losses in itertools.product(*dealt)]
    return sum(one >= observed for one in sums) / len(sums)


sides = st.integers(1, 3).flatmap(lambda graded: st.tuples(st.integers(0, graded), st.just(graded)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(sides, sides), min_size=1, max_size=3))
def test_the_test_is_exact(tasks: list[tuple[tuple[int, int], tuple[int, int]]]) -> None:
    """It agrees with counting every permutation, also where errors left tasks with different numbers of repeats."""
    pairs = [pair(*task) for task in tasks]
    assert chance_of_worse(pairs) == pytest.approx(brute_force(pairs))


def test_known_chances() -> None:
    """Five of five, then one of five: 6/252; then two of five: 21/252; no task at all or no change: 1."""
    assert chance_of_worse([pair((5, 5), (1, 5))]) == pytest.approx(6 / 252)
    assert chance_of_worse([pair((5, 5), (2, 5))]) == pytest.approx(21 / 252)
    assert chance_of_worse([]) == 1.0
    assert chance_of_worse([pair((3, 3), (3, 3)), pair((0, 2), (0, 2))]) == 1.0


def test_very_many_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound the sum is taken as normal, which is close to the exact value there."""
    pairs = [pair((3, 3), (2, 3))] * 130 + [pair((2, 3), (3, 3))] * 120
    exact = chance_of_worse(pairs)
    monkeypatch.setattr(evidence, "STATES", 10)
    assert chance_of_worse(pairs) == pytest.approx(exact, abs=0.03)
    assert 0.01 < exact < 0.99
