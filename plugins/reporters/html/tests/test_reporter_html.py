"""The page's content: every rate with what it takes to trust it, and texts from outside made harmless."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment

from skillgauge.api import (
    Blame,
    CaseHead,
    EventKind,
    Execution,
    Failure,
    FailureClass,
    FileChange,
    GivenUp,
    Kept,
    ResultOrder,
    Score,
    Trajectory,
    TrajectoryEvent,
    TrialResult,
    Usage,
    Verdict,
    plain,
)
from skillgauge.api.report import (
    CaseCounts,
    Counts,
    Figure,
    GroupKey,
    GroupSummary,
    RunState,
    RunView,
    SuiteValidity,
    Summary,
    Table,
    TagSummary,
    reason_of,
)
from skillgauge.stats import Latency, RateInterval
from skillgauge_reporter_html import content
from skillgauge_reporter_html.content import ROOM, ROWS, SHORT, row
from skillgauge_reporter_html.pages import page
from skillgauge_reporter_html.reporter import HtmlReporter
from skillgauge_run_pages import text
from skillgauge_run_pages.summary import SHORT_TAGS, TAGS
from skillgauge_run_views.transcripts import CHARACTERS, LISTED, excerpt, transcript
from skillgauge_testkit import contract_views

VOID = {"input", "meta", "path", "rect"}


class Nesting(HTMLParser):
    """Checks that elements close in order, and collects what the tests ask for."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember it."""
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A drawing's parts have no content."""
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """It must be the last one opened."""
        assert self.open.pop() == tag


def example(what: str) -> RunView:
    """A run of the contract kit whose description has these words."""
    return next(view for description, view in contract_views() if what in description)


def drawn(view: RunView) -> str:
    """The page of a run."""
    (artifact,) = HtmlReporter().render(view)
    return b"".join(artifact.chunks).decode()


