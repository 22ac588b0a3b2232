"""`eval --runs until-decided`: what is said before, when it stops, why, and that nothing else changes what it does."""

from __future__ import annotations

import json

import pytest

from .conftest import Letters, Scripted, letters

pytestmark = pytest.mark.e2e

UNTIL = ("--runs", "until-decided")


def cases(count: int, letter: str) -> Letters:
    """The same for so many cases."""
    return {str(number): letter for number in range(1, count + 1)}


@pytest.fixture
def ten(scripted: Scripted) -> Scripted:
    """The skill with ten evals."""
    scripted.write(cases=10)
    return scripted


@pytest.mark.slow
def test_a_clear_answer_ends_the_run(ten: Scripted) -> None:
    """After the first round; the sentence says that, at what price, and that the chance holds whenever one looks."""
    done = ten.evaluate(cases(10, "p"), cases(10, "f"), *UNTIL)
    assert "s · with_skill helps: +100.0 points against without_skill (n = 10 cases; these cases: " in done.verdict
    assert "p = 0.008 at any look" in done.verdict
    assert "; decided after 20 of at most 120 sessions" in done.verdict
    assert len(ten.sessions()) == 20


@pytest.mark.slow
def test_what_the_rest_could_hardly_decide_is_not_run(ten: Scripted) -> None:
    """No difference in two rounds: the other four would hardly show one."""
    done = ten.evaluate(cases(10, "pf"), cases(10, "pf"), *UNTIL)
    assert "s · with_skill: not enough data: +0.0 points" in done.verdict
    assert "stopped after 40 of at most 120 sessions, since the others would hardly decide it" in done.verdict
    assert "four times out of five" not in done.verdict
    assert len(ten.sessions()) == 40


@pytest.mark.slow
def test_every_surface_tells_how_far_it_went(ten: Scripted) -> None:
    """Terminal, Markdown, page, and `report show` of the run in the store."""
    done = ten.evaluate(cases(10, "p"), cases(10, "f"), *UNTIL, "--format", "markdown", "html", "--output-dir", "out")
    sentence = "decided after 20 of at most 120 sessions"
    shown = ten.program("report", "show", "latest").stdout
    page = (ten.work / "out/eval-result.html").read_text()
    table = (ten.work / "out/eval-result.md").read_text()
    assert all(sentence in text for text in (done.verdict, shown, page, table))
    assert "20 of at most 120 trials, runs: at most 6" in shown
    assert "20 of at most 120 trials, runs: at most 6" in table
    assert "<dd>20 of at most 120</dd>" in page
    assert "p = 0.008 at any look" in table


def test_the_plan_says_the_most(ten: Scripted) -> None:
    """Before anything is paid, for people and for programs."""
    ten.script(cases(10, "p"), cases(10, "f"))
    plan = ten.run("eval", "s", "--engine", "scripted", *UNTIL, "--dry-run").stdout
    assert "at most 120 trials in sandbox" in plan
    assert "s: 10 cases, run until decided, at most 6 times in each arm, can detect a lift of 47 points or more" in plan
    document = json.loads(ten.run("eval", "s", "--engine", "scripted", *UNTIL, "--dry-run", "--json").stdout)
    (comparison,) = document["comparisons"]
    assert (comparison["runs"], comparison["until_decided"]) == (6, True)
    more = ten.run("eval", "s", "--engine", "scripted", "--runs", "until-decided:30", "--dry-run").stdout
    assert "at most 300 trials" in more
    assert ten.sessions() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*UNTIL, "--no-baseline"), "--runs until-decided needs two arms to compare, and nothing here is run in two"),
        ((*UNTIL, "--case", "1"), "--runs until-decided: suite 's' has one case, which tells nothing of a skill"),
        (("--runs", "until-decided:2"), "suite 's' has too few cases to show a lift of 2 points"),
        (("--runs", "until-decided:0"), "runs cannot be 'until-decided:0'. Give a number from 1 to 100000, or auto"),
        (("--runs", "until-bored"), "runs cannot be 'until-bored'"),
        (("--runs", "three"), "runs cannot be 'three'. Give a number from 1 to 100000"),
    ],
)
def test_what_cannot_be_decided_is_refused(scripted: Scripted, arguments: tuple[str, ...], message: str) -> None:
    """Before any session, with what to do instead."""
    done = scripted.evaluate(letters("p"), letters("f"), *arguments, code=2)
    assert message in done.stderr
    assert "next: " in done.stderr
    assert scripted.sessions() == []


