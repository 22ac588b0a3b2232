"""Judges across arms: known answers, and how often the intervals of corrected rates and lifts hold the truth."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.stats import IntervalMethod, Labelled
from skillgauge_command_judge.arm_errors import (
    ErrorKind,
    JudgeErrors,
    Share,
    compare_errors,
    errors_in,
    fisher_exact,
)
from skillgauge_command_judge.correction import JudgedCase, correct_lift, correct_rate

FAVOURED = {"with_skill": Labelled(14, 10, 0, 6), "without_skill": Labelled(9, 0, 0, 21)}
"""A judge that likes the answers of one arm: people overrule 10 of its passes there, and none in the other."""
PASS, FAIL = JudgedCase(judge_passes=1), JudgedCase(judge_fails=1)
GOOD, BAD = JudgedCase(known_pass=1), JudgedCase(known_fail=1)
FEW = st.integers(0, 12)
LABELLED = st.builds(Labelled, FEW, FEW, FEW, FEW)
CASES = st.builds(
    lambda counts, kind: JudgedCase(**{kind: counts}),
    st.integers(1, 3),
    st.sampled_from(["known_pass", "known_fail", "judge_passes", "judge_fails"]),
)


def errors(labelled: Labelled) -> JudgeErrors | None:
    """The errors of a judge whose labels are all of one arm."""
    return errors_in("arm", {"arm": labelled})


def certain(labelled: Labelled) -> JudgeErrors:
    """The same, of a judge with labels of both kinds."""
    judged = errors(labelled)
    assert judged is not None
    return judged


@pytest.mark.parametrize(
    ("table", "chance"),
    [
        ((3, 4, 1, 4), 0.485714),  # the lady tasting tea, two-sided
        ((1, 10, 11, 14), 0.0027594),
        ((10, 16, 0, 21), 2.29897e-05),
        ((0, 5, 0, 7), 1.0),
        ((2, 2, 0, 0), 1.0),
    ],
)
def test_fisher_of_known_tables(table: tuple[int, int, int, int], chance: float) -> None:
    """Two-sided chances of tables from the literature, and 1 where nothing can differ."""
    first, first_n, second, second_n = table
    assert fisher_exact(*table) == pytest.approx(chance, rel=1e-4)
    assert fisher_exact(second, second_n, first, first_n) == pytest.approx(chance, rel=1e-4)


@pytest.mark.parametrize("table", [(5, 4, 0, 1), (-1, 4, 0, 1), (0, 1, 2, 1)])
def test_fisher_refuses_what_no_table_holds(table: tuple[int, int, int, int]) -> None:
    """More hits than members, and fewer than none."""
    with pytest.raises(ValueError, match="hits must lie"):
        fisher_exact(*table)


def test_errors_that_differ_between_arms_are_found() -> None:
    """10 of 16 against 0 of 21 false passes: beyond chance, also for the two kinds together."""
    wrong, right = compare_errors(FAVOURED)
    assert (wrong.kind, wrong.first_wrong, wrong.first_labels) == (ErrorKind.FALSE_PASS, 10, 16)
    assert (wrong.second_arm, wrong.second_wrong, wrong.second_labels) == ("without_skill", 0, 21)
    assert wrong.differs
    assert wrong.chance == pytest.approx(2 * fisher_exact(10, 16, 0, 21))
    assert (right.kind, right.differs, right.chance) == (ErrorKind.FALSE_FAIL, False, 1.0)


def test_a_kind_without_labels_in_an_arm_is_not_compared() -> None:
    """People who pass nothing in an arm say nothing of the judge's false fails there."""
    arms = {"a": Labelled(5, 1, 1, 5), "b": Labelled(0, 2, 0, 8), "c": Labelled(4, 0, 1, 5)}
    compared = [(one.kind, one.first_arm, one.second_arm) for one in compare_errors(arms)]
    false_pass, false_fail = ErrorKind.FALSE_PASS, ErrorKind.FALSE_FAIL
    assert compared == [(false_pass, "a", "b"), (false_pass, "a", "c"), (false_pass, "b", "c"), (false_fail, "a", "c")]
    assert compare_errors({"a": Labelled(5, 1, 1, 5)}) == ()


