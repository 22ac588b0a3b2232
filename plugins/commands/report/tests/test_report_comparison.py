"""What is compared with what, and how much of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skillgauge.api import Kept
from skillgauge.api.report import Figure, RunState, RunView, SuiteValidity, Summary
from skillgauge_run_comparisons.comparison import compare
from skillgauge_run_comparisons.document import DiffDocument, Direction, Presence, Regression
from skillgauge_run_comparisons.inputs import Report, Terms
from skillgauge_run_comparisons.numbers import delta, judgement
from skillgauge_run_comparisons.regression import MAX_DROP
from skillgauge_testkit import contract_views

Make = Callable[..., RunView]


def compared(before: RunView, after: RunView, *, is_gate: bool = True) -> DiffDocument:
    """Two reports, behind the gate."""
    reports = Report(before, "Before", "a.json"), Report(after, "After", "b.json")
    return compare(*reports, Terms(max_drop=MAX_DROP, is_gate=is_gate))


def joined(*views: RunView) -> RunView:
    """Several reports as one."""
    first = views[0]
    suites = {suite.id: suite for view in views for suite in view.head.suites}
    groups = tuple(group for view in views for group in view.summary.groups)
    head = first.head.model_copy(update={"suites": tuple(suites.values())})
    summary = first.summary.model_copy(update={"groups": groups})
    return RunView(first.run, head, summary, Kept(lambda: (result for view in views for result in view.results())))


def test_skills_are_listed_in_the_order_of_the_first_report_then_new_ones(report: Make) -> None:
    """Known ones as A has them, then those that only B has; the lonely ones have figures and are not judged."""
    before = report({"b": {"t": "p"}, "gone": {"t": "f"}, "a": {"t": "p"}})
    after = report({"new": {"t": "p"}, "a": {"t": "p"}, "b": {"t": "p"}})
    document = compared(before, after)
    assert [(skill.skill, skill.presence) for skill in document.skills] == [
        ("b", Presence.BOTH),
        ("gone", Presence.REMOVED),
        ("a", Presence.BOTH),
        ("new", Presence.NEW),
    ]
    gone, new = document.skills[1], document.skills[3]
    assert (gone.metrics[0].before, gone.metrics[0].after, gone.metrics[0].delta) == (0.0, None, None)
    assert (new.metrics[0].before, new.metrics[0].after) == (None, 1.0)
    assert gone.regression is new.regression is Regression.NOT_JUDGED
    assert document.verdict == ("no regression: 2 skills compared on 2 cases, 1 new, not judged, 1 removed, not judged")


def test_a_skill_counts_once_however_many_suites_it_has(report: Make) -> None:
    """With its trigger queries in a suite of their own it is still one skill, and so is one that was removed."""
    before = joined(
        report({"a": {"t": "p"}, "gone": {"t": "p"}}), report({"a": {"q": "p"}, "gone": {"q": "p"}}, suite="queries")
    )
    after = joined(report({"a": {"t": "p"}}), report({"a": {"q": "p"}}, suite="queries"))
    document = compared(before, after)
    assert len(document.skills) == 4
    assert document.verdict == "no regression: 1 skill compared on 2 cases, 1 removed, not judged"


def test_why_a_skill_is_judged_so_is_a_sentence(report: Make) -> None:
    """With a capital letter and a full stop, as everything else on a page."""
    (skill,) = compared(report({"s": {"t": "p"}}), report({"s": {"t": "f"}})).skills
    assert judgement(skill) == ["Case t passed before and fails now."]


@pytest.mark.parametrize(
    ("after_ms", "shown"), [(100.0, "0 ms"), (100.2, "0 ms"), (99.8, "0 ms"), (99.0, "-1 ms"), (101.0, "+1 ms")]
)
def test_what_is_rounded_to_nothing_has_no_sign(report: Make, after_ms: float, shown: str) -> None:
    """A latency that fell by a fifth of a millisecond is no `-0 ms`."""
    sides = [
        report({"s": {"t": "p"}}, figures=[Figure(name="p95Ms", label="P95", value=value)]) for value in (100, after_ms)
    ]
    (row,) = [row for row in compared(*sides).skills[0].metrics if row.name == "p95Ms"]
    assert delta(row) == shown


@pytest.mark.parametrize(
    ("letters", "text"), [("p", ""), ("ppp", ", 3 runs of each case"), ("pp", ", 2 to 3 runs of each case")]
)
def test_runs_are_those_that_were_made(report: Make, letters: str, text: str) -> None:
    """Not the most that were planned: a run that stops when it is decided has fewer, and not as many of each case."""
    cases = {"t": letters, "u": "ppp" if len(letters) > 1 else "p"}
    facts = compared(report({"a": cases}), report({"a": {"t": "p"}})).before
    assert facts.repeats_text == text
    assert (facts.fewest_repeats, facts.repeats) == (len(letters), len(cases["u"]))


@pytest.mark.parametrize(
    ("calls", "direction"), [((19, 20), Direction.UNKNOWN), ((20, 19), Direction.UNKNOWN), ((20, 20), Direction.BETTER)]
)
def test_a_percentile_of_few_calls_is_no_better(report: Make, calls: tuple[int, int], direction: Direction) -> None:
    """N-B7: the slowest of three calls is their 95th percentile; that another three were quicker is no news."""
    sides = [
        report({"s": {"t": "p" * count}}, figures=[Figure(name="p95Ms", label="P95", value=value)])
        for count, value in zip(calls, (300, 200), strict=True)
    ]
    (row,) = [row for row in compared(*sides).skills[0].metrics if row.name == "p95Ms"]
    assert (row.delta, row.direction) == (-100, direction)


@pytest.mark.parametrize(
    ("before", "after", "direction"),
    [
        (162, 167, Direction.UNKNOWN),
        (162, 178, Direction.UNKNOWN),
        (160, 176, Direction.WORSE),
        (0, 1, Direction.WORSE),
    ],
)
def test_a_percentile_that_hardly_moved_is_no_worse(
    report: Make, before: int, after: int, direction: Direction
) -> None:
    """R3-M12: less than a tenth is what times differ by from run to run."""
    sides = [
        report({"s": {"t": "p" * 20}}, figures=[Figure(name="p95Ms", label="P95", value=value)])
        for value in (before, after)
    ]
    (row,) = [row for row in compared(*sides).skills[0].metrics if row.name == "p95Ms"]
    assert (row.delta, row.direction) == (after - before, direction)


def test_metrics_are_the_published_ones(report: Make) -> None:
    """The format's own figures are compared, each with the direction that is good for it."""

    def figures(*values: float) -> list[Figure]:
        names = ("completionRate", "errorRate", "p95Ms", "compositeScore")
        return [Figure(name=name, label=name, value=value) for name, value in zip(names, values, strict=True)]

    before = report({"s": {"t": "p" * 20}}, figures=figures(0.8, 0.1, 300, 0.897))
    after = report({"s": {"t": "p" * 20}}, figures=figures(0.9, 0.2, 200, 0.8974))
    rows = {row.name: row for row in compared(before, after).skills[0].metrics}
    assert list(rows) == ["completionRate", "errorRate", "p95Ms", "compositeScore"]
    assert [row.direction for row in rows.values()] == [
        Direction.BETTER,
        Direction.WORSE,
        Direction.BETTER,
        Direction.SAME,
    ]
    assert [row.delta for row in rows.values()] == pytest.approx([0.1, 0.1, -100, 0.0004])


