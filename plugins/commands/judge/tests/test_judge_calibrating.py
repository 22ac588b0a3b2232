"""Calibrations of known answers, and what is read of a score."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skillgauge.api import EventKind, Execution, FrozenDict, Score, Trajectory, TrajectoryEvent, TrialResult, Verdict
from skillgauge.api.report import GroupKey, PairSummary
from skillgauge_command_judge.asking import question_lines
from skillgauge_command_judge.calibrating import calibrate, verdict
from skillgauge_judge_labels import (
    Grader,
    Judged,
    JudgedRun,
    Question,
    answer_digest,
    statements_of,
    without_label,
)

GROUP = GroupKey("suite", "skill", "with_skill", "engine", None)
GRADER = Grader(judges=("j m 0",), models=("m",), scorer="rubric 4", prompt="p", rubric="r")


def labelled(*counts: int) -> tuple[JudgedRun, dict[tuple[str, str, str], bool]]:
    """A run in which both pass, only the judge passes, only people pass, neither passes, so many times."""
    said = ((True, True), (True, False), (False, True), (False, False))
    pairs = [pair for pair, count in zip(said, counts, strict=True) for _ in range(count)]
    judged = tuple(
        Judged(GROUP, f"case {at}", f"execution {at}", "check", "answer", passes, GRADER)
        for at, (passes, _) in enumerate(pairs)
    )
    return JudgedRun(judged), {one.key: people for one, (_, people) in zip(judged, pairs, strict=True)}


def test_known_answers() -> None:
    """100 labels of the method set: agreement 0.85, kappa 0.7, AC1 0.700748, and the judge is calibrated."""
    run, said = labelled(40, 10, 5, 45)
    found = calibrate(run, said, run_id="r", seed=1)
    assert (found.agreement, found.kappa, found.advisory) == (0.85, 0.7, ())
    assert found.ac1 == pytest.approx(0.700748, abs=5e-7)
    assert verdict(found) == "calibrated: judge and people agree in 85.0% of 100 labels (kappa 0.70)"
    (rate,) = found.rates
    assert rate.raw.rate == 0.5
    assert rate.corrected == pytest.approx(0.45)
    assert found.graders == (GRADER,)


@pytest.mark.parametrize(
    ("counts", "advisory"),
    [
        ((25, 0, 0, 25), ()),
        ((25, 0, 0, 24), ("49 labels are fewer than 50",)),
        ((40, 10, 10, 40), ()),
        ((39, 11, 10, 40), ("kappa 0.58 is below 0.60",)),
        ((60, 0, 0, 0), ("kappa is undefined where all labels are alike",)),
    ],
)
def test_when_a_judge_is_advisory(counts: tuple[int, ...], advisory: tuple[str, ...]) -> None:
    """Below 50 labels, below a kappa of 0.6, and where kappa says nothing."""
    run, said = labelled(*counts)
    assert calibrate(run, said, run_id="r", seed=1).advisory == advisory


def test_a_judge_no_better_than_chance_corrects_nothing() -> None:
    """Its rate says nothing about that of people, and no number is made up, unless all have a label."""
    run, said = labelled(15, 15, 15, 15)
    (rate,) = calibrate(run, said, run_id="r", seed=1).rates
    assert (rate.raw.rate, rate.corrected) == (0.5, 0.5)
    del said[run.judged[0].key], said[run.judged[59].key]
    (rate,) = calibrate(run, said, run_id="r", seed=1).rates
    assert (rate.raw.rate, rate.corrected, rate.lower, rate.upper) == (0.5, None, None, None)


def test_repeats_of_a_case_are_averaged() -> None:
    """Three passing repeats of one case and one failing of another are a rate of one half over two cases."""
    run, said = labelled(3, 0, 0, 1)
    cases = ("a", "a", "a", "b")
    judged = tuple(replace(one, case_id=case) for one, case in zip(run.judged, cases, strict=True))
    (rate,) = calibrate(JudgedRun(judged), said, run_id="r", seed=1).rates
    assert (rate.raw.rate, rate.raw.n) == (0.5, 2)


def test_order_is_random_and_stays() -> None:
    """Neither that of the plan nor that of the verdicts; labels that exist change nothing about the rest."""
    run, said = labelled(10, 0, 0, 10)
    order = without_label(run.judged, {}, 7)
    assert sorted(order, key=lambda one: one.key) == sorted(run.judged, key=lambda one: one.key)
    assert order not in (list(run.judged), list(run.judged)[::-1])
    assert {one.passes for one in order[:8]} == {True, False}
    assert order != without_label(run.judged, {}, 8)
    done = {order[3].key: said[order[3].key]}
    assert without_label(run.judged[::-1], done, 7) == [*order[:3], *order[4:]]


def test_statements_are_what_the_judge_was_told() -> None:
    """Claims one by one, criteria as a text, and nothing made up where a score does not tell."""
    claims = FrozenDict({"answers": (FrozenDict({"statement": "a"}), FrozenDict({"statement": "b"}))})
    assert statements_of(Score.passed(evidence=claims)) == ("a", "b")
    assert statements_of(Score.passed(evidence=FrozenDict({"criteria": "c"}))) == ("c",)
    assert statements_of(Score.passed()) == ()


def test_differences_are_named() -> None:
    """What changed of a grader is told by its name."""
    other = GRADER.model_copy(update={"models": ("n",), "prompt": "q"})
    assert GRADER.differences(other) == ("model that answered", "prompt")
    assert GRADER.differences(GRADER) == ()


def session(text: str, *events: TrajectoryEvent) -> Execution:
    """What an agent did and answered."""
    return Execution(text=text, trajectory=Trajectory(events=events))


def test_a_label_is_bound_to_all_that_was_judged() -> None:
    """Another step is another answer; the id of a call, which is new in every session, is not."""
    call = TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Bash", data=FrozenDict({"command": "ls"}), call_id="1")
    same = call.model_copy(update={"call_id": "2"})
    other = call.model_copy(update={"data": FrozenDict({"command": "pwd"})})
    assert answer_digest(session("done", call)) == answer_digest(session("done", same))
    told = [session("done", call), session("done", other), session("done"), Execution(text="done"), Execution(text="")]
    assert len({answer_digest(one) for one in told}) == 5


def test_a_question_tells_what_an_agent_did() -> None:
    """Steps come before the answer, which is told once; what is made up for a terminal is shown as it is."""
    events = (
        TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Bash\x1b[2J", data=FrozenDict({"command": "make\x07"})),
        TrajectoryEvent(kind=EventKind.TOOL_RESULT, text="no rule", is_error=True),
        TrajectoryEvent(kind=EventKind.MESSAGE, text="It is built."),
    )
    run, _ = labelled(1, 0, 0, 0)
    result = TrialResult(
        trial_id="t",
        execution_id="e",
        score_id="s",
        ordinal=0,
        suite_id="suite",
        case_id="case",
        case_index=0,
        target_id=None,
        arm="with_skill",
        runner="engine",
        model=None,
        repeat=1,
        verdict=Verdict.PASS,
        execution=session("It is built.", *events),
        started_at=0.0,
    )
    lines = list(question_lines(Question(run.judged[0], None, ("It was built.",), result)))
    assert lines[2:9] == [
        "What the agent did:",
        "  Tool call Bash\N{REPLACEMENT CHARACTER}[2J",
        "    make\N{REPLACEMENT CHARACTER}",
        "  Result (an error)",
        "    no rule",
        "",
        "Answer:",
    ]
    assert lines.count("  It is built.") == 1


THEIRS = GROUP.in_arm("without_skill")
PAIR = PairSummary(candidate=GROUP, baseline=THEIRS, evidence=None)


def in_two_arms(ours: tuple[int, ...], theirs: tuple[int, ...]) -> tuple[JudgedRun, dict[tuple[str, str, str], bool]]:
    """A run of the same cases in both arms, all labelled: both pass, only judge, only people, neither."""
    (first, said), (second, also) = labelled(*ours), labelled(*theirs)
    other = [replace(one, group=THEIRS, execution_id=f"theirs {one.execution_id}") for one in second.judged]
    opinions = dict(zip((one.key for one in other), also.values(), strict=True))
    return JudgedRun((*first.judged, *other)), said | opinions


def test_a_judge_that_favours_an_arm_is_not_calibrated() -> None:
    """Overruled in 10 of 16 fails with the skill and in none of 21 without: the arms and counts are the reason."""
    run, said = in_two_arms((14, 10, 0, 6), (9, 0, 0, 21))
    found = calibrate(run, said, run_id="r", seed=1, pairs=[PAIR])
    difference = (
        "its errors differ between arms: of what people fail it passes 10 of 16 in with_skill and 0 of 21 in "
        "without_skill (p < 0.001)"
    )
    assert found.kappa == pytest.approx(0.67, abs=0.005)
    assert found.advisory == (difference,)
    assert verdict(found).endswith(f"the judge is advisory, since {difference}")
    specificities = [(one.arm, one.specificity.rate, one.specificity.n) for one in found.arms]
    assert specificities == [("with_skill", 6 / 16, 16), ("without_skill", 1.0, 21)]


def test_the_rate_of_an_arm_is_that_of_its_labels() -> None:
    """With all its checks labelled, it is what people say, and so is the lift: +16.7 points, not +50."""
    run, said = in_two_arms((14, 10, 0, 6), (9, 0, 0, 21))
    found = calibrate(run, said, run_id="r", seed=1, pairs=[PAIR])
    assert [(one.arm, one.raw.rate, one.corrected) for one in found.rates] == [
        ("with_skill", 0.8, pytest.approx(14 / 30)),
        ("without_skill", 0.3, pytest.approx(9 / 30)),
    ]
    (lift,) = found.lifts
    assert (lift.arm, lift.baseline, lift.n, lift.reason) == ("with_skill", "without_skill", 30, "")
    assert (lift.raw, lift.corrected) == (pytest.approx(0.5), pytest.approx(5 / 30))
    assert lift.lower is not None
    assert lift.lower < 5 / 30


def test_equal_errors_keep_a_judge_calibrated() -> None:
    """Few errors, alike in both arms, are no doubt."""
    run, said = in_two_arms((15, 2, 1, 12), (8, 2, 1, 19))
    found = calibrate(run, said, run_id="r", seed=1, pairs=[PAIR])
    assert found.advisory == ()
    assert verdict(found).startswith("calibrated: ")
    assert [one.differs for one in found.comparisons] == [False, False]


def test_labels_of_one_arm_vouch_for_no_comparison() -> None:
    """60 labels, all of one arm: advisory, and the lift has a reason in place of a figure."""
    run, said = in_two_arms((30, 1, 1, 28), (10, 0, 0, 50))
    ours = {one.key: said[one.key] for one in run.judged if one.group is GROUP}
    found = calibrate(run, ours, run_id="r", seed=1, pairs=[PAIR])
    assert found.advisory == ("whether it favours an arm is unknown: 0 labels of without_skill, 10 are needed",)
    (lift,) = found.lifts
    assert (lift.corrected, lift.lower, lift.reason) == (None, None, "there is no label of without_skill")
    assert lift.raw == pytest.approx(31 / 60 - 10 / 60)


def test_an_uninformed_judge_has_no_corrected_lift() -> None:
    """As many words for what is good as for what is bad, and checks without a label."""
    run, said = in_two_arms((7, 8, 8, 7), (7, 8, 8, 7))
    del said[run.judged[0].key]
    (lift,) = calibrate(run, said, run_id="r", seed=1, pairs=[PAIR]).lifts
    assert lift.corrected is None
    assert lift.reason == "these labels do not tell good from bad"