def test_equal_errors_are_rarely_called_different() -> None:
    """At most 5 % of 400 seeded judges that err alike in both arms."""
    draw = random.Random(3)
    found = sum(
        any(one.differs for one in compare_errors({arm: labels_of(draw, 0.5, 0.9, 0.85, 40) for arm in "ab"}))
        for _ in range(400)
    )
    assert found <= 20


def test_an_arm_has_its_own_errors() -> None:
    """Two labels like those of all are added, unless arms differ; below 5 of a kind, and without any, all stand in."""
    ours = errors_in("with_skill", FAVOURED)
    assert ours is not None
    assert ours.specificity == Share(6, 16, "with_skill")
    assert ours.sensitivity == Share(14 + 2, 16, "with_skill")
    few = {"a": Labelled(4, 6, 0, 4), "b": Labelled(10, 3, 5, 7)}
    mixed = errors_in("a", few)
    assert mixed is not None
    assert mixed.sensitivity == Share(14, 19)
    assert mixed.specificity == Share(4 + 2 * 11 / 20, 12, "a")
    absent = errors_in("c", few)
    assert absent == JudgeErrors(Share(14, 19), Share(11, 20))
    assert errors(Labelled(7, 0, 3, 0)) is errors(Labelled(0, 3, 0, 7)) is None


def test_what_is_labelled_counts_as_people_say() -> None:
    """With all checks labelled, people's rates and lift are the answer, whatever the judge is worth."""
    ours, theirs = [GOOD] * 14 + [BAD] * 16, [GOOD] * 9 + [BAD] * 21
    useless = certain(Labelled(5, 5, 5, 5))
    rate = correct_rate(ours, useless, seed=1)
    lift = correct_lift(list(zip(ours, theirs, strict=True)), (useless, useless), seed=1)
    assert rate is not None
    assert lift is not None
    assert rate.estimate == pytest.approx(14 / 30)
    assert lift.estimate == pytest.approx(5 / 30)
    assert correct_rate(ours, None, seed=1) == rate
    assert correct_rate([*ours, PASS], None, seed=1) is None
    assert lift.interval is not None
    assert -0.1 < lift.interval.lower < lift.estimate < lift.interval.upper < 0.4


def test_errors_of_each_arm_correct_its_own_rate() -> None:
    """Another run with the judge that favours one arm: 24 and 9 of 30 passes are +50 points judged, +16.7 corrected."""
    ours, theirs = [PASS] * 24 + [FAIL] * 6, [PASS] * 9 + [FAIL] * 21
    own = errors_in("with_skill", FAVOURED), errors_in("without_skill", FAVOURED)
    assert own[0] is not None
    assert own[1] is not None
    lift = correct_lift(list(zip(ours, theirs, strict=True)), (own[0], own[1]), seed=1)
    assert lift is not None
    assert lift.interval is not None
    assert lift.estimate == pytest.approx(1 / 6)
    assert lift.interval.lower < 0 < 1 / 6 < lift.interval.upper


def test_equal_errors_stretch_the_lift() -> None:
    """The judged lift of 30 points divided by sensitivity + specificity - 1 = 0.6."""
    equal = certain(Labelled(40, 10, 10, 40))
    pairs = [(PASS, FAIL)] * 3 + [(PASS, PASS)] * 3 + [(FAIL, FAIL)] * 4
    lift = correct_lift(pairs, (equal, equal), seed=1)
    assert lift is not None
    assert lift.estimate == pytest.approx(0.5)


def test_equal_shares_of_different_arms_are_different_labels() -> None:
    """The same numbers in two arms vary apart, which widens the interval; the same labels vary together."""
    shared = certain(Labelled(18, 6, 2, 14))
    apart = {arm: Labelled(9, 3, 1, 7) for arm in "ab"}
    own = [errors_in(arm, apart) for arm in "ab"]
    assert own[0] is not None
    assert own[1] is not None
    pairs = [(PASS, PASS)] * 10 + [(FAIL, FAIL)] * 10
    narrow, wide = correct_lift(pairs, (shared, shared), seed=1), correct_lift(pairs, (own[0], own[1]), seed=1)
    assert narrow is not None
    assert wide is not None
    assert narrow.interval is not None
    assert wide.interval is not None
    assert wide.interval.upper - wide.interval.lower > 1.5 * (narrow.interval.upper - narrow.interval.lower)


