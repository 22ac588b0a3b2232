"""What a difference is owed to: the skill, the model without it, another model or judge, or another task."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skillgauge.api import Identity
from skillgauge.api.report import RunView
from skillgauge_run_comparisons.comparison import compare
from skillgauge_run_comparisons.document import DiffDocument, Regression, Role
from skillgauge_run_comparisons.inputs import Report, Terms
from skillgauge_run_comparisons.regression import MAX_DROP

Make = Callable[..., RunView]
ALL = {str(number): "ppp" for number in range(4)}
NONE = dict.fromkeys(ALL, "fff")
"""Four tasks, three repeats each."""
OLD_JUDGE = Identity(name="anthropic", model="judge-1")


def compared(before: RunView, after: RunView) -> DiffDocument:
    """Two reports, behind the gate."""
    reports = Report(before, "Before", "a.json"), Report(after, "After", "b.json")
    return compare(*reports, Terms(max_drop=MAX_DROP, is_gate=True))


def arms(make: Make, candidate: dict[str, str], baseline: dict[str, str]) -> RunView:
    """A report of one skill with and without it."""
    return make({"s": candidate}, arm="with_skill", baseline={"s": baseline}, run_id=f"{candidate}{baseline}")


def test_a_worse_baseline_is_no_regression(report: Make) -> None:
    """The skill helps more than before: exit 0, and it is said that the model without it changed (N-A1)."""
    document = compared(arms(report, ALL, ALL), arms(report, ALL, NONE))
    candidate, baseline = document.skills
    assert (candidate.role, candidate.regression) == (Role.CANDIDATE, Regression.NO)
    assert (baseline.role, baseline.regression) == (Role.BASELINE, Regression.NOT_JUDGED)
    assert (document.exit_code, document.verdict) == (0, "no regression: 1 skill compared on 4 cases")
    told = "the model without the skill changed (s · without_skill: -100.0 points over 4 cases, p < 0.001)"
    assert told in document.warnings
    assert candidate.lift is not None
    assert (candidate.lift.before, candidate.lift.after, candidate.lift.tasks) == (0.0, 1.0, 4)


def test_a_skill_that_got_worse_beside_a_steady_baseline_regressed(report: Make) -> None:
    """Its lift fell: exit 1."""
    document = compared(arms(report, ALL, NONE), arms(report, NONE, NONE))
    assert (document.exit_code, document.regression) == (1, Regression.YES)
    assert "lift against without_skill -100.0 points (+100.0 points before, +0.0 points now)" in document.verdict


def test_where_both_arms_fell_the_model_changed_and_not_the_skill(report: Make) -> None:
    """The baseline arm is the control (N-E5): with enough repeats it is no regression, with few nothing is proven."""
    few = compared(arms(report, ALL, ALL), arms(report, NONE, NONE))
    assert (few.exit_code, few.regression) == (0, Regression.UNDECIDED)
    assert "without_skill fell as well, so no loss of the skill's own of more than 5 points is seen" in few.verdict
    before, after = (dict.fromkeys("abcd", letter * 60) for letter in "pf")
    many = compared(arms(report, before, before), arms(report, after, after))
    assert (many.exit_code, many.regression) == (0, Regression.NO)
    assert "the model changed, not the skill" in many.verdict


def test_a_task_that_broke_in_both_arms_is_not_held_against_the_skill(report: Make) -> None:
    """Of the two tasks that broke only the one that still passes without the skill is doubtful."""
    before = dict.fromkeys("abcd", "p")
    document = compared(
        arms(report, before, before), arms(report, {**before, "a": "f", "b": "f"}, {**before, "b": "f"})
    )
    (reasons,) = [skill.regression_reasons for skill in document.skills if skill.role is Role.CANDIDATE]
    assert document.regression is Regression.UNDECIDED
    assert any(reason.startswith("case a passed before and fails now") for reason in reasons)


def test_a_baseline_that_got_better_is_told(report: Make) -> None:
    """The lift is gone, but not by the skill: with enough repeats it is no regression, with few nothing is proven."""
    few = compared(arms(report, ALL, NONE), arms(report, ALL, ALL))
    assert (few.exit_code, few.regression) == (0, Regression.UNDECIDED)
    assert "without_skill got better, so no loss of the skill's own of more than 5 points is seen" in few.verdict
    passing, failing = (dict.fromkeys("abcd", letter * 60) for letter in "pf")
    many = compared(arms(report, passing, failing), arms(report, passing, passing))
    assert (many.exit_code, many.regression) == (0, Regression.NO)
    assert "without_skill got better, the skill did not get worse" in many.verdict


def test_a_baseline_in_one_report_only_leaves_the_candidate_arm(report: Make) -> None:
    """Without a control the pass rates are compared."""
    document = compared(arms(report, ALL, NONE), report({"s": NONE}, arm="with_skill"))
    assert document.regression is Regression.YES
    assert document.skills[0].lift is None


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({"model": "big-1"}, {"model": "tiny-2"}, "model: big-1 → tiny-2"),
        ({"runner": "claude-code"}, {"runner": "codex"}, "engine: claude-code → codex"),
        (
            {"judges": [OLD_JUDGE]},
            {"judges": [Identity(name="anthropic", model="judge-2")]},
            "judge: anthropic (judge-1) → anthropic (judge-2)",
        ),
        (
            {"judges": [OLD_JUDGE]},
            {"judges": [OLD_JUDGE.model_copy(update={"settings": {"prompt": "other"}})]},
            "judge: other settings",
        ),
    ],
)
def test_another_model_engine_or_judge_is_named_and_no_regression(
    report: Make, old: dict[str, object], new: dict[str, object], told: str
) -> None:
    """What else changed is told instead of a verdict, and the gate does not pass (N-A11)."""
    sides = [report({"s": tasks}, arm="with_skill", **facts) for tasks, facts in ((ALL, old), (NONE, new))]
    document = compared(*sides)
    (skill,) = document.skills
    assert skill.also_changed == (told,)
    assert (skill.regression, document.exit_code) == (Regression.NOT_JUDGED, 3)
    assert told in document.verdict
    assert "regressed" not in document.verdict


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"model": None}, {"model": "m"}),
        ({"runner": "unknown"}, {"runner": "codex"}),
        ({}, {"judges": [OLD_JUDGE]}),
        ({"judges": [OLD_JUDGE.model_copy(update={"version": "1"})]}, {"judges": [OLD_JUDGE]}),
    ],
)
def test_what_a_report_does_not_tell_is_no_change(report: Make, old: dict[str, object], new: dict[str, object]) -> None:
    """A document that names no model, engine or judge is compared all the same."""
    sides = [report({"s": tasks}, arm="with_skill", **facts) for tasks, facts in ((ALL, old), (NONE, new))]
    assert compared(*sides).regression is Regression.YES


def test_another_adapter_is_a_change_of_the_skill(report: Make) -> None:
    """How a skill is called belongs to it."""
    document = compared(report({"s": ALL}, runner="subprocess"), report({"s": NONE}, runner="http"))
    assert document.regression is Regression.YES


def test_a_task_that_asks_something_else_is_listed_and_not_compared(report: Make) -> None:
    """Same id, other content: no regression of it (N-A11), and if nothing else is left, nothing is proven."""
    tasks = {"a": "p", "b": "p"}
    before = report({"s": tasks}, contents={"a": "1", "b": "2"})
    one = compared(before, report({"s": {"a": "f", "b": "p"}}, contents={"a": "other", "b": "2"}))
    (skill,) = one.skills
    assert (skill.tasks.changed, skill.tasks.compared, one.exit_code) == (("a",), 1, 0)
    assert "not compared, because they ask or check something else now: a" in one.warnings
    none = compared(before, report({"s": {"a": "f", "b": "f"}}, contents={"a": "3", "b": "4"}))
    assert (none.exit_code, none.regression) == (3, Regression.NOT_JUDGED)
    assert "no unchanged case of a skill in common" in none.verdict
    untold = compared(before, report({"s": {"a": "f", "b": "p"}}))
    assert untold.regression is Regression.YES


def test_figures_leave_out_what_has_no_verdict_on_one_side(report: Make) -> None:
    """The hard task failed before and errs after: the completion rate did not get better (N-A8)."""
    before = report({"s": {"a": "p", "b": "p", "c": "p", "hard": "f"}}, arm="with_skill")
    after = report({"s": {"a": "p", "b": "p", "c": "p", "hard": "e"}}, arm="with_skill")
    rows = {row.name: row for row in compared(before, after).skills[0].metrics}
    assert (rows["completionRate"].before, rows["completionRate"].after) == (1.0, 1.0)
    assert rows["errorRate"].after == 0.25