def words(shown: str) -> str:
    """The page's text as one line."""
    body = re.sub(r"<style>.*?</style>", "", shown, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", body).split())


def group(**changes: object) -> GroupSummary:
    """The summary of the only group of a run."""
    values: dict[str, object] = {
        "suite_id": "demo",
        "target_id": "skill",
        "arm": "direct",
        "runner": "contract",
        "model": None,
        "counts": Counts(total=5, passed=5),
        "pass_rate": RateInterval(rate=1.0, n=5, lower=0.565518, upper=1.0, method="wilson"),
    }
    return GroupSummary.model_validate(values | changes)


def run_of(
    *groups: GroupSummary, results: Sequence[TrialResult] = (), validity: tuple[SuiteValidity, ...] = ()
) -> RunView:
    """A run of one suite with these groups."""
    summary = Summary(counts=Counts(total=len(results)), groups=groups, validity=validity)
    return replace(example("without results"), summary=summary, source=Kept(lambda: results))


def result(**changes: object) -> TrialResult:
    """A trial of that group."""
    return next(example("two arms").results()).model_copy(
        update={"arm": "direct", "runner": "contract", "model": None, "scores": (), "execution": Execution()} | changes
    )


def failing(message: str = "no answer") -> TrialResult:
    """A trial that ended in a failure."""
    failure = Failure(failure_class=FailureClass.TIMEOUT, blame=Blame.TARGET, message=message)
    return result(verdict=Verdict.FAIL, value=0.0, execution=Execution(failure=failure, duration_s=1.5))


@pytest.mark.parametrize("what", [what for what, _ in contract_views()])
def test_every_run_becomes_a_page_with_closed_elements(what: str) -> None:
    """Elements nest, every heading cell says its scope, levels of headings are not skipped."""
    shown = drawn(example(what))
    assert shown.startswith('<!doctype html>\n<html lang="en">')
    page_read = Nesting()
    page_read.feed(shown)
    assert page_read.open == []
    assert all(values.get("scope") in {"col", "row"} for tag, values in page_read.elements if tag == "th")
    levels = [int(tag[1]) for tag, _ in page_read.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    tags = [tag for tag, _ in page_read.elements]
    assert set(tags).isdisjoint({"img", "link", "iframe"})
    assert tags.count("script") == shown.count('class="catalogue"') <= 1
    assert not any(re.match("on|style|src", name) for _, values in page_read.elements for name in values)


def test_a_rate_never_stands_alone() -> None:
    """Beside the pass rate stand its interval, drawn and in numbers, n, errors and method; few cases get a warning."""
    shown = drawn(run_of(group()))
    assert "skill by contract 100.0% 56.6% to 100.0% 5 5 of 5 0 0 0 95 % wilson" in words(shown)
    assert 'aria-label="100.0%, 95.0 % interval from 56.6% to 100.0%, on a scale from 0 to 100%"' in shown
    assert '<rect class="range" x="58.6" y="3" width="43.4" height="6"/>' in shown
    assert "5 of 5 cases passed; that proves no more than 56.6%." in words(shown)
    counted = drawn(run_of(group(cases=CaseCounts(passed=5))))
    assert (counted.count("5 of 5 cases passed;"), counted.count("5 of 5 cases passed.")) == (1, 0)


def test_how_a_rate_is_made_is_said_where_there_is_one() -> None:
    """A figure in the place of the pass rate is told without it."""
    figure = Figure(name="b", label="Balanced accuracy", value=0.75, unit="ratio", is_headline=True)
    assert "The pass rate averages" in drawn(run_of(group()))
    shown = drawn(run_of(group(figures=(figure,))))
    assert "Balanced accuracy" in shown
    assert "pass rate averages" not in shown


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
    assert "proves no more" not in drawn(run_of(group(pass_rate=rate)))


def test_unknown_is_a_dash_and_never_zero() -> None:
    """A rate that nobody measured has no bar, and a format's unknown figure no number."""
    empty = RateInterval(rate=None, n=0)
    shown = drawn(run_of(group(pass_rate=empty, figures=(Figure(name="f", label="F", value=None, unit="ratio"),))))
    assert "– no interval 0 5 of 5 0 0 0 –" in words(shown)
    assert "<svg" not in shown
    assert "Trials Errors F skill by contract 5 0 –" in words(shown)


def test_tables_of_a_group_are_drawn() -> None:
    """What plugins count is drawn cell by cell; a text from outside is no markup."""
    table = Table(name="t", label="Who fired", heads=("Query of", "<b>"), rows=(("<i>", 3),))
    shown = drawn(run_of(group(tables=(table,))))
    assert "Who fired" in shown
    assert '&lt;i&gt;</bdi></th><td class="number">3</td>' in shown
    assert "<b>" not in shown
    assert "<i>" not in shown


def test_latency_figures_and_bounds_are_shown() -> None:
    """The format's own figures get a table of their own; percentiles and error bounds are there."""
    shown = words(
        drawn(
            run_of(
                group(
                    counts=Counts(total=6, passed=5, errors=1),
                    figures=(Figure(name="compositeScore", label="Composite", value=0.9972, unit="score"),),
                    latency=Latency(samples=1, p50_s=0.25, p95_s=1.26),
                    pass_bounds=(0.5, 1.0),
                )
            )
        )
    )
    assert "Figures as contract defines them (its own arithmetic over the trials; it knows no interval)" in shown
    assert "6 1 0.997" in shown
    assert "Latency over 1 trial, failures included: p50 250 ms; for more there are too few." in shown
    assert "with 1 error the rate lies between 50.0% (all failed) and 100.0% (all passed)" in shown


def tagged(name: str, *, n: int = 2) -> TagSummary:
    """A tag of `n` cases of which half passed."""
    rate = RateInterval(rate=0.5, n=n, lower=0.1, upper=0.9, method="wilson")
    return TagSummary(tag=name, counts=Counts(total=n + 1, passed=1, failed=n - 1, errors=1), pass_rate=rate)


@pytest.mark.requirement("ES-BENCH-009")
def test_results_by_tag() -> None:
    """Each tag has its rate with interval, n, errors and method; of a tag without a result the rate is unknown."""
    nothing = TagSummary(tag="net", counts=Counts(total=2, errors=2), pass_rate=RateInterval(rate=None, n=0))
    shown = words(drawn(run_of(group(tags=(tagged("math"), nothing)))))
    assert "By tag (2; a case counts under each of its tags)" in shown
    assert "Tag Pass rate Interval n (cases) Passed Failed Errors Skipped Method math 50.0%" in shown
    assert "math 50.0% 10.0% to 90.0% 2 1 of 3 1 1 0 95 % wilson" in shown
    assert "net – no interval 0 0 of 2 0 2 0 –" in shown
    assert "By tag" not in drawn(run_of(group()))


def test_many_tags_are_folded() -> None:
    """A table of tags that would push the trials out of sight is there, and folded."""
    few, many = ([tagged(f"tag {n}") for n in range(count)] for count in (SHORT_TAGS, SHORT_TAGS + 1))
    assert '<details class="trials" open>\n<summary>By tag' in drawn(run_of(group(tags=few)))
    shown = drawn(run_of(group(tags=many)))
    assert '<details class="trials">\n<summary>By tag' in shown
    assert shown.count("10.0% to 90.0%</span>") == SHORT_TAGS + 1


@pytest.mark.slow
def test_of_too_many_tags_those_of_most_cases_are_listed() -> None:
    """The page stays readable by a browser, and says what it left out."""
    tags = [tagged(f"tag {n:04}", n=9 if n == TAGS else 2) for n in range(TAGS + 1)]
    view = run_of(group(tags=tags))
    ((figures,),) = [suite.figures.groups for suite in page(view).suites]
    assert [tag.tag for tag in figures.tags] == [f"tag {n:04}" for n in range(TAGS + 1) if n != TAGS - 1]
    groups = [group(target_id=f"t{n}", tags=tags[:4]) for n in range(TAGS // 3)]
    assert "Listed are 3 of 4 tags, those of most cases; the run record holds all." in words(drawn(run_of(*groups)))


def test_a_partial_or_invalid_run_says_so_first() -> None:
    """Banners stand above the facts, with the word and not the colour alone."""
    validity = (SuiteValidity(suite_id="demo", valid=False, error_share=0.5, reason="too many errors."),)
    view = run_of(group(), validity=validity)
    assert "Partial" not in words(drawn(view))
    stopped = words(drawn(replace(view, run=view.run.model_copy(update={"state": RunState.STOPPED}))))
    assert "Partial: this run is stopped; the figures cover only what was finished, 0 of 0 trials." in stopped
    assert stopped.index("Partial:") < stopped.index("Invalid:") < stopped.index("Started")
    assert "Invalid: the results of 1 suite prove nothing; see below for the reason." in stopped
    assert "Invalid: these results prove nothing: too many errors ." in stopped


def answers(view: RunView) -> list[str]:
    """The sentences that the page of a run begins with."""
    return [words(answer) for answer in re.findall(r'<p class="answer">(.*?)</p>', drawn(view))]


def test_a_run_that_compares_nothing_begins_with_its_rate() -> None:
    """With number of cases and interval, as every rate has them; of several groups with the trials that passed."""

    def counted(*groups: GroupSummary, **changes: object) -> RunView:
        summary = Summary.model_validate({"counts": Counts(total=5, passed=5), "groups": groups, **changes})
        return replace(run_of(), summary=summary)

    one = group(counts=Counts(total=6, passed=5, errors=1))
    assert answers(counted(one)) == ["skill: pass rate 100.0% (n = 5 cases, 1 error, 95% interval 56.6% to 100.0%)"]
    assert answers(counted(group(), group(model="other"))) == ["10 of 10 passed"]
    unknown = group(pass_rate=RateInterval(rate=None, n=0), counts=Counts(total=1, errors=1))
    assert answers(counted(unknown)) == ["0 of 1 passed, 1 error"]
    assert answers(counted(group(), validity=(SuiteValidity(suite_id="demo", valid=False, error_share=0.5),))) == []
    assert [answers(example(f"without {what}")) for what in ("results", "suites")] == [[], []]
    assert len(answers(example("two arms"))) == 1
    assert "not enough data" in answers(example("two arms"))[0]


def test_run_facts_are_shown() -> None:
    """Id, start in UTC, duration, state, seed, versions, sources; what is unknown is a dash."""
    view = example("passed and failed")
    shown = words(drawn(view))
    assert f"Run {view.run.run_id} Started 2023-11-14 22:13:20 UTC Took 90.0 s State finished Trials 12 of 12" in shown
    assert "Seed 7" in shown
    assert "skillgauge-core 0 contract 1" in shown
    assert "Source of demo /contract/demo" in shown
    summary = view.summary.model_copy(update={"interrupted_attempts": 3})
    run = view.run.model_copy(update={"finished_at": None, "resumed": True})
    shown = words(drawn(replace(view, run=run, summary=summary)))
    assert "Took – State finished (resumed)" in shown
    assert "Interrupted attempts 3" in shown


def test_several_suites_get_links() -> None:
    """A page of many suites has a row for each, which leads to it; one suite needs none."""
    assert "<nav" not in drawn(example("passed and failed"))
    shown = drawn(example("hostile"))
    assert shown.count('<a href="#skill-') == len(example("hostile").head.suites)
    assert shown.count('<details class="skill" id="skill-') == len(example("hostile").head.suites)
    assert re.search("<title>.* and 8 more – skillgauge report</title>", shown)


def test_arms_of_a_comparison_are_told_apart() -> None:
    """Arm and model are part of a group's name, and the suite says what is compared."""
    shown = words(drawn(example("two arms")))
    assert "skill · with_skill · model-1 by contract-agent" in shown
    assert "with_skill is compared with without_skill ." in shown
    only_arm = words(
        drawn(run_of(group(target_id=None, arm="with_skill", model="m"), group(target_id=None, model="m")))
    )
    assert "with_skill · m by contract" in only_arm
    assert "Method m by contract" not in only_arm


def test_a_trial_shows_why_and_what_it_gave_out() -> None:
    """Verdict as sign and word, failure, blame, attempts, usage, checks and outputs."""
    execution = Execution(
        output={"sum": 5},
        text="five",
        stdout="five",
        stderr="a\r\nb\x1b",
        exit_code=3,
        truncated=True,
        duration_s=0.3,
        usage=Usage(input_tokens=1200, output_tokens=0, cost_usd=0.5, cost_basis="reported"),
        sandbox="local/none",
        files=tuple(FileChange(path=f"f{n}", change="created") for n in range(LISTED + 2)),
        notes=("noise was skipped",),
    )
    scores = (
        Score.failed("expected 4", value=0.25).model_copy(update={"check_id": "sum", "scorer": "exact"}),
        Score.ungraded(""),
    )
    failure = Failure.of_agent(FailureClass.RATE_LIMITED, "HTTP 429", retry_after_s=7.5)
    slow = GivenUp(failure=failure, usage=Usage(output_tokens=9), wait_s=7.5)
    one = result(verdict=Verdict.FAIL, value=0.25, scores=scores, execution=execution, attempts=2, given_up=(slow,))
    shown = drawn(run_of(group(), results=[one, failing()]))
    said = words(shown)
    assert "case-0 1 ✗ Fail 0.25 300 ms sum: expected 4; check ungraded Details" in said
    assert "failed sum ( exact ) , value 0.25: expected 4 ungraded" in said
    assert f"Files the first {LISTED} of {LISTED + 2} are listed Attempts 2" in said
    assert "Attempts 2 Attempt given up rate_limited: HTTP 429; made again after 7.5 s; 9 output tokens Exit" in said
    assert "Exit code 3 Usage 1,200 input tokens, 0 output tokens, 0.5000 USD (reported)" in said
    assert f"f{LISTED - 1} ( created )" in said
    assert "Note noise was skipped" in said
    assert "Answer five Standard error (cut at its limit when it was read)" in said
    assert "Standard output" not in said
    assert 'aria-label="Standard error">\na\nb\N{REPLACEMENT CHARACTER}</pre>' in shown
    assert "timeout: no answer" in said
    assert "Failure timeout, blamed on target" in said


def test_a_trial_of_which_nothing_is_known_has_nothing_to_unfold() -> None:
    """No empty box."""
    shown = drawn(run_of(group(), results=[result()]))
    assert "case-0 1 ✓ Pass 1.00 –" in words(shown)
    assert "Details" not in shown
    assert transcript(result(execution=Execution(usage=Usage(), stdout=" \n"))).is_empty
    assert dict(transcript(result(execution=Execution(usage=Usage(cost_usd=1.0)))).facts) == {"Usage": "1.0000 USD"}


def in_arms(*verdicts: tuple[int, str, str], **changes: object) -> RunView:
    """The comparison of two arms with these trials: a case's place, arm, and a letter for each repeat's verdict."""
    kinds = {"p": Verdict.PASS, "f": Verdict.FAIL, "e": Verdict.ERROR}
    view = example("two arms")
    one = next(view.results()).model_copy(update={"scores": (), **changes})
    results = [
        one.model_copy(
            update={
                "case_id": str(case),
                "case_index": case,
                "arm": arm,
                "repeat": repeat,
                "verdict": kinds[letter],
                "scores": () if letter == "p" else (Score.failed(f"{arm} is wrong"),),
            }
        )
        for case, arm, letters in verdicts
        for repeat, letter in enumerate(letters, 1)
    ]
    cases = [
        CaseHead(suite_id="demo", index=case, id=str(case), name=f"name-{case}", prompt=f"Ask {case}.")
        for case in {place for place, _, _ in verdicts}
    ]
    return replace(view, source=Kept(lambda: results, cases))


SESSION = Execution(
    text="It is done.",
    trajectory=Trajectory(
        events=(
            TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Bash", data={"command": "make note"}),
            TrajectoryEvent(kind=EventKind.TOOL_RESULT, name="Bash", text="no such target", is_error=True),
        )
    ),
    files=(FileChange(path="a.note", change="created"),),
)


def test_cases_stand_arm_beside_arm_those_that_did_not_pass_first() -> None:
    """Named cases, repeats passed of graded in each arm, difference, outcome and the candidate's reason."""
    view = in_arms(
        (0, "with_skill", "pp"),
        (0, "without_skill", "ff"),
        (1, "with_skill", "pf"),
        (1, "without_skill", "fe"),
        (2, "with_skill", "ff"),
        (2, "without_skill", "pp"),
        (3, "with_skill", "ee"),
        (3, "without_skill", "pp"),
    )
    shown = words(drawn(view))
    heads = "Case with_skill without_skill Difference Outcome"
    lost = "name-2 2 ✗ 0 of 2 ✓ 2 of 2 -100.0 points lost with_skill: with_skill is wrong Transcripts"
    unsteady = "name-1 1 ✗ 1 of 2 ✗ 0 of 1, 1 error +50.0 points both fail with_skill: with_skill is wrong Transcripts"
    errors = "name-3 3 ! 2 errors ✓ 2 of 2 – error with_skill: with_skill is wrong Transcripts"
    rescued = "name-0 0 ✓ 2 of 2 ✗ 0 of 2 +100.0 points rescued without_skill: without_skill is wrong Transcripts"
    places = [shown.index(told) for told in (heads, lost, unsteady, errors, rescued)]
    assert places == sorted(places)
    assert places[-1] < shown.index("Pass rate Target")


def test_a_case_opens_its_transcripts_side_by_side() -> None:
    """The prompt once, then the trials of a repeat in one row: checks, answer, files, and the steps by number."""
    shown = drawn(in_arms((0, "with_skill", "pp"), (0, "without_skill", "ff"), execution=SESSION))
    rows = shown.split('<div class="sides">')[1:]
    assert [row.count('<section class="side ') for row in rows] == [2, 2]
    assert shown.count("Ask 0.</pre>") == 1
    said = words(rows[0])
    assert "with_skill ✓ Pass run 1" in said
    assert (
        "without_skill ✗ Fail run 1 failed : without_skill is wrong Answer It is done. Files a.note ( created" in said
    )
    assert "Session (2 steps) 1 Tool call Bash make note 2 Result Bash error no such target" in said
    assert shown.count("make note") == 4


def test_a_repeat_that_ended_like_an_earlier_one_is_folded() -> None:
    """Of five runs only those are open that tell something new; each says in its line how it ended."""
    shown = drawn(in_arms((0, "with_skill", "ppfpf"), (0, "without_skill", "fffff"), execution=SESSION))
    repeats = re.findall(r'<details class="repeat"( open)?>\n<summary>(.*?)</summary>', shown)
    assert [bool(opened) for opened, _ in repeats] == [True, False, True, False, False]
    assert words(repeats[1][1]) == "Run 2 (ended like run 1) : with_skill ✓ Pass, without_skill ✗ Fail"
    assert words(repeats[4][1]) == "Run 5 (ended like run 3) : with_skill ✗ Fail, without_skill ✗ Fail"


def test_what_a_case_cost_stands_in_its_row() -> None:
    """The known costs of all its sessions are added; a page of sessions of unknown cost has no such column."""
    paid = SESSION.model_copy(update={"usage": Usage(cost_usd=0.25)})
    shown = words(drawn(in_arms((0, "with_skill", "pp"), (0, "without_skill", "ff"), execution=paid)))
    assert "Case with_skill without_skill Difference Outcome Cost" in shown
    assert "rescued 1.00 USD without_skill: without_skill is wrong" in shown
    free = words(drawn(in_arms((0, "with_skill", "p"), execution=SESSION)))
    assert "Outcome Cost" not in free


def test_what_an_agent_changed_in_files() -> None:
    """The difference of a text is folded, its lines told apart; of what has none the reason stands beside its name."""
    files = (
        FileChange(path="a<b>.txt", change="modified", was="one\n<old>\n", text="one\n<new>\n"),
        FileChange(path="c.bin", change="created", left_out="binary"),
    )
    shown = drawn(in_arms((0, "with_skill", "p"), execution=SESSION.model_copy(update={"files": files})))
    assert '<span class="old">-&lt;old&gt;</span>\n<span class="new">+&lt;new&gt;</span>' in shown
    assert '<span class="same"> one</span>' in shown
    assert "c.bin ( created , binary)" in words(shown)
    assert "<old>" not in shown


def test_what_has_no_name_is_told_by_more_than_a_number() -> None:
    """A case without a name shows its prompt, and of suites of one name each shows its id."""
    view = in_arms((0, "with_skill", "p"))
    cases = [case.model_copy(update={"name": ""}) for case in view.cases()]
    nameless = replace(view, source=Kept(lambda: list(view.results()), cases))
    assert "0 Ask 0. ✓ 1 of 1" in words(drawn(nameless))
    suite = view.head.suites[0]
    twins = view.head.model_copy(update={"suites": (suite, suite.model_copy(update={"id": "twin"}))})
    shown = words(drawn(replace(view, head=twins)))
    assert " demo twin " in shown
    assert "demo 1.2.3 Suite demo" in shown
    assert "twin 1.2.3 Suite twin" in shown


def test_an_arm_that_was_not_run_is_a_dash() -> None:
    """A run without a baseline, or one that was stopped, still has its cases."""
    assert "name-0 0 ✓ 1 of 1 – – not compared" in words(drawn(in_arms((0, "with_skill", "p"))))


def test_transcripts_have_a_limit_and_the_way_to_them_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page stays readable by a browser: what there is no room for is told with the command that prints it."""
    monkeypatch.setattr(content, "ROOM", 2 * (40 + transcript(result(execution=SESSION)).size))
    view = in_arms((0, "with_skill", "p"), (1, "with_skill", "f"), (2, "with_skill", "p"), execution=SESSION)
    shown = drawn(view)
    assert shown.count('<section class="side ') == 1
    assert shown.index("name-1") < shown.index('<section class="side ') < shown.index("name-0")
    command = f"skillgauge report show {view.run.run_id} --case 0"
    assert command in words(shown)
    assert ROOM < 10_000_000


@pytest.mark.slow
def test_of_too_many_cases_the_cut_is_said() -> None:
    """Those that did not pass come before the others."""
    view = in_arms(*((n, "with_skill", "f" if n == 3 else "p") for n in range(4)))
    groups = (*view.summary.groups, *(group(target_id=f"t{n}") for n in range(ROWS // 2)))
    shown = words(drawn(replace(view, summary=view.summary.model_copy(update={"groups": groups}))))
    assert "name-3 3 ✗" in shown
    assert "name-0 0 ✓" not in shown
    assert "Listed are 1 of 4 cases, those that did not pass before the others" in shown


def test_direct_calls_have_no_table_of_arms() -> None:
    """Where nothing is compared, the trials stand as they did."""
    assert "Outcome" not in words(drawn(example("passed and failed")))


def test_recordings_and_scripts_say_so_first() -> None:
    """Nobody takes a replay, or an engine that asks no model, for a session of today."""
    view = in_arms((0, "with_skill", "pp"), execution=SESSION.model_copy(update={"replayed": True}))
    assert "Replayed : all trials are recordings, graded now; times and costs are those of the" in words(drawn(view))
    results = list(view.results())
    results[0] = results[0].model_copy(update={"execution": SESSION})
    half = words(drawn(replace(view, source=Kept(lambda: results))))
    assert "Replayed : 1 of 2 trials are recordings" in half
    assert half.index("Replayed :") < half.index("Case with_skill")
    scripted = SESSION.model_copy(update={"notes": ("a script was played",)})
    assert "Engine contract-agent : a script was played" in words(
        drawn(in_arms((0, "with_skill", "pp"), execution=scripted))
    )
    noted = words(
        drawn(replace(view, source=Kept(lambda: [results[0].model_copy(update={"execution": scripted}), *results])))
    )
    assert "Engine contract-agent" not in noted


def test_the_title_names_what_was_evaluated() -> None:
    """A browser's tab, and the first line, say which skill the page is about."""
    shown = drawn(example("two arms"))
    assert "<title>skill – skillgauge report</title>" in shown
    assert words(shown).startswith("skill – skillgauge report skill skillgauge report skill · with_skill")
    assert "<title>skill and 1 more – skillgauge report</title>" in drawn(example("passed and failed"))
    assert "<title>Empty run – skillgauge report</title>" in drawn(example("without suites"))


def test_the_results_are_read_once() -> None:
    """However much the page tells of them."""
    passes = []

    class Counting(Kept):
        def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
            passes.append(order)
            return super().results(order, group)

    view = example("two arms")
    drawn(replace(view, source=Counting(lambda: list(view.results()), list(view.cases()))))
    assert len(passes) == 1


def test_many_checks_are_cut_and_said() -> None:
    """A trial with hundreds of checks lists the first."""
    one = row(result(scores=(Score.passed("fine"),) * (LISTED + 1)), "case").transcript
    assert one is not None
    assert len(one.checks) == LISTED
    assert ("Checks", f"the first {LISTED} of {LISTED + 1} are listed") in one.facts


def test_reasons_of_a_trial() -> None:
    """A failure speaks for the trial; else the checks that did not hold."""
    scores = (Score.passed("fine"), Score.failed("wrong"), Score.failed("").model_copy(update={"check_id": "k"}))
    assert reason_of(result(verdict=Verdict.FAIL, scores=scores)) == "wrong; check k failed"
    assert reason_of(failing()) == "timeout: no answer"


def test_a_long_list_is_split_and_the_passed_part_folded() -> None:
    """Failures are in sight without scrolling past what passed."""
    results = [result(case_index=n) for n in range(SHORT)] + [failing()]
    ((section,),) = [suite.sections for suite in page(run_of(group(), results=results)).suites]
    assert [(table.title, len(table.rows), table.is_open) for table in section.tables] == [
        ("Trials that did not pass", 1, True),
        ("Trials that passed", SHORT, False),
    ]


def test_of_a_huge_run_failures_are_listed_first_and_the_cut_is_said() -> None:
    """The page stays readable by a browser, and nobody takes the part for the whole."""
    results = [result(case_index=n) for n in range(ROWS + 10)] + [failing()]
    view = run_of(group(), results=results)
    ((section,),) = [suite.sections for suite in page(view).suites]
    assert (section.listed, section.total) == (ROWS, ROWS + 11)
    assert [len(table.rows) for table in section.tables] == [1, ROWS - 1]
    only_failures = page(run_of(group(), results=[failing()] * (ROWS + 1))).suites[0].sections[0]
    assert [len(table.rows) for table in only_failures.tables] == [ROWS]


@pytest.mark.slow
def test_the_cut_of_a_list_is_said_on_the_page() -> None:
    """With many groups each lists few trials, and says how many there are."""
    groups = [group(target_id=f"t{n}") for n in range(ROWS)]
    results = [result(target_id="t0", case_index=n) for n in range(3)]
    view = run_of(*groups, results=results)
    assert page(view).suites[0].sections[0].listed == 1
    shown = words(drawn(run_of(*groups[: ROWS // 2], results=results)))
    assert "Listed are 2 of 3 trials, those that did not pass before the others" in shown


def test_results_without_a_summary_are_shown() -> None:
    """A run that was cut off before it was summarized still shows its trials."""
    shown = words(drawn(run_of(results=[failing()])))
    assert "✗ Fail" in shown
    assert "Pass rate" not in shown
    assert "No trial has a result." in words(drawn(run_of()))
    assert "No trial has a result." in words(drawn(run_of(group())))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_from_outside_is_text(value: str) -> None:
    """No markup, no second line, no character that hides or turns the others."""
    shown = str(text(value))
    inside = shown.removeprefix("<bdi>").partition("</bdi>")[0]
    assert not re.search("[<>\"'\n\r\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]", inside)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", excerpt("x", value).text)


def test_long_texts_are_cut_and_the_cut_is_said() -> None:
    """Ids by their length, outputs in the middle, because ends of outputs tell most."""
    assert str(text("x" * 10_000)) == f'<bdi>{"x" * 199}…</bdi> <span class="cut">(10,000 characters)</span>'
    assert str(text("x" * 200)) == f"<bdi>{'x' * 200}</bdi>"
    assert plain("a\nb" * 50, 5) == "a ba…"
    cut = excerpt("Output", "a" * CHARACTERS + "z" * CHARACTERS, stream_was_cut=True)
    assert cut.text == f"{'a' * 1000}\n[… 2,000 characters left out …]\n{'z' * 1000}"
    assert cut.note == "cut at its limit when it was read; 2,000 of 4,000 characters left out in the middle"


def test_towers_of_accents_stay_in_their_line() -> None:
    """Accents beyond those that writing needs are dropped."""
    assert plain("Z" + "\u0301" * 500) == "Z" + "\u0301" * 4
    assert excerpt("x", "Z" + "\u0301" * 500).text == "Z" + "\u0301" * 4
    assert plain("می\u200cخواهم") == "می\u200cخواهم"


def test_html_is_not_read_back(tmp_path: Path) -> None:
    """The reader says that it is not one of its documents, whatever it is given."""
    assert HtmlReporter().read(tmp_path / "x.html") is None


@pytest.mark.slow
def test_the_template_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """R3-V4: of very many skills each has a page, and a page is drawn without compiling the template again."""
    made: list[object] = []
    compile_once = Environment.compile

    def counted_compile(self: Environment, *args: Any, **more: Any) -> Any:
        made.append(args[0])
        return compile_once(self, *args, **more)

    monkeypatch.setattr(Environment, "compile", counted_compile)
    view = next(view for name, view in contract_views() if name == "a run with 1,000 results")
    pages = {b"".join(artifact.chunks) for _ in range(5) for artifact in HtmlReporter().render(view)}
    assert len(pages) == 1
    assert len(made) == len(set(made)), "each template once"
