"""Did the skill change, or the model? One rule, with its false alarms and its power."""

from __future__ import annotations

import random

import pytest

from skillgauge.stats import (
    ChangeFinding,
    Repeats,
    TwiceRun,
    change_of,
    least_change,
    least_skill_change,
    loss_chance,
    new_change_bounds,
)

ALL, NONE = Repeats(3, 3), Repeats(0, 3)
KEPT, LOST = TwiceRun(ALL, ALL), TwiceRun(ALL, NONE)


def finding(cases: list[TwiceRun], margin: float = 0.05) -> ChangeFinding:
    """The finding on these cases."""
    change = change_of(cases)
    assert change is not None
    return change.finding(margin)


@pytest.mark.parametrize(
    ("cases", "margin", "expected"),
    [
        ([LOST] * 10, 0.05, ChangeFinding.WORSE),
        ([KEPT] * 20, 0.05, ChangeFinding.NOT_WORSE),
        ([KEPT] * 4, 0.05, ChangeFinding.UNDECIDED),
        ([KEPT] * 4, 0.5, ChangeFinding.NOT_WORSE),
        ([TwiceRun(ALL, NONE, ALL, NONE)] * 10, 0.05, ChangeFinding.UNDECIDED),
        ([TwiceRun(ALL, ALL, NONE, ALL)] * 20, 0.05, ChangeFinding.NOT_WORSE),
        ([TwiceRun(ALL, NONE, NONE, NONE)] * 10, 0.05, ChangeFinding.WORSE),
        ([TwiceRun(ALL, Repeats(2, 3)), *[KEPT] * 9], 0.02, ChangeFinding.UNDECIDED),
    ],
    ids=[
        "the skill lost all",
        "nothing changed",
        "too few to tell",
        "a wide margin",
        "the model lost as much",
        "only the control got better",
        "the control stayed",
        "one run of thirty",
    ],
)
def test_findings(cases: list[TwiceRun], margin: float, expected: ChangeFinding) -> None:
    """A skill is worse only if its pass rate and its lift both are."""
    assert finding(cases, margin) is expected


def test_a_change_has_both_parts() -> None:
    """Twenty cases of which the model lost ten in the arm without the skill, and the skill thirteen of sixteen."""
    cases = [TwiceRun(ALL, NONE, ALL, NONE)] * 2 + [TwiceRun(ALL, NONE, NONE, NONE)] * 2 + [KEPT] * 4
    change = change_of(cases)
    assert change is not None
    assert (change.n, change.own, change.lift) == (8, -0.5, -0.5)
    assert change.chance == loss_chance(cases)
    assert change.least <= change.own
    assert change_of([]) is None


def test_an_allowance_for_others_can_only_hold_back() -> None:
    """What is beyond chance alone may not be among many; nothing else changes by it."""
    change = change_of([LOST] * 4)
    assert change is not None
    assert change.finding(0.05) is ChangeFinding.WORSE
    assert change.finding(0.05, chance=0.2) is ChangeFinding.UNDECIDED


def test_bounds_of_a_loss_need_either_and_of_a_gain_both() -> None:
    """The model got worse: a loss of the skill is excluded by its lift, and a gain by its pass rate."""
    cases = [TwiceRun(ALL, NONE, ALL, NONE)] * 12
    loss, gain = (new_change_bounds(cases, is_gain=is_gain) for is_gain in (False, True))
    assert loss is not None
    assert gain is not None
    assert loss[0] > -0.5
    assert gain[1] < -0.5
    assert new_change_bounds(cases[:7], is_gain=False) is None
    assert least_skill_change(cases) > least_change([[NONE] * 12], [[ALL] * 12])


def rates(rng: random.Random, rate: float) -> Repeats:
    """Three repeats."""
    return Repeats(sum(rng.random() < rate for _ in range(3)), 3)


@pytest.mark.parametrize(
    ("before", "after", "control", "wrong", "least_found"),
    [
        (0.8, 0.8, (0.4, 0.4), ChangeFinding.WORSE, 0.0),
        (0.8, 0.4, (0.8, 0.4), ChangeFinding.WORSE, 0.0),
        (0.8, 0.5, (0.4, 0.4), ChangeFinding.NOT_WORSE, 0.30),
        (0.9, 0.3, (0.2, 0.2), ChangeFinding.NOT_WORSE, 0.90),
    ],
    ids=["nothing", "the model", "30 points", "60 points"],
)
def test_wrong_findings_are_rare_and_losses_are_found(
    before: float, after: float, control: tuple[float, float], wrong: ChangeFinding, least_found: float
) -> None:
    """A seeded simulation of ten cases with three repeats in both arms: wrong in at most 5 %."""
    rng = random.Random(21)
    findings = []
    for _ in range(200):
        cases = [
            TwiceRun(rates(rng, before), rates(rng, after), rates(rng, control[0]), rates(rng, control[1]))
            for _ in range(10)
        ]
        findings.append(finding(cases))
    assert findings.count(wrong) / 200 <= 0.05
    assert findings.count(ChangeFinding.WORSE) / 200 >= least_found