def test_metrics_without_figures_of_a_format(report: Make) -> None:
    """They are counted: errors and what did not come to its end make the error rate, and no composite is invented."""
    before = report({"s": {"a": "pp", "b": "pt", "c": "ef"}})
    rows = {row.name: row.before for row in compared(before, before).skills[0].metrics}
    assert rows == {"completionRate": pytest.approx(3 / 6), "errorRate": pytest.approx(2 / 6), "p95Ms": 20.0}
    agent = report({"s": {"a": "pp", "b": "pf", "c": "ee"}}, arm="with_skill")
    rows = {row.name: row.before for row in compared(agent, agent).skills[0].metrics}
    assert rows["completionRate"] == pytest.approx(0.75)  # the mean over tasks; errors are in no rate


def test_only_common_tasks_are_compared(report: Make) -> None:
    """With other tasks on either side the figures are made anew over the common ones, and the others are listed."""
    figures = [Figure(name="completionRate", label="", value=0.123), Figure(name="compositeScore", label="", value=0.5)]
    before = report({"s": {"a": "p", "b": "p", "old": "f"}}, figures=figures)
    after = report({"s": {"new": "f", "b": "p", "a": "f"}}, figures=figures)
    document = compared(before, after)
    (skill,) = document.skills
    assert skill.common_tasks_only
    assert (skill.tasks.compared, skill.tasks.only_before, skill.tasks.only_after) == (2, ("old",), ("new",))
    assert {row.name: (row.before, row.after) for row in skill.metrics} == {
        "completionRate": (1.0, 0.5),
        "errorRate": (0.0, 0.0),
        "p95Ms": (10.0, 10.0),
    }
    assert "the reports have different cases (s): only cases that both have are compared" in document.warnings
    assert document.regression is Regression.YES


