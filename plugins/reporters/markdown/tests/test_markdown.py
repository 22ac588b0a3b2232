"""Markdown for people, with text from outside made harmless."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import (
    Blame,
    Execution,
    Failure,
    FailureClass,
    Kept,
    PlanHead,
    Score,
    SuiteHead,
    TargetHead,
    TrialResult,
    Verdict,
)
from skillgauge.api.report import (
    Counts,
    Figure,
    GroupSummary,
    RunInfo,
    RunState,
    RunView,
    SuiteValidity,
    Summary,
    Table,
    TagSummary,
    duration,
    percent,
)
from skillgauge.api.report import reason_of as reason
from skillgauge.stats import Latency, RateInterval
from skillgauge_reporter_markdown.reporter import MarkdownReporter, text
from skillgauge_testkit import contract_views


def result(
    verdict: Verdict, *, case: str = "c", scores: tuple[Score, ...] = (), failure: Failure | None = None
) -> TrialResult:
    """A result with the given verdict."""
    return TrialResult(
        trial_id=case,
        execution_id="e",
        score_id="s",
        ordinal=0,
        suite_id="suite",
        case_id=case,
        case_index=0,
        target_id="calculator",
        arm="direct",
        runner="subprocess",
        model=None,
        repeat=1,
        verdict=verdict,
        value=None if verdict is Verdict.ERROR else float(verdict is Verdict.PASS),
        scores=scores,
        execution=Execution(duration_s=0.421, failure=failure),
        started_at=0.0,
    )


def report(*results: TrialResult, state: RunState = RunState.FINISHED, valid: bool = True, **group: object) -> str:
    """The report of a run with one group."""
    counts = Counts(
        total=len(results),
        passed=sum(one.verdict is Verdict.PASS for one in results),
        failed=sum(one.verdict is Verdict.FAIL for one in results),
        errors=sum(one.verdict is Verdict.ERROR for one in results),
    )
    suite = SuiteHead(
        id="suite",
        name="A suite",
        version="1.0.0",
        format="eval-skills",
        root="/x",
        content_digest="d",
        case_count=len(results),
        targets=(TargetHead(id="calculator"),),
        arms=("direct",),
    )
    summary_group = GroupSummary(
        **{  # type: ignore[arg-type]  # a test builder
            "suite_id": "suite",
            "target_id": "calculator",
            "arm": "direct",
            "runner": "subprocess",
            "model": None,
            "counts": counts,
            "pass_rate": RateInterval(rate=1.0, n=5, lower=0.565518, upper=1.0, method="wilson"),
            **group,
        }
    )
    validity = SuiteValidity(suite_id="suite", valid=valid, error_share=0.5, reason="too many errors")
    view = RunView(
        RunInfo(run_id="r1", state=state, started_at=0.0),
        PlanHead(plan_id="p", suites=(suite,), trial_count=len(results), runs=1, seed=0),
        Summary(counts=counts, groups=(summary_group,), validity=(validity,)),
        Kept(lambda: results),
    )
    (artifact,) = MarkdownReporter().render(view)
    return b"".join(artifact.chunks).decode()


WILSON = RateInterval(rate=0.5, n=2, lower=0.094531, upper=0.905469, method="wilson")


def test_a_rate_never_stands_alone() -> None:
    """Beside the pass rate stand its interval, n, errors and method, and a warning for tiny perfect suites."""
    shown = report(*[result(Verdict.PASS, case=f"c{n}") for n in range(5)])
    assert "| Target | Pass rate | Interval | n (cases) | Passed | Failed | Errors | Skipped | Method |" in shown
    assert "| calculator (subprocess) | 100.0% | 56.6% to 100.0% | 5 | 5 of 5 | 0 | 0 | 0 | 95 % wilson |" in shown
    assert "- 5 of 5 cases passed; that proves no more than 56.6%: calculator (subprocess)." in shown


@pytest.mark.parametrize(
    "rate",
    [
        RateInterval(rate=0.9, n=5, lower=0.5, upper=1.0),
        RateInterval(rate=1.0, n=30, lower=0.88, upper=1.0),
        RateInterval(rate=1.0, n=5),
    ],
)
def test_only_small_perfect_suites_get_the_warning(rate: RateInterval) -> None:
    """It is said where it is needed, and only there."""
    assert "proves no more" not in report(result(Verdict.PASS), pass_rate=rate)


def test_figures_latency_and_bounds_are_shown() -> None:
    """The format's own figures get a table with n and errors; percentiles and error bounds follow."""
    shown = report(
        result(Verdict.PASS),
        result(Verdict.ERROR, case="e"),
        figures=(
            Figure(name="compositeScore", label="Composite", value=0.9972, unit="score"),
            Figure(name="completionRate", label="Completion | rate", value=0.5, unit="ratio"),
            Figure(name="p95Ms", label="P95", value=1234.0, unit="ms"),
            Figure(name="points", label="Points", value=3.0, unit="pt"),
            Figure(name="unknown", label="Unknown", value=None),
        ),
        latency=Latency(samples=2, p50_s=0.25, p95_s=1.26, p99_s=None),
        pass_bounds=(0.5, 1.0),
    )
    assert "Figures as eval-skills defines them: its own arithmetic over the trials; it knows no interval." in shown
    assert r"| Target | Trials | Errors | Composite | Completion \| rate | P95 | Points | Unknown |" in shown
    assert "| calculator (subprocess) | 2 | 1 | 0.997 | 50.0% | 1.2 s | 3 pt | – |" in shown
    assert "Latency over 2 trials, failures included: p50 250 ms; for more there are too few." in shown
    assert "between 50.0% (all failed) and 100.0% (all passed): calculator (subprocess)." in shown