@pytest.mark.slow
def test_a_budget_needs_an_engine_that_tells_its_cost(ten: Scripted) -> None:
    """And holds where it does."""
    done = ten.evaluate(cases(10, "pf"), cases(10, "fp"), *UNTIL, "--max-cost", "6", "-j", "1", code=4)
    assert "stopped by a budget: 12 of 120 trials are done" in done.verdict
    engine = ("--engine", "command", "--set", 'engines.command.argv=["cat"]')
    refused = ten.program("eval", "s", *engine, *UNTIL, "--max-cost", "6")
    assert refused.code == 2
    assert "does not report what it costs, so --max-cost cannot be enforced" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("executor", [(), ("--executor", "processes")])
def test_whoever_executes_runs_the_same(ten: Scripted, executor: tuple[str, ...]) -> None:
    """The choice of the next trials waits for the results, wherever they come from."""
    with_skill = cases(10, "ppf") | {"1": "f", "2": "pff"}
    done = ten.evaluate(with_skill, cases(10, "pff"), "--runs", "until-decided:30", "-j", "4", *executor)
    assert "decided after 96 of at most 300 sessions" in done.verdict
    assert len(ten.sessions()) == 96


@pytest.mark.slow
def test_an_interrupted_run_goes_on(ten: Scripted) -> None:
    """By the same command, with the sessions that are missing and no other."""
    arms = cases(10, "ppf"), cases(10, "pff")
    whole = ten.evaluate(*arms, "--runs", "until-decided:30", "-j", "1", "--store", "whole.db")
    all_sessions = ten.sessions()
    half = ten.evaluate(*arms, "--runs", "until-decided:30", "-j", "1", "--max-cost", "15", code=4)
    assert "stopped by a budget: 30 of 300" in half.verdict
    rest = ten.run(
        *("eval", "s", "--engine", "scripted", "--format", "record"),
        *("--runs", "until-decided:30", "-j", "1", "--max-cost", "500"),
    )
    assert ten.sessions() == all_sessions
    assert rest.verdict == whole.verdict


@pytest.mark.slow
def test_a_recording_is_replayed(ten: Scripted) -> None:
    """With another concurrency, and neither more nor fewer sessions than were recorded."""
    arms = cases(10, "ppf"), cases(10, "pff")
    live = ten.evaluate(*arms, "--runs", "until-decided:30", "-j", "4", "--record", "tapes")
    replayed = ten.run("eval", "s", "--replay", "tapes", "--runs", "until-decided:30", "-j", "1", "--store", "none")
    assert replayed.verdict.split(";")[0] == live.verdict.split(";")[0]
    assert "sessions" in replayed.verdict
    assert live.verdict.split("after ")[1].split(" sessions")[0] in replayed.verdict


@pytest.mark.slow
def test_a_run_is_gone_on_with(ten: Scripted) -> None:
    """`--confirm` adds rounds to one that was given up; its evidence goes on, and no look costs anything."""
    ten.evaluate(cases(10, "pf"), cases(10, "pf"), *UNTIL)
    ten.script(cases(10, "pfppp"), cases(10, "pffff"))
    more = ten.run("eval", "--confirm", "latest", "--format", "record")
    assert "10 cases run up to 6 more times, until decided; old and new results count together" in more.stderr
    assert "s · with_skill helps" in more.verdict
    assert "decided after 60 of at most 160 sessions" in more.verdict
    assert "look 2" not in more.verdict
    again = ten.run("eval", "--confirm", "latest~1", "--format", "record", code=2)
    assert "was continued already" in again.stderr
