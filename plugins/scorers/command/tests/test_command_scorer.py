"""Commands that decide by their exit code, run for real."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import Arm, ArmKind, Command, Execution, FileSpec, SandboxSpec, Score, ScoreStatus, host_environment
from skillgauge_processes import DirectoryWorkspace
from skillgauge_scorer_command.options import CommandOptions
from skillgauge_scorer_command.printed import printed_score
from skillgauge_scorer_command.scorer import CommandScorer, _for_environment
from skillgauge_testkit import TemporarySandbox, score_context

AGENT = Arm(name="with_skill", kind=ArmKind.AGENT)


def score(
    command: str,
    execution: Execution | None = None,
    *,
    arm: Arm = AGENT,
    files: tuple[FileSpec, ...] = (),
    environ: Mapping[str, str] | None = None,
    prepare: str = "true",
    **options: Any,
) -> Score:
    """The score of a command in a workspace with these files."""

    async def run() -> Score:
        workspace = DirectoryWorkspace(SandboxSpec(label="test"), environ or host_environment(), tier="test/none")
        async with workspace:
            await workspace.put(files)
            await (await workspace.start(Command(argv=("sh", "-c", prepare)))).wait()
            context = replace(score_context(execution=execution or Execution(text="")), arm=arm, workspace=workspace)
            return await CommandScorer(CommandOptions(command=command, **options)).score(context)

    return asyncio.run(run())


@pytest.mark.requirement("SE-FORMAT-003")
@pytest.mark.parametrize(
    ("code", "expected", "status"),
    [
        (0, 0, ScoreStatus.PASSED),
        (1, 0, ScoreStatus.FAILED),
        (2, 0, ScoreStatus.UNGRADED),
        (127, 0, ScoreStatus.UNGRADED),
        (0, 1, ScoreStatus.FAILED),
        (1, 1, ScoreStatus.PASSED),
        (7, 7, ScoreStatus.PASSED),
        (7, 8, ScoreStatus.UNGRADED),
    ],
)
def test_exit_codes(code: int, expected: int, status: ScoreStatus) -> None:
    """The declared code passes, 0 and 1 are an honest no, anything else is no verdict."""
    found = score(f"exit {code}", expect_exit_code=expected)
    assert found.status is status
    assert isinstance(found.evidence, Mapping)
    assert (found.evidence["exit_code"], found.evidence["errored"]) == (code, status is ScoreStatus.UNGRADED)


def test_no_verdict() -> None:
    """A signal, a limit and a workspace that is gone leave the check ungraded, each with its reason."""
    assert "signal 9" in score("kill -9 $$").reason
    found = score("sleep 30", timeout_s=0.1)
    assert "no end after 0.1 s" in found.reason
    assert isinstance(found.evidence, Mapping)
    assert found.evidence["exit_code"] == -1
    context = replace(score_context(execution=Execution(text="x")), arm=AGENT)
    gone = asyncio.run(CommandScorer(CommandOptions(command="true")).score(context))
    assert (gone.status, "workspace is gone" in gone.reason) == (ScoreStatus.UNGRADED, True)


def test_answer_is_at_hand() -> None:
    """The whole answer is in a file, and its beginning in a variable that a process can be started with."""
    answer = "é" * 100_000 + "\0end"
    assert score("test $(wc -m < response.txt) -eq 100004", Execution(text=answer)).status is ScoreStatus.PASSED
    check = 'python3 -c \'import os; assert os.environ["RESPONSE_TEXT"] == "é" * 60_000\''
    assert score(check, Execution(text=answer)).status is ScoreStatus.PASSED
    listed = score('test "$RESPONSE_TEXT" = \'{"a":[1,"ü"]}\'', Execution(output={"a": [1, "ü"]}))
    assert listed.status is ScoreStatus.PASSED


def test_shared_workspaces_get_no_file() -> None:
    """Under direct call other trials use the workspace at the same time, so that only the variable is safe."""
    direct = score_context().arm
    assert score("test ! -e response.txt", Execution(output="x"), arm=direct).status is ScoreStatus.PASSED
    assert score('test "$RESPONSE_TEXT" = x', Execution(output="x"), arm=direct).status is ScoreStatus.PASSED


def test_place_of_the_answer_is_taken() -> None:
    """An agent that put a folder where the answer belongs changes nothing (T-S3)."""
    taken = (FileSpec(path="response.txt/x", text=""),)
    assert score("test -f response.txt", files=taken).status is ScoreStatus.PASSED
    assert score("test -d response.txt", files=taken).status is ScoreStatus.FAILED


@pytest.mark.parametrize("name", ["pipe", "endless", "huge"])
def test_what_keeps_a_command_from_its_end(name: str) -> None:
    """Is the agent's failure, with the reason; without such a thing a command that does not end is no verdict."""
    make = {
        "pipe": "mkfifo answer.json",
        "endless": "ln -s /dev/zero answer.json",
        "huge": "truncate -s 1T answer.json",
    }
    found = score("cat answer.json >/dev/null", prepare=make[name], timeout_s=0.3)
    assert found.status is ScoreStatus.FAILED
    assert "answer.json is " in found.reason
    assert score("sleep 30", timeout_s=0.1).status is ScoreStatus.UNGRADED