def test_a_judge_that_knows_nothing_corrects_nothing() -> None:
    """No better than chance, no figure, unless nothing rests on it."""
    chance = certain(Labelled(5, 5, 5, 5))
    assert correct_rate([PASS] * 9, chance, seed=1) is None
    assert correct_lift([(PASS, GOOD)] * 9, (chance, chance), seed=1) is None
    assert correct_rate([], chance, seed=1) is None


def test_a_draw_in_which_the_judge_knows_nothing_leaves_both_bounds_open() -> None:
    """Few labels and a poor judge: many draws tell nothing, and each counts for the lower and for the upper bound.

    A run in which everything that is bad was failed by the judge corrects to 0 whenever a draw tells anything, so that
    only open draws can raise the upper bound.
    """
    poor = certain(Labelled(4, 2, 3, 4))
    assert 0 < poor.informed < 0.3
    low = correct_rate([FAIL] * 20, poor, seed=1)
    high = correct_rate([PASS] * 20, poor, seed=1)
    assert low is not None
    assert high is not None
    assert low.interval is not None
    assert high.interval is not None
    assert (low.interval.lower, low.interval.upper) == (0.0, 1.0)
    assert (high.interval.lower, high.interval.upper) == (0.0, 1.0)
    lift = correct_lift([(PASS, FAIL)] * 20, (poor, poor), seed=1)
    assert lift is not None
    assert lift.interval is not None
    assert (lift.interval.lower, lift.interval.upper) == (-1.0, 1.0)


@settings(max_examples=60, deadline=None)
@given(st.lists(CASES, min_size=1, max_size=12), LABELLED, st.integers(0, 5))
def test_the_interval_holds_the_rate_and_repeats(cases: list[JudgedCase], labelled: Labelled, seed: int) -> None:
    """It lies in [0, 1], contains the corrected rate, depends on the seed alone and on no order of cases."""
    judged = errors(labelled)
    if judged is None:
        return
    rate = correct_rate(cases, judged, seed=seed, resamples=100)
    assert rate == correct_rate(cases[::-1], judged, seed=seed, resamples=100)
    rests_on_judge = any(one.judge_passes or one.judge_fails for one in cases)
    assert (rate is None) is (rests_on_judge and judged.informed <= 0)
    if rate is None:
        return
    assert (rate.interval is not None) is (len(cases) >= 8)
    if rate.interval is not None:
        assert 0 <= rate.interval.lower <= rate.estimate <= rate.interval.upper <= 1
        assert rate.interval.method is IntervalMethod.BOOTSTRAP_PERCENTILE


def test_neither_a_perfect_judge_nor_a_perfect_run_is_certain() -> None:
    """50 right answers of 50 and 20 passes of 20 leave room; fewer labels leave more."""
    many, few = certain(Labelled(100, 0, 0, 100)), certain(Labelled(5, 0, 0, 5))
    for judge in (many, few):
        perfect = correct_rate([PASS] * 20, judge, seed=3)
        assert perfect is not None
        assert perfect.interval is not None
        assert perfect.interval.lower < 0.95
        assert perfect.interval.upper == 1.0
    half = [PASS] * 10 + [FAIL] * 10
    wide, narrow = (correct_rate(half, one, seed=3) for one in (few, many))
    assert wide is not None
    assert narrow is not None
    assert wide.interval is not None
    assert narrow.interval is not None
    assert wide.interval.lower < narrow.interval.lower < 0.5 < narrow.interval.upper < wide.interval.upper


Judgement = tuple[float, float]
"""Sensitivity and specificity of a judge in one arm."""
ALIKE: tuple[Judgement, Judgement] = ((0.9, 0.85), (0.9, 0.85))
UNLIKE: tuple[Judgement, Judgement] = ((0.95, 0.5), (0.9, 0.95))


def said(draw: random.Random, good: bool, sensitive: float, specific: float) -> bool:
    """What a judge of known errors says."""
    return draw.random() < sensitive if good else draw.random() >= specific


