"""When a skill counts as having got worse: the rule of the README, on the tables that it must decide."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skillgauge.api.report import RunView
from skillgauge_run_comparisons.comparison import compare
from skillgauge_run_comparisons.document import DiffDocument, Regression, Turn
from skillgauge_run_comparisons.inputs import Report, Terms
from skillgauge_run_comparisons.regression import MAX_DROP, overall

Make = Callable[..., RunView]


def compared(make: Make, before: dict[str, str], after: dict[str, str], max_drop: float = MAX_DROP) -> DiffDocument:
    """Two reports of one skill, behind the gate."""
    reports = [Report(make({"skill": tasks}), label, label) for tasks, label in ((before, "A"), (after, "B"))]
    return compare(*reports, Terms(max_drop=max_drop, is_gate=True))


def agents(make: Make, before: dict[str, str], after: dict[str, str]) -> DiffDocument:
    """Two reports of an agent with one skill, behind the gate."""
    sides = ((before, "A"), (after, "B"))
    reports = [Report(make({"skill": tasks}, arm="with_skill"), label, label) for tasks, label in sides]
    return compare(*reports, Terms(max_drop=MAX_DROP, is_gate=True))


@pytest.mark.requirement("SE-ARM-003")
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # one repeat of each task
        ({"a": "p", "b": "p"}, {"a": "p", "b": "p"}, Regression.NO),
        ({"a": "p", "b": "p"}, {"a": "p", "b": "f"}, Regression.YES),
        ({"a": "p", "b": "f"}, {"a": "f", "b": "p"}, Regression.YES),  # the rate is the same, a task broke
        ({"a": "p"}, {"a": "t"}, Regression.YES),  # a timeout of the skill is its failure
        ({"a": "f"}, {"a": "f"}, Regression.NO),
        ({"a": "f"}, {"a": "p"}, Regression.NO),
        ({str(n): "p" for n in range(500)}, {str(n): "pf"[n == 499] for n in range(500)}, Regression.YES),
        # errors are nobody's failure
        ({"a": "p", "b": "p"}, {"a": "p", "b": "e"}, Regression.NO),
        ({"a": "e", "b": "p"}, {"a": "f", "b": "p"}, Regression.NO),
        ({"a": "ppp"}, {"a": "eef"}, Regression.UNDECIDED),
        ({"a": "ppe"}, {"a": "fff"}, Regression.UNDECIDED),
        ({"a": "pppp"}, {"a": "efff"}, Regression.YES),
        ({"a": "p"}, {"a": "s"}, Regression.NOT_JUDGED),
        # repeats: broken is never again, less often is a matter of chance
        ({"a": "ppp"}, {"a": "fff"}, Regression.YES),
        (dict.fromkeys("abcd", "ppp"), {**dict.fromkeys("abcd", "ppp"), "c": "ppf"}, Regression.UNDECIDED),
        ({"a": "ppf"}, {"a": "pff"}, Regression.UNDECIDED),
        ({"a": "ppppp"}, {"a": "pffff"}, Regression.YES),  # p = 0.024
        ({"a": "ppppp"}, {"a": "ppfff"}, Regression.UNDECIDED),  # p = 0.083
        ({str(n): "ppp" for n in range(4)}, {str(n): "ppf" for n in range(4)}, Regression.UNDECIDED),  # p = 0.0625
        ({str(n): "ppp" for n in range(5)}, {str(n): "ppf" for n in range(5)}, Regression.YES),  # p = 0.03125
        ({str(n): "ppp" for n in range(40)}, {str(n): "ppf" if n < 5 else "ppp" for n in range(40)}, "undecided"),
        (
            {str(n): "p" * 9 for n in range(40)},
            {str(n): "p" * (9 - (n == 0)) + "f" * (n == 0) for n in range(40)},
            "no",
        ),
        # no loss is seen, and so few repeats exclude none
        ({"a": "pff"}, {"a": "ppp"}, Regression.UNDECIDED),
    ],
)
def test_the_rule(report: Make, before: dict[str, str], after: dict[str, str], expected: str) -> None:
    """Each table is decided as the README says, and the exit code follows."""
    document = compared(report, before, after)
    assert document.regression == expected
    assert document.skills[0].regression == expected
    assert document.exit_code == {"yes": 1, "not-judged": 3}.get(expected, 3 if document.unproven else 0)


def test_the_margin(report: Make) -> None:
    """A loss of exactly what is allowed is no regression; with less allowed it is one if chance cannot explain it."""
    before = {str(n): "ppp" for n in range(40)}
    after = {str(n): "ppf" if n < 6 else "ppp" for n in range(40)}  # 5.0 points, p = 0.0156
    assert compared(report, before, after).regression is Regression.UNDECIDED
    assert compared(report, before, after, max_drop=0.0499).regression is Regression.YES
    assert compared(report, before, after, max_drop=0).regression is Regression.YES
    assert compared(report, before, before, max_drop=0).regression is Regression.NO


def test_the_verdict_says_what_regressed(report: Make) -> None:
    """Skill, tasks, and how sure it is; without the gate also how to make it fail."""
    four = dict.fromkeys("abcd", "p")
    document = compared(report, four, dict.fromkeys("abcd", "f"))
    assert document.verdict == "regressed: skill: cases a, b, c and 1 more passed before and fail now"
    one = compared(report, four, {**four, "c": "f"})
    assert one.verdict == "regressed: skill: case c passed before and fails now"
    unsure = compared(report, {"a": "ppf"}, {"a": "pff"})
    assert (
        "undecided: skill: pass rate -33.3 points over 1 case, which chance may explain (p = 0.500)" in unsure.verdict
    )
    assert unsure.verdict.endswith("repeating both evaluations with --runs 30 would decide")


def test_all_reasons_are_told(report: Make) -> None:
    """A lower rate and the tasks that prove it by themselves are both named, and no p is ever 0."""
    five = dict.fromkeys("abcde", "ppppppp")
    (skill,) = agents(report, five, dict.fromkeys("abcde", "fffffff")).skills
    assert skill.regression_reasons == (
        "pass rate -100.0 points over 5 cases, p < 0.001",
        "a, b, c and 2 more got worse by more than chance explains (p = 0.001, all allowed for)",
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # one repeat: a task proves nothing, enough of them do
        ({"a": "p", "b": "p"}, {"a": "p", "b": "f"}, Regression.UNDECIDED),
        ({"a": "p", "b": "f"}, {"a": "f", "b": "p"}, Regression.UNDECIDED),
        (dict.fromkeys("abcde", "p"), dict.fromkeys("abcde", "f"), Regression.YES),  # p = 0.031
        (dict.fromkeys("abcde", "p"), {**dict.fromkeys("abcde", "f"), "a": "p"}, Regression.UNDECIDED),
        # errors leave one repeat of three
        ({"a": "ppp", "b": "ppp"}, {"a": "ppp", "b": "eef"}, Regression.UNDECIDED),
        # a single task of many, with the rate down by less than the margin
        ({str(n): "ppp" for n in range(40)}, {str(n): "fff" if n == 0 else "ppp" for n in range(40)}, "undecided"),
        ({str(n): "p" * 7 for n in range(40)}, {str(n): "pf"[n == 0] * 7 for n in range(40)}, Regression.UNDECIDED),
        ({str(n): "p" * 8 for n in range(40)}, {str(n): "pf"[n == 0] * 8 for n in range(40)}, Regression.YES),
        # five repeats before and one after
        ({"a": "ppppp"}, {"a": "f"}, Regression.UNDECIDED),
        ({"a": "p" * 100}, {"a": "f"}, Regression.UNDECIDED),
    ],
)
def test_the_rule_for_agents(report: Make, before: dict[str, str], after: dict[str, str], expected: str) -> None:
    """What agents do differs by itself: only repeats, or enough tasks, make a loss a regression (N-A2, N-A3)."""
    document = agents(report, before, after)
    assert document.regression == expected
    assert document.exit_code == (1 if expected == "yes" else 0)


@pytest.mark.parametrize(
    ("before", "after", "decided_by"),
    [
        ({"a b": "p", "b": "p"}, {"a b": "f", "b": "p"}, "--runs 3"),
        ({"a": "p", "b": "f"}, {"a": "f", "b": "p"}, "--runs 5"),
        (dict.fromkeys("abcdef", "ppp"), {**dict.fromkeys("abcdef", "ppp"), "c": "ppf"}, "--runs 15"),
        ({str(n): "p" for n in range(40)}, {str(n): "pf"[n > 28] for n in range(40)}, None),
    ],
)
def test_what_would_decide(report: Make, before: dict[str, str], after: dict[str, str], decided_by: str | None) -> None:
    """An undecided comparison names the options that would decide it: further repeats of all tasks."""
    (skill,) = agents(report, before, after).skills
    if decided_by is None:
        assert skill.regression is Regression.YES
    else:
        assert (skill.regression, skill.decided_by) == (Regression.UNDECIDED, decided_by)


def test_what_is_said_to_decide_does(report: Make) -> None:
    """The doubtful task, repeated as told and going on like before, is a regression."""
    assert agents(report, {"a": "p" * 5}, {"a": "f" * 5}).regression is Regression.YES
    assert agents(report, {"a": "p" * 15}, {"a": "p" * 10 + "f" * 5}).regression is Regression.YES


def test_many_skills_must_prove_more(report: Make) -> None:
    """Holm over skills: what is a regression of one skill alone is undecided as one of three (N-A2)."""
    five, worse = {str(n): "ppp" for n in range(5)}, {str(n): "ppf" for n in range(5)}  # p = 0.031

    def three(first: dict[str, str]) -> RunView:
        return report({"one": first, "two": five, "three": five}, arm="with_skill")

    reports = [Report(three(tasks), label, label) for tasks, label in ((five, "A"), (worse, "B"))]
    document = compare(*reports, Terms(max_drop=MAX_DROP, is_gate=True))
    assert agents(report, five, worse).regression is Regression.YES
    assert document.regression is Regression.UNDECIDED
    assert "p = 0.094, 3 skills allowed for" in document.verdict


def test_direct_calls_that_differ_by_themselves_are_judged_as_agents_are(report: Make) -> None:
    """One task whose own repeats disagree shows that the skill is no function of its input."""
    before, after = {"a": "ppp", "b": "ppp"}, {"a": "fff", "b": "ppp"}
    assert compared(report, before, after).regression is Regression.YES
    assert compared(report, {**before, "c": "pfp"}, {**after, "c": "pfp"}).regression is Regression.UNDECIDED


def test_turns(report: Make) -> None:
    """Every change of a task's pass share has its name, worst first; what stayed is not listed."""
    before = {"same": "pf", "stronger": "pff", "fixed": "ff", "weaker": "pp", "broke": "pp", "steady": "pp"}
    after = {"same": "fp", "stronger": "ppf", "fixed": "pp", "weaker": "pf", "broke": "ff", "steady": "pp"}
    changes = compared(report, before, after).skills[0].changes
    assert [change.turn for change in changes] == [Turn.BROKE, Turn.WEAKER, Turn.FIXED, Turn.STRONGER]
    assert [change.task for change in changes] == ["broke", "weaker", "fixed", "stronger"]
    assert [change.reason for change in changes] == ["wrong broke", "wrong weaker", "wrong fixed", "wrong stronger"]
    assert [change.before.shown for change in changes[:2]] == ["2 of 2 passed", "2 of 2 passed"]
    assert changes[1].after.shown == "1 of 2 passed"


def test_the_worst_of_several() -> None:
    """One regression is a regression; nothing compared is nothing judged."""
    yes, no, undecided, none = Regression.YES, Regression.NO, Regression.UNDECIDED, Regression.NOT_JUDGED
    assert overall([no, yes, undecided]) is yes
    assert overall([no, undecided, none]) is undecided
    assert overall([none, no]) is no
    assert overall([none]) is none
    assert overall([]) is none