def test_how_a_rate_is_made_is_said_where_there_is_one() -> None:
    """A figure in the place of the pass rate is told without it."""
    figure = Figure(name="b", label="Balanced accuracy", value=0.75, unit="ratio", is_headline=True)
    assert "- The pass rate averages" in report(result(Verdict.PASS))
    shown = report(result(Verdict.PASS), figures=(figure,))
    assert "| calculator (subprocess) | Balanced accuracy | 75.0% |" in shown
    assert "pass rate" not in shown.lower()


def test_tables_of_a_group_are_shown() -> None:
    """What plugins count is printed cell by cell; a text from outside is no markup."""
    table = Table(name="t", label="Who fired", heads=("Query of", "a|b"), rows=(("c*d", 3),))
    shown = report(result(Verdict.PASS), tables=(table,))
    assert "Who fired: calculator (subprocess)." in shown
    assert "| Query of | a\\|b |\n| --- | --- |\n| c\\*d | 3 |" in shown


def test_a_format_without_figures_gets_no_table_of_them() -> None:
    """No empty box."""
    assert "Figures as" not in report(result(Verdict.PASS))


@pytest.mark.requirement("ES-BENCH-009")
def test_results_by_tag() -> None:
    """Each tag has its rate with interval, n, errors and method; of a tag without a result the rate is unknown."""
    shown = report(
        result(Verdict.PASS),
        tags=(
            TagSummary(tag="math", counts=Counts(total=3, passed=1, failed=1, errors=1), pass_rate=WILSON),
            TagSummary(tag="net", counts=Counts(total=2, errors=2), pass_rate=RateInterval(rate=None, n=0)),
        ),
    )
    assert "By tag; a case counts under each of its tags." in shown
    assert "| Tag | Pass rate | Interval | n (cases) | Passed | Failed | Errors | Skipped | Method |" in shown
    assert "| math | 50.0% | 9.5% to 90.5% | 2 | 1 of 3 | 1 | 1 | 0 | 95 % wilson |" in shown
    assert "| net | – | – | 0 | 0 of 2 | 0 | 2 | 0 | – |" in shown
    assert "By tag" not in report(result(Verdict.PASS))


def test_an_unfinished_or_invalid_run_says_so() -> None:
    """Nobody can take partial or worthless figures for results."""
    assert "**This run is interrupted" in report(result(Verdict.PASS), state=RunState.INTERRUPTED)
    assert "**Invalid: too many errors.**" in report(result(Verdict.ERROR), valid=False)


def test_reasons_say_what_went_wrong() -> None:
    """A failure shows its class and message, a failed check its reason, a pass nothing."""
    failure = Failure(failure_class=FailureClass.TIMEOUT, blame=Blame.TARGET, message="no answer within 2 s")
    assert reason(result(Verdict.FAIL, failure=failure)) == "timeout: no answer within 2 s"
    scores = (Score.passed("fine"), Score.failed("wrong"), Score.failed("").model_copy(update={"check_id": "k"}))
    assert reason(result(Verdict.FAIL, scores=scores)) == "wrong; check k failed"
    assert reason(result(Verdict.PASS, scores=(Score.passed("fine"),))) == ""


HOSTILE = [
    "<script>alert(1)</script>",
    "a|b",
    "line\nbreak\r\n# heading",
    "\u202eright to left",
    "\u202eright to left",
    "\u200f\u061c\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627\u2067",
    "[link](javascript:alert(1))",
    "`code` *bold* _it_ ~~gone~~ ![x](y)",
    "x" * 10_000,
    "a & b &lt;",
]


@pytest.mark.requirement("ES-DEFECT-17")
@pytest.mark.parametrize("hostile", HOSTILE)
def test_text_from_outside_cannot_change_the_layout(hostile: str) -> None:
    """Names and reasons stay one cell of one row, whatever is in them."""
    shown = report(
        result(Verdict.FAIL, case=hostile, scores=(Score.failed(hostile),)).model_copy(update={"target_id": hostile}),
        target_id=hostile,
    )
    rows = [line for line in shown.splitlines() if "FAIL" in line and line.startswith("|")]
    (row,) = rows
    (heads,) = (line for line in shown.splitlines() if line.startswith("| Case |"))
    assert len(re.findall(r"(?<!\\)\|", row)) == heads.count("|")
    assert "<script" not in re.sub(r"\\<", "", shown)
    assert "\u202e" not in shown
    assert len(row) < 1500