def test_environment_is_clean() -> None:
    """A command sees no variable of the user's beyond the allow list, and a home that nobody has seen."""
    environ = {**host_environment(), "ACME_API_KEY": "canary-0123456789"}
    assert score('test -z "$ACME_API_KEY"', environ=environ).status is ScoreStatus.PASSED
    empty = 'for one in "$HOME" "$TMPDIR"; do test -d "$one" && test -z "$(ls -A "$one")" || exit 1; done'
    assert score(empty, prepare='touch "$HOME/.profile" "$TMPDIR/x"').status is ScoreStatus.PASSED
    assert "canary" not in str(score("env; exit 1", environ=environ).evidence)


def test_output_is_cut() -> None:
    """The evidence holds the beginning of both streams, and the reason the last line."""
    found = score("yes out | head -n 1000; yes err | head -n 999 >&2; echo last words >&2; exit 1", label="grade")
    assert isinstance(found.evidence, Mapping)
    assert (len(str(found.evidence["stdout"])), len(str(found.evidence["stderr"]))) == (500, 500)
    assert found.reason == "grade: exit code 1 instead of 0 (last words)"


def test_bytes_that_are_no_text() -> None:
    """Output that is not UTF-8 does not matter."""
    assert score(r"printf '\377\376'").status is ScoreStatus.PASSED


@given(st.text(max_size=200_000))
def test_variable_holds_the_beginning(text: str) -> None:
    """Whatever the answer is, the variable is a beginning of it without NUL, and short enough."""
    held = _for_environment(text)
    assert text.replace("\0", "").startswith(held)
    assert len(held.encode()) <= 120_000


def test_options_are_checked() -> None:
    """There is a command, exit codes are possible ones, and nothing unknown is accepted."""
    bad: tuple[dict[str, Any], ...] = (
        {},
        {"command": ""},
        {"command": "x", "expect_exit_code": 256},
        {"command": "x", "cmd": "y"},
        {"command": "x", "timeout_s": 0},
    )
    for options in bad:
        with pytest.raises(ValueError, match="validation error"):
            CommandOptions.model_validate(options)


@pytest.mark.requirement("SE-FORMAT-008")
@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("grep -q total report.md", ScoreStatus.FAILED),
        ("exit 125", ScoreStatus.FAILED),
        ("true", ScoreStatus.PASSED),
        ("no-such-program", ScoreStatus.UNGRADED),
        ("kill -9 $$", ScoreStatus.UNGRADED),
    ],
)
def test_where_a_command_says_yes_or_no_any_other_code_is_a_no(command: str, status: ScoreStatus) -> None:
    """F-5: `grep` ends with 2 where there is no file; only what says that no command ran is no verdict."""
    assert score(command, fail_codes="any").status is status


def test_contract_sandbox_is_enough() -> None:
    """Any sandbox will do; nothing but the protocol is used."""

    async def run() -> Score:
        async with TemporarySandbox().open(SandboxSpec(label="x")) as workspace:
            context = replace(score_context(execution=Execution(text="hi")), arm=AGENT, workspace=workspace)
            return await CommandScorer(CommandOptions(command="grep -q hi response.txt")).score(context)

    assert asyncio.run(run()).status is ScoreStatus.PASSED


