"""Figures that once misled, as a user meets them: on the terminal, in every report, and in the exit code."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from skillgauge_testkit.program import Done, Program

from .conftest import MakeSkill, Scripted, letters, task

pytestmark = pytest.mark.e2e

Tasks = Callable[..., Path]
WORDS = {"text": "names all", "type": "contains", "value": ["one", "two", "three", "four"]}
CRASHES_TWICE = """import json, pathlib, sys
request = json.loads(sys.stdin.read())
seen = pathlib.Path({folder!r}) / request["params"]["say"]
calls = seen.read_text() + "x" if seen.exists() else "x"
seen.write_text(calls)
if len(calls) < 3:
    sys.exit(9)
print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": request["params"]["say"]}}))
"""


def surfaces(work: Path, done: Done) -> dict[str, str]:
    """What a run told in words, surface by surface, without markup."""
    reports = {path.suffix[1:]: path.read_text() for path in (work / "reports").glob("eval-result.*")}
    told = {"terminal": done.stdout + done.stderr, "md": reports["md"].replace("\\", ""), "csv": reports["csv"]}
    told["html"] = unescape(re.sub("<[^>]*>", "", reports["html"]))
    return {name: " ".join(text.split()) for name, text in told.items()}


def rows(work: Path) -> list[dict[str, str]]:
    """The table for spreadsheets, by its heads."""
    return list(csv.DictReader((work / "reports/eval-result.csv").read_text().splitlines()))


@pytest.mark.slow
def test_arms_over_different_cases_are_no_lift(scripted: Scripted) -> None:
    """N-A8: the hard case errs where the skill is; 100 % beside 75 % is told to be no difference at all."""
    done = scripted.evaluate(
        letters("p", case_4="e"), letters("p", case_4="f"), "--runs", "3", "--format", "markdown", "html", "csv"
    )
    assert "pass rate 100.0%" in done.stdout
    assert "pass rate 75.0%" in done.stdout
    told = surfaces(scripted.work, done)
    for name in ("terminal", "md", "html"):
        assert "+0.0 points against without_skill (n = 3 cases, dropped: 1 for candidate error" in told[name], name
    candidate, baseline = rows(scripted.work)
    assert (candidate["lift"], candidate["liftCases"], candidate["liftDropped"]) == ("0.0000", "3", "1")
    assert (candidate["cases"], baseline["cases"]) == ("3", "4")


@pytest.mark.slow
def test_retries_that_make_a_skill_pass_are_told_everywhere(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks
) -> None:
    """N-A10: a skill that crashes twice before it answers passes all, and every summary says after how much."""
    skill = make_skill(CRASHES_TWICE.format(folder=str(work)))
    file = tasks(task("a", "a"), task("b", "b"))
    command = ("eval", "--skills", skill, "--tasks", file, "--retries", "2")
    done = program(*command, "--format", "json", "markdown", "html", "csv", "record")
    assert done.code == 0, done.stderr
    assert "pass rate 100.0%" in done.stdout
    for name, text in surfaces(work, done).items():
        assert "2 of 2 passed only after further attempts" in text, name
    (document,) = json.loads((work / "reports/eval-result.json").read_text())
    assert document["evaluatorMetadata"]["skillgauge"]["counts"]["retried"] == 2
    again = program(*command)
    assert "after further attempts" not in again.stdout, "it has answered at once"


def test_partial_credit_is_no_expectation_that_holds(program: Program, work: Path) -> None:
    """E-A1, E-A2, D-3: half of the words are none of the expectation, and an error is none of those counted."""
    skill = work / "tables"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: tables\ndescription: Tables.\n---\n")
    prompts = ("one two", "one two three four", "break", "one two three four five")
    evals = [{"id": number, "prompt": prompt, "assertions": [WORDS]} for number, prompt in enumerate(prompts, 1)]
    (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "tables", "evals": evals}))
    (work / "mock.json").write_text(json.dumps({"replies": [{"match": "break", "fail": "auth"}]}))
    command = ("eval", skill, "--engine", "mock", "--set", "engines.mock.script=mock.json", "--no-baseline")
    done = program(*command, "--retries", "0", "--format", "json", "markdown")
    assert done.code == 0, done.stderr
    document = json.loads((work / "reports/eval-result.json").read_text())
    assert document["run_summary"]["with_skill"]["pass_rate"]["mean"] == pytest.approx(2 / 3, abs=1e-4)
    assert "Expectations met: 66.7% (n = 3)" in done.stdout
    assert "66.7% (n = 3)" in (work / "reports/eval-result.md").read_text()


Fire = Callable[[list[dict[str, object]], int], Done]


@pytest.fixture
def fire(program: Program, work: Path) -> Fire:
    """Evaluates a skill by ten queries, two of which should fire, with an agent that replies like this."""
    skill = work / "mute"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: mute\ndescription: Says nothing.\n---\n")
    queries = [{"query": f"Do it {number}.", "should_trigger": number < 2} for number in range(10)]
    (skill / "evals/trigger-eval.json").write_text(json.dumps(queries))

    def evaluate(replies: list[dict[str, object]], code: int) -> Done:
        (work / "mock.json").write_text(json.dumps({"replies": replies}))
        options = ("--engine", "mock", "--set", "engines.mock.script=mock.json", "--runs", "3")
        done = program("eval", skill, *options, "--exit-on-fail")
        assert done.code == code, done.stdout + done.stderr
        return done

    return evaluate


MUTE: dict[str, object] = {"fires": [], "text": "no"}
FIRES: dict[str, object] = {"match": "it [01]", "fires": ["mute"], "text": "yes"}


def test_a_skill_that_never_fires_misses_its_gate(fire: Fire) -> None:
    """N-A5: of ten queries eight want silence, and a skill that is never loaded is silent in all of them."""
    done = fire([MUTE], 1)
    assert "balanced accuracy 50.0%" in done.stdout
    assert "the skill never fired" in done.stdout
    assert done.verdict.startswith("gate missed: balanced accuracy below 70.0%: mute · with_skill 50.0%")


@pytest.mark.slow
def test_a_skill_that_fell_silent_lost_half_of_its_accuracy(fire: Fire, program: Program) -> None:
    """N-A5: trend and comparison are not of the rate over all queries, which is still 80 %."""
    fire([FIRES, MUTE], 0)
    fire([MUTE], 1)
    trend = program("history", "trend", "mute")
    _, heads, before, after, *_ = trend.stdout.splitlines()
    assert "Balanced accuracy" in heads
    assert ("100.0%" in before, "50.0%" in after, "-50.0" in after) == (True, True, True)
    assert "80.0%" not in trend.stdout
    compared = program("report", "diff", "latest~1", "latest")
    assert "| Balanced accuracy | 100.0% | 50.0% | **-50.0 points** ↓ worse |" in compared.stdout
    assert "Completion rate" not in compared.stdout


@pytest.mark.slow
def test_the_history_says_what_the_skill_was_worth(scripted: Scripted) -> None:
    """N-A7: a run that is looked at later gives the same answer, and so does the trend."""
    scripted.evaluate(letters("p"), letters("f"), "--runs", "3")
    scripted.evaluate(letters("p"), letters("p"), "--runs", "3")
    lift = "+100.0 points against without_skill (n = 4 cases; these cases: 95% interval +66.6 to +100.0, p < 0.001)"
    sentence = f"s · with_skill helps on these cases: {lift}"
    for command in ("history", "report"):
        assert sentence in scripted.program(command, "show", "latest~1").stdout
    trend = scripted.program("history", "trend", "s")
    assert "+100.0 helps (+66.6 to +100.0; n = 4)" in trend.stdout
    assert "+0.0 undecided (" in trend.stdout
    candidate, baseline = scripted.program("history", "trend", "s", "--json").document["series"]
    told = [[(one["baseline"], one["lift"], one["finding"]) for one in point["lifts"]] for point in candidate["points"]]
    assert told == [[("without_skill", 1.0, "helps")], [("without_skill", 0.0, "undecided")]]
    assert [point["lifts"] for point in baseline["points"]] == [[], []]


@pytest.mark.slow
def test_a_change_of_the_skill_is_no_change_of_its_suite(scripted: Scripted) -> None:
    """N-A11: the trend tells a skill that was edited from cases that ask something else."""
    scripted.evaluate(letters("p"), letters("f"))
    scripted.write(says="GOOD things")
    scripted.evaluate(letters("f"), letters("f"))
    evals = scripted.work / "s/evals/evals.json"
    evals.write_text(evals.read_text().replace("number 2", "another 2"))
    scripted.evaluate(letters("p"), letters("f"))
    candidate, _ = scripted.program("history", "trend", "s", "--json").document["series"]
    assert [point["changes"] for point in candidate["points"]] == [[], ["files"], ["suite"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("second", "options", "state"),
    [
        (letters("p"), ("--max-cost", "2", "--concurrency", "1"), "is stopped"),
        (letters("p", case_1="e", case_2="e"), (), "is invalid"),
    ],
    ids=["stopped", "invalid"],
)
def test_the_document_of_a_run_that_proves_nothing_is_refused(
    scripted: Scripted, second: dict[str, str], options: tuple[str, ...], state: str
) -> None:
    """N-A4: its own JSON document makes no clean run of it, neither shown nor compared."""
    scripted.evaluate(letters("p"), letters("f"), "--format", "json", "--output-dir", "before")
    scripted.evaluate(
        second, letters("f"), "--format", "json", "--output-dir", "after", *options, code=4 if options else 3
    )
    before, after = (scripted.work / folder / "eval-result.json" for folder in ("before", "after"))
    compared = scripted.program("report", "diff", before, after, "--fail-on-regression")
    assert compared.code == 3
    assert state in compared.verdict
    shown = scripted.program("report", "show", after)
    assert ("stopped" if options else "Invalid: s: ") in shown.stdout