def test_tags_from_outside_stay_rows_of_their_table() -> None:
    """Hostile tags, long ones and 200 at once leave each tag one row with all columns, and nothing live."""
    names = [*HOSTILE, *(f"tag {number}" for number in range(200))]
    tags = tuple(TagSummary(tag=name, counts=Counts(total=2, passed=1, failed=1), pass_rate=WILSON) for name in names)
    shown = report(result(Verdict.PASS), tags=tags)
    rows = [line for line in shown.splitlines() if "9.5% to 90.5%" in line]
    assert len(rows) == len(names)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {10}
    assert max(map(len, rows)) < 500
    assert "<script" not in re.sub(r"\\<", "", shown)
    assert not re.search("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", shown)
    assert not any(line.startswith("# ") for line in shown.splitlines()[1:])


@given(st.text())
def test_escaped_text_is_one_line_without_live_marks(value: str) -> None:
    """Every special character is escaped and no control character survives."""
    shown = text(value)
    assert not re.search("[\n\r\x00-\x1f\x7f-\x9f\u061c\u202a-\u202e]", shown)
    assert not re.search(r"(?<!\\)(?:\\\\)*[|<>`*\[\]$]", shown)


@pytest.mark.parametrize(
    "live",
    [
        "@octocat",
        "mail@example.com",
        "https://x.example",
        "HTTP://x",
        "www.x.example",
        "GH-1",
        "#1",
        "a/b#12",
        "mailto:a",
    ],
)
def test_nobody_is_told_and_nothing_is_a_link(live: str) -> None:
    """T-M6: what GitHub links without a mark is kept apart by an entity, and reads as it was."""
    shown = text(f"see {live}!")
    assert live not in shown
    assert "&#8203;" in shown
    assert shown.replace("&#8203;", "").replace("\\", "") == f"see {live}!"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(None, "–"), (0.0, "0 ms"), (0.4214, "421 ms"), (0.9996, "1000 ms"), (1.0, "1.0 s"), (75.24, "75.2 s")],
)
def test_durations_as_people_read_them(seconds: float | None, shown: str) -> None:
    """Milliseconds below a second, else seconds."""
    assert duration(seconds) == shown


def test_percent_of_nothing_is_a_dash() -> None:
    """Unknown is never 0."""
    assert (percent(None), percent(0.0), percent(0.876)) == ("–", "0.0%", "87.6%")


def test_markdown_is_not_read_back(tmp_path: Path) -> None:
    """The reader says that it is not one of its documents, whatever it is given."""
    assert MarkdownReporter().read(tmp_path / "x.md") is None


def compared(**changes: object) -> str:
    """The report of a comparison of two arms, its first case named, its results changed."""
    view = next(view for what, view in contract_views() if "two arms" in what)
    results = [one.model_copy(update=changes) for one in view.results()]
    cases = [case.model_copy(update={"name": "a|name" if case.index == 0 else case.id}) for case in view.cases()]
    (artifact,) = MarkdownReporter().render(replace(view, source=Kept(lambda: results, cases)))
    return b"".join(artifact.chunks).decode()


def test_cases_stand_arm_beside_arm() -> None:
    """Names, repeats passed of graded in each arm, difference and outcome, before everything else."""
    lines = compared().splitlines()
    at = lines.index("| Case | Candidate | Baseline | Difference | Outcome | Why the candidate did not pass |")
    arms = ("with\\_skill: 1 of 1", "without\\_skill: 1 of 1", "without\\_skill: 0 of 1")
    assert lines[at + 2] == f"| a\\|name (case-0) | {arms[0]} | {arms[1]} | +0.0 points | both pass |  |"
    assert lines[at + 3] == f"| case-1 | {arms[0]} | {arms[2]} | +100.0 points | rescued |  |"
    assert at < lines.index("## demo 1.2.3")
    assert "## Cases" not in report(result(Verdict.FAIL))


def test_results_are_listed_by_the_names_of_their_cases() -> None:
    """A number that a format gave tells nobody which case failed; the id stands behind the name."""
    rows = [line for line in compared().splitlines() if "| 4.0 s |" in line]
    assert [line.split(" | ")[0] for line in rows[:2]] == ["| a\\|name (case-0)", "| case-1"]
    assert len(rows) == 12


def test_the_reason_of_the_candidate_stands_beside_its_case() -> None:
    """Why it did not pass, and that an arm has errors only."""
    failure = Failure(failure_class=FailureClass.SERVER, blame=Blame.INFRASTRUCTURE, message="HTTP 500")
    shown = compared(verdict=Verdict.ERROR, execution=Execution(failure=failure))
    assert "| case-1 | with\\_skill: 1 error | without\\_skill: 1 error | – | error | server: HTTP 500 |" in shown


def test_a_recording_says_so_beside_its_time() -> None:
    """Its latency is not of this run."""
    assert "| 4.0 s (recorded) |" in compared(execution=Execution(duration_s=4.0, replayed=True))
    assert "recorded" not in compared()