def test_errors_conclude_nothing(report: Make) -> None:
    """A task with errors only is set aside; more than a quarter of them, and finding nothing proves nothing."""
    good = report({"s": {"a": "p", "b": "p", "c": "p", "d": "p"}})
    some = compared(good, report({"s": {"a": "p", "b": "p", "c": "p", "d": "e"}}))
    assert (some.skills[0].tasks.compared, some.skills[0].tasks.ungraded) == (3, ("d",))
    assert (some.exit_code, some.unproven) == (0, ())
    assert "1 shared case had errors only in a report: nothing is concluded from them" in some.warnings
    many = compared(good, report({"s": {"a": "p", "b": "p", "c": "e", "d": "e"}}))
    assert many.exit_code == 3
    assert many.verdict.startswith("invalid: s: 2 of 4 shared cases have errors only (no regression: ")
    ungated = compared(good, report({"s": {"a": "p", "b": "p", "c": "e", "d": "e"}}), is_gate=False)
    assert ungated.exit_code == 0
    assert ungated.verdict.startswith("proves nothing: ")
    worse = compared(good, report({"s": {"a": "p", "b": "f", "c": "e", "d": "e"}}))
    assert worse.exit_code == 1, "a broken task is news whatever else went wrong"


def test_different_benchmarks(report: Make) -> None:
    """With tasks in common they are compared and a warning says so; without, nothing is, and the gate does not pass."""
    tasks = {"s": {"a": "p", "b": "p"}}
    same_tasks = compared(report(tasks, suite="one"), report(tasks, suite="two", run_id="x"))
    assert same_tasks.warnings[0] == "the reports are of different suites (Before: one; After: two)"
    assert same_tasks.skills[0].tasks.compared == 2
    assert same_tasks.exit_code == 0
    others = compared(report(tasks, suite="one"), report({"s": {"c": "p"}}, suite="two"))
    assert [skill.presence for skill in others.skills] == [Presence.REMOVED, Presence.NEW]
    assert [skill.title for skill in others.skills] == ["s · one", "s · two"]
    assert (others.regression, others.exit_code) == (Regression.NOT_JUDGED, 3)
    assert others.verdict == "invalid: the reports have no case of a skill in common (nothing was compared)"
    renamed = compared(report(tasks), report({"s": {"c": "p"}}))
    assert renamed.exit_code == 3
    assert renamed.skills[0].presence is Presence.BOTH


def test_another_version_of_the_benchmark(report: Make) -> None:
    """Its tasks are compared by id, and a warning says that one may have changed; an unknown version gives none."""
    tasks = {"s": {"a": "p"}}
    changed = compared(report(tasks, version="1.0.0"), report(tasks, version="1.1.0", run_id="x"))
    assert changed.warnings[0] == "suite demo is another version (1.0.0, 1.1.0): a case may have changed"
    unknown = compared(report(tasks, version="1.0.0"), report(tasks, run_id="x"))
    assert unknown.warnings == ()


def test_one_repeat_is_pointed_out_where_it_matters(report: Make) -> None:
    """Only if a task broke and a report has a single repeat."""
    one, three = report({"s": {"a": "p"}}), report({"s": {"a": "ppp"}})
    broken = report({"s": {"a": "fff"}})
    assert any("unsteady" in warning for warning in compared(one, broken).warnings)
    assert not any("unsteady" in warning for warning in compared(three, broken).warnings)
    assert not any("unsteady" in warning for warning in compared(one, one).warnings)