def labels_of(draw: random.Random, rate: float, sensitive: float, specific: float, n: int) -> Labelled:
    """Labels of so many answers, of which a share is good."""
    both = []
    for _ in range(n):
        good = draw.random() < rate
        both.append((said(draw, good, sensitive, specific), good))
    kinds = ((True, True), (True, False), (False, True), (False, False))
    return Labelled(*(both.count(kind) for kind in kinds))


def another_run(
    draw: random.Random, rates: tuple[float, float], judge: tuple[Judgement, Judgement]
) -> tuple[dict[str, Labelled], list[tuple[JudgedCase, JudgedCase]]]:
    """30 labels of each arm of an earlier run, and 20 cases without labels."""
    arms = {arm: labels_of(draw, rates[at], *judge[at], 30) for at, arm in enumerate("ab")}
    words = [tuple(said(draw, draw.random() < rates[at], *judge[at]) for at in (0, 1)) for _ in range(20)]
    return arms, [(PASS if ours else FAIL, PASS if theirs else FAIL) for ours, theirs in words]


def half_labelled(
    draw: random.Random, rates: tuple[float, float], judge: tuple[Judgement, Judgement]
) -> tuple[dict[str, Labelled], list[tuple[JudgedCase, JudgedCase]]]:
    """40 cases, half of whose checks, drawn at random, have a label."""
    labels: dict[str, list[tuple[bool, bool]]] = {"a": [], "b": []}
    pairs = []
    for _ in range(40):
        row = []
        for at, arm in enumerate("ab"):
            good = draw.random() < rates[at]
            word = said(draw, good, *judge[at])
            if draw.random() < 0.5:
                labels[arm].append((word, good))
                row.append(GOOD if good else BAD)
            else:
                row.append(PASS if word else FAIL)
        pairs.append((row[0], row[1]))
    kinds = ((True, True), (True, False), (False, True), (False, False))
    return {arm: Labelled(*(pairs.count(kind) for kind in kinds)) for arm, pairs in labels.items()}, pairs


@pytest.mark.slow
@pytest.mark.parametrize("make", [another_run, half_labelled])
@pytest.mark.parametrize(
    ("rates", "judge"),
    [((0.7, 0.4), ALIKE), ((0.5, 0.5), ALIKE), ((0.5, 0.3), UNLIKE), ((0.3, 0.3), UNLIKE)],
)
def test_the_interval_of_a_lift_holds_the_truth_often_enough(
    make: Callable[..., tuple[dict[str, Labelled], list[tuple[JudgedCase, JudgedCase]]]],
    rates: tuple[float, float],
    judge: tuple[Judgement, Judgement],
) -> None:
    """In at least 93 % of 100 seeded runs, with errors that are equal in both arms and with different ones."""
    draw, held, estimates = random.Random(11), 0, []
    for turn in range(100):
        arms, pairs = make(draw, rates, judge)
        own = errors_in("a", arms), errors_in("b", arms)
        assert own[0] is not None
        assert own[1] is not None
        lift = correct_lift(pairs, (own[0], own[1]), seed=turn, resamples=100)
        assert lift is not None
        assert lift.interval is not None
        held += lift.interval.lower <= rates[0] - rates[1] <= lift.interval.upper
        estimates.append(lift.estimate)
    assert held >= 93
    assert sum(estimates) / 100 == pytest.approx(rates[0] - rates[1], abs=0.08)


@pytest.mark.parametrize("arguments", [{"level": 1.0}, {"resamples": 10}])
def test_arguments_out_of_range_are_refused(arguments: dict[str, float]) -> None:
    """No certainty, no handful of resamples."""
    with pytest.raises(ValueError, match=r"must|needs"):
        correct_rate([PASS] * 8, certain(Labelled(40, 10, 5, 45)), seed=1, **arguments)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("counts", [{}, {"known_pass": -1, "known_fail": 2}])
def test_a_case_has_checks(counts: dict[str, int]) -> None:
    """Neither none nor fewer."""
    with pytest.raises(ValueError, match="counts must not be negative"):
        JudgedCase(**counts)