@pytest.mark.requirement("SE-FORMAT-008")
@pytest.mark.parametrize(
    ("command", "needs", "status"),
    [
        ("grep -q total output.json", ("output.json",), ScoreStatus.FAILED),
        ("grep -q total output.json", (), ScoreStatus.UNGRADED),
        ("grep -q a there.txt output.json", ("there.txt", "output.json"), ScoreStatus.FAILED),
        ("grep -q a there.txt; exit 2", ("there.txt", "pat.tern"), ScoreStatus.UNGRADED),
        ("grep -q '[' there.txt", ("there.txt",), ScoreStatus.UNGRADED),
        ("no-such-program output.json", ("output.json",), ScoreStatus.UNGRADED),
        ("kill -9 $$", ("output.json",), ScoreStatus.UNGRADED),
    ],
)
def test_a_file_that_the_agent_did_not_make_is_its_failure(
    command: str, needs: tuple[str, ...], status: ScoreStatus
) -> None:
    """Else what a model did not do would count as a broken grader, and leave every rate."""
    found = score(command, files=(FileSpec(path="there.txt", text="b"),), needs=needs)
    assert found.status is status
    assert isinstance(found.evidence, Mapping)
    assert found.evidence["errored"] is (status is ScoreStatus.UNGRADED)
    assert found.evidence["passed"] is False


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("0.75", 0.75),
        ("1", 1.0),
        (" 0 ", 0.0),
        ('{"score": 0.5, "details": "half"}', 0.5),
        ('checking...\n{"score": 1,\n "checks": [{"name": "a", "passed": true}]}\ndone', 1.0),
        ("1e-1", 0.1),
    ],
)
def test_printed_scores(printed: str, value: float) -> None:
    """A number, or an object with one and text around it, is the value; the threshold decides whether it passes."""
    found = score(f"cat <<'END'\n{printed}\nEND", reads="score", threshold=0.6)
    assert (found.value, found.status) == (value, ScoreStatus.PASSED if value >= 0.6 else ScoreStatus.FAILED)


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        ("", "prints nothing"),
        ("good", "no score"),
        ("true", "no score"),
        ('"0.5"', "no score"),
        ("NaN", "no score"),
        ("score: 0.5", "no score"),
        ("0.5 0.6", "no score"),
        ("1.01", "not from 0 to 1"),
        ("-0.1", "not from 0 to 1"),
        ("9" * 5000, "no score"),
        ('{"score": "0.5"}', "no score"),
        ('{"score": true}', "no score"),
        ('{"score": NaN}', "no score"),
        ('{"score": null}', "no score"),
        ('{"passed": true}', "no `score`"),
        ("}{", "no score"),
        ("[0.5]", "no score"),
        ("[" * 100_00, "no score"),
    ],
)
def test_no_score_is_guessed(printed: str, told: str) -> None:
    """What is no number from 0 to 1 leaves the check ungraded and says so."""
    found = score(f"cat <<'END'\n{printed}\nEND", reads="score", threshold=0.0)
    assert (found.status, told in found.reason) == (ScoreStatus.UNGRADED, True), found.reason


def test_a_crashed_grader_gives_no_score() -> None:
    """A score counts with exit code 0 and with one that is a verdict; after a crash, or in a flood, it does not."""
    assert score("echo 1; exit 1", reads="score").status is ScoreStatus.PASSED
    crashed = score("echo 1; echo broken >&2; exit 3", reads="score")
    assert (crashed.status, "exit code 3 (broken)" in crashed.reason) == (ScoreStatus.UNGRADED, True)
    assert score("echo 1; exit 3", reads="score", fail_codes="any").status is ScoreStatus.PASSED
    assert score("head -c 70000 /dev/zero | tr '\\0' ' '; echo 1", reads="score").status is ScoreStatus.UNGRADED
    assert score('printf \'{"score": 0.25, "details": "one of four"}\'', reads="score").reason.endswith("(one of four)")


@given(st.binary(max_size=40))
def test_any_output_is_a_score_or_a_reason(data: bytes) -> None:
    """Whatever is printed gives a number from 0 to 1 or a ValueError."""
    told, value = "", 0.0
    try:
        value = printed_score(data).value
    except ValueError as error:
        told = str(error)
    assert 0 <= value <= 1
    assert not told or "score" in told
