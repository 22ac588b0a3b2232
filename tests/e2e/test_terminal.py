"""What a command says on a terminal, in a pipe, and when it is to say little."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit.program import PROGRAM, Program

from .conftest import MakeSkill, Scripted, letters, task

pytestmark = pytest.mark.e2e
Tasks = Callable[..., Path]


def test_quiet_is_the_verdict_alone(scripted: Scripted) -> None:
    """F-K21: nothing on stdout and one sentence on stderr, with the exit code that it has in any case."""
    gate = ("--exit-on-fail", "--min-completion", "0.9")
    done = scripted.evaluate(letters("p", case_2="f"), letters("f"), *gate, "--quiet", code=1)
    assert done.stdout == ""
    assert done.stderr.splitlines() == [done.verdict]
    assert done.verdict.startswith("gate missed")
    assert list((scripted.work / "reports").glob("run-*.record.json"))
    loud = scripted.evaluate(letters("p", case_2="f"), letters("f"), *gate, code=1)
    assert "did not pass" in loud.stdout
    assert loud.verdict == done.verdict


def test_quiet_hides_no_data(program: Program) -> None:
    """Commands that print what they were asked for print it."""
    assert program("config", "get", "concurrency", "--quiet").stdout == "4\n"
    assert program("eval", "--list", "--quiet", cwd=Path(program.work).parent).code in (2, 5)


@pytest.mark.parametrize("command", [("--help",), ("schema", "eval"), ("eval", "--help")])
def test_a_reader_that_goes_away_is_no_error(program: Program, command: tuple[str, ...]) -> None:
    """F-8: as `| head -1`: no traceback and no message, in whichever moment it goes."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [PROGRAM, *command], cwd=program.work, env=dict(program.environment), stdout=writing, stderr=subprocess.PIPE
        )
    finally:
        os.close(writing)
    assert done.stderr == b""
    assert done.returncode == 0


def test_a_reader_that_goes_away_changes_no_verdict(program: Program, make_skill: MakeSkill, tasks: Tasks) -> None:
    """The run ends as it would have: verdict on stderr, exit code of the gate."""
    skill, file = make_skill(), tasks(task("a", "x"), task("b", "x", "y"))
    reading, writing = os.pipe()
    os.close(reading)
    command = ["eval", "--skills", skill, "--tasks", file, "--exit-on-fail", "--min-completion", "1"]
    try:
        done = subprocess.run(
            [PROGRAM, *command], cwd=program.work, env=dict(program.environment), stdout=writing, stderr=subprocess.PIPE
        )
    finally:
        os.close(writing)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[-1].startswith("gate missed")
    assert b"Traceback" not in done.stderr


def test_cases_are_listed_without_anybody_to_run_them(scripted: Scripted) -> None:
    """F-O3: `--list` needs no engine, and every selection narrows it."""
    done = scripted.program("eval", "s", "--list")
    assert done.code == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [["s", str(one)] for one in (1, 2, 3, 4)]
    assert "s/evals/evals.json:1" in done.stdout
    assert done.verdict == "listed: 4 cases of 1 suite"
    some = scripted.program("eval", "s", "--list", "-k", "2 or 3", "--json").document
    assert [one["case"] for one in some["cases"]] == ["2", "3"]
    none = scripted.program("eval", "s", "--list", "-k", "nothing")
    assert none.code == 5
    assert not (scripted.work / "skillgauge.db").exists()


def test_words_choose_cases(scripted: Scripted) -> None:
    """F-O2: `-k` runs what it fits, and nothing else."""
    scripted.evaluate(letters("p"), letters("p"), "--no-baseline", "-k", "1 or 4")
    assert scripted.sessions() == ["with_skill 1 1", "with_skill 4 1"]


def test_the_first_failure_ends_a_run(scripted: Scripted) -> None:
    """F-O2: `-x` stops there, says where it stopped and why, and the same command goes on with the others."""
    failing = (letters("p", case_2="f"), letters("f"))
    done = scripted.evaluate(*failing, "-x", "-j", "1", code=1)
    assert done.verdict.startswith("failed: 2 (with_skill): ")
    assert "the same command goes on with the others" in done.verdict
    first = scripted.sessions()
    assert "with_skill 3 1" not in first
    scripted.run("eval", "s", "--engine", "scripted", "--format", "record", "-x", "-j", "1", code=0)
    assert len(set(scripted.sessions())) == 8
    assert scripted.sessions().count("with_skill 2 1") == 1


def test_a_failure_at_the_end_is_one_too(scripted: Scripted) -> None:
    """`-x` is exit code 1 wherever the failure is, and that of a mere baseline is none."""
    done = scripted.evaluate(letters("p", case_4="f"), letters("f"), "-x", "-j", "1", code=1)
    assert done.verdict.startswith("failed: 4 (with_skill)")
    scripted.evaluate(letters("p"), letters("f"), "-x", "--fresh", code=0)


def test_an_error_ends_a_run(scripted: Scripted) -> None:
    """It is none of the skill's failures, so the exit code is another one."""
    done = scripted.evaluate(letters("p", case_1="e"), letters("p"), "--fail-fast", "-j", "1", "--retries", "0", code=3)
    assert done.verdict.startswith("error: 1 (with_skill)")


def test_short_forms(scripted: Scripted) -> None:
    """F-O2: `-n` repeats, `-j` is how many at once."""
    scripted.evaluate(letters("pp"), letters("pp"), "-n", "2", "-j", "2", "--no-baseline", "-k", "1")
    assert scripted.sessions() == ["with_skill 1 1", "with_skill 1 2"]
    document = scripted.program("eval", "s", "--list", "--json").document
    assert json.dumps(document).count('"suite": "s"') == 4


def test_verbose_is_for_people_and_log_json_for_programs(scripted: Scripted) -> None:
    """P-M1: what every trial comes to, in words; or every event as JSON."""
    done = scripted.evaluate(letters("p"), letters("p", case_3="f"), "-v")
    assert "3 (without_skill) fail in " in done.stderr
    assert "4 (with_skill) begins" in done.stderr
    assert '{"event"' not in done.stderr
    logged = scripted.run("eval", "s", "--engine", "scripted", "--log-json", "--quiet", "--fresh")
    assert logged.stderr.splitlines() == [logged.verdict]
    logged = scripted.run("eval", "s", "--engine", "scripted", "--log-json", "--fresh")
    events = [json.loads(line) for line in logged.stderr.splitlines() if line.startswith("{")]
    assert [one["event"] for one in events].count("trial.finished") == 8
    assert "begins" not in logged.stderr


@pytest.mark.parametrize(
    ("words", "near"),
    [(("evl",), "eval"), (("plugins", "lst"), "list"), (("histroy",), "history"), (("config", "gett"), "get")],
)
def test_a_command_that_is_misspelt(program: Program, words: tuple[str, ...], near: str) -> None:
    """F-K7: the message names what was probably meant."""
    done = program(*words)
    assert done.code == 2
    assert f"there is no command {words[-1]!r} (did you mean {near}" in done.stderr