def test_remarks_of_plugins_are_warnings(report: Make) -> None:
    """Each once, with the report that it is of, or with both."""
    view, again = report({"s": {"a": "p"}}), report({"s": {"a": "p"}}, run_id="x")
    before = Report(view, "Before", "a.json", remarks=("of both", "of the first"))
    after = Report(again, "After", "b.json", remarks=("of the second", "of both"))
    document = compare(before, after, Terms(max_drop=MAX_DROP, is_gate=True))
    assert document.warnings == ("Before and After: of both", "Before: of the first", "After: of the second")


def test_the_same_report_twice(report: Make) -> None:
    """A slip of the user's is pointed out."""
    view = report({"s": {"a": "p"}})
    assert "both are reports of the same run" in compared(view, view).warnings


def test_a_document_without_runner_is_matched(report: Make) -> None:
    """A report of the original does not tell the adapter; with one runner on either side there is no doubt."""
    tasks = {"s": {"a": "p"}}
    document = compared(report(tasks, runner="unknown"), report(tasks, runner="http"))
    assert [skill.presence for skill in document.skills] == [Presence.BOTH]


def test_arms_models_and_runners_are_kept_apart(report: Make) -> None:
    """Each combination is compared with itself, and titles say what tells them apart."""
    tasks = {"s": {"a": "p"}}
    parts = [
        report(tasks, arm="with_skill", model="m1"),
        report(tasks, arm="with_skill", model="m2"),
        report(tasks, arm="without_skill", model="m1"),
        report({"s": {"a": "f"}}, arm="without_skill", model="m1", runner="other"),
    ]
    document = compared(joined(*parts), joined(*reversed(parts)))
    assert [skill.title for skill in document.skills] == [
        "s · with_skill · m1",
        "s · with_skill · m2",
        "s · without_skill · m1 · subprocess",
        "s · without_skill · m1 · other",
    ]
    assert all(skill.presence is Presence.BOTH and not skill.changes for skill in document.skills)


def test_versions_of_the_skill(report: Make) -> None:
    """Shown from one to the other, once if they are equal, not at all if unknown."""
    tasks = {"s": {"a": "p"}}
    old, new, none = (report(tasks, skill_version=one) for one in ("1.0.0", "1.1.0", None))
    assert compared(old, new).skills[0].versions == "1.0.0 → 1.1.0"
    assert compared(old, old).skills[0].versions == "1.0.0"
    assert compared(none, new).skills[0].versions == "1.1.0"
    assert compared(none, none).skills[0].versions == ""


def test_a_partial_or_invalid_report_proves_nothing(report: Make) -> None:
    """Finding no regression in it does not pass the gate."""
    tasks = {"s": {"a": "p"}}
    good = report(tasks)
    partial = compared(good, report(tasks, state=RunState.INTERRUPTED))
    assert (partial.exit_code, partial.unproven) == (3, ("the run of After is interrupted",))
    validity = (SuiteValidity(suite_id="demo", valid=False, error_share=0.5, reason="half of it failed"),)
    summary = Summary(counts=good.summary.counts, groups=good.summary.groups, validity=validity)
    invalid = compared(RunView(good.run, good.head, summary, good.source), good)
    assert invalid.unproven == ("demo is invalid in Before: half of it failed",)


def test_results_without_a_summary(report: Make) -> None:
    """A run that never got a summary is compared all the same."""
    view = report({"s": {"a": "p"}})
    bare = RunView(view.run, view.head, Summary(counts=view.summary.counts, groups=()), view.source)
    assert compared(bare, view).skills[0].tasks.compared == 1


@pytest.mark.parametrize("name", [what for what, _ in contract_views()])
def test_every_run_can_be_compared_with_itself(name: str) -> None:
    """Nothing differs, whatever the run is, and the document can be written and read back."""
    view = dict(contract_views())[name]
    document = compared(view, view)
    assert not any(skill.changes or skill.presence is not Presence.BOTH for skill in document.skills)
    assert DiffDocument.model_validate_json(document.model_dump_json()) == document
