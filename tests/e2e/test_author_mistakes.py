"""Mistakes of somebody who writes the evals of a skill, each told before anything runs: F-K4, F-K8, F-K13."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from skillgauge_testkit.program import Program

EVALS = {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": [{"type": "icontains", "value": "p"}]}]}
ARGV = 'engines.command.argv=["/bin/echo", "{prompt}"]'
ECHO = ("--engine", "command", "--set", ARGV, "--set", "engines.command.skill_folder=.skills")


@pytest.fixture
def evals(work: Path) -> Path:
    """The evals of a skill that is complete."""
    (work / "s/evals").mkdir(parents=True)
    (work / "s/SKILL.md").write_text("---\nname: s\ndescription: Repeats. Use it whenever.\n---\n# How\nRepeat.\n")
    file = work / "s/evals/evals.json"
    file.write_text(json.dumps(EVALS))
    return file


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('{"skill_name": "s",\n "evals": [{"id": 1, "prompt": }]}', 2, 32, "expecting value"),
        ('{"skill_name": "s"\n "evals": []}', 2, 2, "expecting ',' delimiter"),
        ('{"skill_name": "s",\n "evals": [\n', 3, 1, "expecting value"),
    ],
)
@pytest.mark.parametrize("command", [("validate", "s"), ("eval", "s", *ECHO)], ids=["validate", "eval"])
def test_json_that_is_none_has_its_place(
    program: Program, work: Path, evals: Path, command: tuple[str, ...], text: str, line: int, column: int, message: str
) -> None:
    """F-K4: line and column of where the reader stumbled, in words, on every command that reads it."""
    evals.write_text(text)
    done = program(*command, "--json")
    assert done.code == 2
    (problem,) = done.document["problems"]
    assert (problem["code"], problem["file"]) == ("document.syntax", str(evals))
    assert (problem["line"], problem["column"], problem["message"]) == (line, column, message)
    assert f"{evals}:{line}:{column}: error[document.syntax]: {message}" in program(*command).stderr
    assert not (work / "reports").exists()


@pytest.mark.e2e
def test_json_that_is_none_has_a_next_step(program: Program, evals: Path) -> None:
    """F-K4: what to write there."""
    evals.write_text('{"skill_name": "s",\n "evals": [{"id": 1, "prompt": }]}')
    assert "  next: Write a value: a text in double quotes, a number" in program("validate", "s").stderr


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("check", "told"),
    [
        ("exct", "--check exct: error[plugin.not-installed]: scorer 'exct' is not installed (did you mean exact?)"),
        ('exact={"value": }', "no JSON after '=': expecting value, at its character 11\n  next: Write a value: a text"),
        ('exact={"valu": "p"}', "--check exact: error[plugin.options]: scorers.exact.valu: unknown option"),
    ],
)
def test_a_misspelt_check_is_blamed_on_the_option(program: Program, evals: Path, check: str, told: str) -> None:
    """F-A1: nothing is wrong with the evals that the check was to be added to."""
    done = program("eval", "s", *ECHO, "--check", check)
    assert done.code == 2
    assert told in done.stderr
    assert str(evals) not in done.stderr


@pytest.mark.e2e
@pytest.mark.parametrize("command", [("validate", "s"), ("eval", "s", *ECHO)], ids=["validate", "eval"])
def test_a_skill_without_evals_was_seen(program: Program, evals: Path, command: tuple[str, ...]) -> None:
    """F-K8: its SKILL.md is named, and how to come to evals."""
    evals.unlink()
    evals.parent.rmdir()
    done = program(*command, "--json")
    assert done.code == 2
    (problem,) = done.document["problems"]
    assert (problem["file"], problem["message"]) == (str(evals.parents[1] / "SKILL.md"), "this skill has no evals")
    assert problem["hint"].endswith(f"skillgauge init --dir {evals.parents[1]}")


@pytest.mark.slow
@pytest.mark.e2e
def test_a_budget_for_what_costs_nothing(program: Program, work: Path, evals: Path) -> None:
    """F-K13: `--max-cost` holds where nothing is paid; where nobody tells what is paid it is refused first."""
    evaluate = ("eval", evals, *ECHO, "--max-cost", "1", "--json")
    refused = program(*evaluate)
    assert refused.code == 2
    (problem,) = refused.document["problems"]
    assert problem["code"] == "usage.budget"
    assert problem["message"] == "engine 'command' does not report what it costs, so --max-cost cannot be enforced"
    assert not (work / "reports").exists()
    free = program(*evaluate, "--set", "engines.command.paid=false")
    assert free.code == 0, free.stderr
    assert [one["verdict"] for one in free.document["results"]] == ["pass", "pass"]


@pytest.mark.slow
@pytest.mark.e2e
def test_the_case_that_ended_a_run_is_named(program: Program, evals: Path) -> None:
    """F-3: by its name, where it has one."""
    failing = {"id": 7, "name": "greets", "prompt": "p", "assertions": [{"type": "icontains", "value": "absent"}]}
    evals.write_text(json.dumps({**EVALS, "evals": [failing]}))
    done = program("eval", "s", *ECHO, "-x", "--store", "none")
    assert done.code == 1
    assert done.verdict.startswith("failed: greets (with_skill): ")


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_comparison_names_cases_and_skill(program: Program, evals: Path, form: str) -> None:
    """F-3, F-H7: a case by its name before its id, and the page by the skill that both arms are about."""
    for mine, name in ((1, "first"), (2, "second")):
        one = {"id": mine, "name": name, "prompt": "p", "assertions": [{"type": "icontains", "value": "p"}]}
        kept = {"id": 3, "name": "kept", "prompt": "p", "assertions": [{"type": "icontains", "value": "p" * mine}]}
        evals.write_text(json.dumps({**EVALS, "evals": [one, kept]}))
        assert program("eval", "s", *ECHO).code == 0
    done = program("report", "diff", "latest~1", "latest", "--format", form, "--output", "d")
    assert done.code == 0, done.stderr
    text = re.sub(r"</?(?:bdi|p|h1)>|[*]", "", (Path(program.work) / "d").read_text())
    assert "Cases only in Before: first (1)" in text
    assert "Cases only in After: second (2)" in text
    assert "not compared: kept (3)" in text
    assert ("\ns: Before → After" in text) == (form == "html")
