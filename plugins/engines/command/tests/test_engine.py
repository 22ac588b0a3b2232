"""How a program is started, and what its ending means."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import (
    NO_LIMITS,
    Blame,
    Execution,
    FailureClass,
    FileSpec,
    Limits,
    PluginError,
    RunRequest,
    SandboxSpec,
    Severity,
)
from skillgauge_engine_command.answers import NoAnswer, answer_in
from skillgauge_engine_command.engine import outside_program
from skillgauge_engine_command.options import CommandOptions
from skillgauge_testkit import ENGINES, Maker, TemporarySandbox

make = Maker(ENGINES, "skillgauge_engine_command.plugin")


def play(
    options: Mapping[str, Any],
    prompt: str = "hello",
    *,
    model: str | None = None,
    limits: Limits = NO_LIMITS,
) -> tuple[Execution, set[str]]:
    """A session in a real workspace that holds a file `in.txt`, and the files that were there afterwards."""

    async def run() -> tuple[Execution, set[str]]:
        async with TemporarySandbox().open(SandboxSpec(label="command")) as workspace:
            await workspace.put([FileSpec(path="in.txt", text="in")])
            request = RunRequest(trial_id="t", case_id="c", prompt=prompt, model=model, limits=limits)
            execution = await make(options).run(request, workspace, lambda _event: None)
            return execution, set(await workspace.snapshot())

    return asyncio.run(run())


def shell(line: str, *arguments: str, **options: Any) -> dict[str, Any]:
    """Options of an agent that is a shell command."""
    return {"argv": ["sh", "-c", line.replace("{", "{{").replace("}", "}}"), "sh", *arguments], **options}


def test_placeholders_are_filled_without_a_shell() -> None:
    """Whatever is in the prompt arrives as one argument, braces, quotes and line breaks too."""
    line = 'printf "%s|" "$@"; cat'
    given = ["{prompt}", "{model}", "{skill_folder}", "{max_turns}", "{{x}}", "a{model}b"]
    options = shell(line, *given, skill_folder="my/skills", stdin="in: {prompt}")
    prompt = 'it\'s "{quoted}"; $(rm x)\n{prompt}'
    execution, _ = play(options, prompt, model="m1", limits=Limits(max_turns=7))
    assert execution.text == f"{prompt}|m1|my/skills|7|{{x}}|am1b|in: {prompt}"
    assert execution.exit_code == 0


def test_it_runs_in_its_workspace_and_may_read_the_prompt_from_a_file() -> None:
    """The file lies in the private home, so no check sees it; the working folder is the workspace."""
    options = shell('test "$1" = "$PWD" && cat "$2" && cat in.txt && touch out.txt', "{workspace}", "{prompt_file}")
    prompt = "long " * 100_000
    execution, files = play(options, prompt)
    assert execution.text == f"{prompt}in"
    assert files == {"in.txt", "out.txt"}


@pytest.mark.requirement("UA-FLOW-005")
def test_output_and_exit_status_are_captured() -> None:
    """Both streams and the exit code are told, also of a session that fails; what is very long loses its middle."""
    execution, _ = play(shell("echo out; echo err >&2; exit 3"))
    assert (execution.stdout, execution.stderr, execution.exit_code) == ("out\n", "err\n", 3)
    assert execution.failure
    assert execution.failure.message == "exit code 3: err"
    long, _ = play(shell("head -c 200000 /dev/zero | tr '\\0' a"))
    assert long.stdout
    assert long.text
    assert len(long.text) == 200_000
    assert len(long.stdout) < 70_000
    assert "134464 characters left out" in long.stdout
    cut, _ = play(shell("head -c 200000 /dev/zero | tr '\\0' a"), limits=Limits(output_bytes=1000))
    assert cut.truncated
    assert cut.text == "a" * 1000


def test_only_what_is_named_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own variables and those of the user that it is to get, no other; one that is not set is absent."""
    monkeypatch.setenv("MINE", "passed")
    monkeypatch.setenv("OTHER", "not passed")
    options = shell('echo "$MINE,$OTHER,$OWN,${GONE-absent}"', pass_env=["MINE", "GONE"], env={"OWN": "1"})
    assert play(options)[0].text == "passed,,1,absent"
    problems = asyncio.run(make(options).check())
    assert [(one.code, one.severity) for one in problems] == [("engine.env", Severity.WARNING)]
    assert "GONE" in problems[0].message


@pytest.mark.parametrize(
    ("line", "kind", "blame", "retryable"),
    [
        ("exit 9", FailureClass.CRASH, Blame.INFRASTRUCTURE, False),
        ("exit 137", FailureClass.CRASH, Blame.INFRASTRUCTURE, False),
        ("exit 75", FailureClass.RATE_LIMITED, Blame.INFRASTRUCTURE, True),
        ("exit 4", FailureClass.MAX_TURNS, Blame.AGENT_LIMIT, False),
        ("exit 5", FailureClass.REJECTED, Blame.TARGET, False),
        ("kill -9 $$", FailureClass.KILLED, Blame.INFRASTRUCTURE, False),
        ("kill -15 $$", FailureClass.REJECTED, Blame.TARGET, False),
        ("sleep 60", FailureClass.TIMEOUT, Blame.INFRASTRUCTURE, False),
    ],
)
def test_endings(line: str, kind: FailureClass, blame: Blame, retryable: bool) -> None:
    """Exit codes and signals mean what the options say; an ending that they do not explain blames no skill."""
    codes = {"75": "rate_limited", "4": "max_turns", "5": "failed", "143": "failed"}
    options = shell(line, exit_codes=codes)
    limits = Limits(timeout_s=0.2 if "sleep" in line else 60)
    execution, _ = play(options, limits=limits)
    assert execution.failure
    found = (execution.failure.failure_class, execution.failure.blame, execution.failure.retryable)
    assert found == (kind, blame, retryable)
    assert execution.text is None


@pytest.mark.parametrize(
    ("line", "options", "message"),
    [
        ("echo out; echo 'no key' >&2; exit 1", {}, "exit code 1: no key"),
        ("echo 'Error: 401'; exit 1", {}, "exit code 1: Error: 401"),
        ("echo 'no network'; kill -9 $$", {}, "ended by signal 9: no network"),
        ("echo said; printf ' \\n' >&2; exit 1", {}, "exit code 1: said"),
        ("exit 1", {}, "exit code 1"),
        ("echo 'please log in'", {"answer_key": "a"}, "no line of its output is a JSON object: please log in"),
    ],
)
def test_a_message_shows_what_the_program_wrote_last(line: str, options: dict[str, Any], message: str) -> None:
    """The end of stderr, and of stdout where stderr is empty, since many agents write their errors there."""
    failure = play(shell(line, **options))[0].failure
    assert failure
    assert failure.message == message
    assert failure.blame is Blame.INFRASTRUCTURE


def test_a_message_shows_the_end_of_long_output() -> None:
    """The reason stands at the end of what a program writes, whatever stands before it."""
    failure = play(shell("head -c 9000 /dev/zero | tr '\\0' a; echo ' the reason'; exit 1"))[0].failure
    assert failure
    assert failure.message.endswith("a the reason")
    assert len(failure.message) < 400


def test_exit_codes_can_be_turned_round() -> None:
    """A program that ends well with 1 and badly with 0 can be driven, too."""
    codes = {"1": "completed", "0": "auth"}
    assert play(shell("echo ok; exit 1", exit_codes=codes))[0].text == "ok"
    failure = play(shell("echo ok", exit_codes=codes))[0].failure
    assert failure
    assert failure.failure_class is FailureClass.AUTH


def test_what_it_cannot_tell_is_unknown() -> None:
    """Skills, blocks, tokens and cost are unknown, not none; only its answer is an event."""
    execution, _ = play(shell("echo hi"))
    told = execution.trajectory
    assert told
    assert (told.skills_offered, told.skills_fired, told.blocked, told.model_calls, told.model) == (None,) * 5
    assert execution.usage is None
    assert [event.text for event in told.events] == ["hi"]


@pytest.mark.parametrize(
    ("stdout", "key", "answer"),
    [
        (" hi \n", None, "hi"),
        ('{"a": 1}\nnoise\n{"result": "x"}\nbye\n', "result", "x"),
        ('{"result": {"text": "deep"}}', "result.text", "deep"),
        ('{"result": ["é", 1]}', "result", '["é", 1]'),
        ('  {"result": "x"}\n{broken', "result", "x"),
    ],
)
def test_answers(stdout: str, key: str | None, answer: str) -> None:
    """All of it, or what is at a key of the last line that is a JSON object."""
    assert answer_in(stdout, key) == answer


@pytest.mark.parametrize("stdout", ["", "plain", "[1]", '{"a": 1}', '{"result": null}', '{"result": "x"}\n{"a": 1}'])
def test_no_answer(stdout: str) -> None:
    """No line, no key, nothing at it, or only in an earlier line: the session is an error."""
    with pytest.raises(NoAnswer):
        answer_in(stdout, "result")
    execution, _ = play(shell(f"cat <<'X'\n{stdout}\nX", answer_key="result"))
    assert execution.failure
    assert execution.failure.failure_class is FailureClass.PROTOCOL


@given(st.text(), st.text(min_size=1).filter(lambda key: "." not in key), st.text())
def test_any_answer_is_found(before: str, key: str, answer: str) -> None:
    """Whatever key and answer are, and whatever was written before."""
    assert answer_in(f"{before}\n{json.dumps({key: answer})}\n", key) == answer


def test_a_command_line_may_be_one_text() -> None:
    """F-A2: it is split as a shell would, and braces keep their meaning."""
    made = CommandOptions.model_validate({"argv": "sh -c 'echo {prompt}'"})
    assert made.argv == ("sh", "-c", "echo {prompt}")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "argv"),
        ({"argv": []}, "argv"),
        ({"argv": 7}, "valid tuple"),
        ({"argv": ""}, "at least 1 item"),
        ({"argv": ["a", "{promt}"]}, "did you mean prompt"),
        ({"argv": ["a", "{prompt!r}"]}, "no placeholder"),
        ({"argv": ["a", "{prompt.x}"]}, "no placeholder"),
        ({"argv": ["a", "{"]}, "for braces"),
        ({"argv": ["a", "{skill_folder}"]}, "skill_folder is not set"),
        ({"argv": ["a"], "skill_folder": "../skills"}, "stay inside"),
        ({"argv": ["a"], "exit_codes": {"x": "auth"}}, "no exit code"),
        ({"argv": ["a"], "exit_codes": {"1": "sad"}}, "'sad' is none of completed, failed, timeout"),
        ({"argv": ["a"], "env": {"A": 1}}, "must be text"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], words: str) -> None:
    """Before anything runs, with what is wrong and what there is."""
    with pytest.raises(PluginError) as raised:
        make(options)
    assert words in str(raised.value)


def test_check_finds_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-A3: a program that is not there, or is here and not in the workspace; a model that the command line needs."""
    (problem,) = asyncio.run(make({"argv": ["no-such-agent-anywhere"]}).check())
    assert (problem.code, problem.severity) == ("engine.program", Severity.ERROR)
    assert asyncio.run(make({"argv": [str(tmp_path / "gone")]}).check())
    assert not asyncio.run(make({"argv": ["./agent"]}).check())
    here = tmp_path / "agent"
    here.write_text("#!/bin/sh\n")
    here.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    (problem,) = asyncio.run(make({"argv": ["./agent"]}).check())
    assert (problem.code, problem.severity) == ("engine.program", Severity.WARNING)
    assert str(here) in (problem.hint or "")
    options = {"argv": ["sh", "{model}"]}
    engine = make(options)
    engine.identity("m1")
    assert not asyncio.run(engine.check())
    engine.identity(None)
    (problem,) = asyncio.run(engine.check())
    assert problem.code == "engine.no-model"
    settled = make({**options, "model": "m2"})
    assert settled.identity(None).model == "m2"
    assert not asyncio.run(settled.check())


def test_a_program_that_cannot_be_started_is_an_error() -> None:
    """It is nobody's failure."""
    execution, _ = play({"argv": [f".{os.sep}gone"]})
    assert execution.failure
    assert (execution.failure.failure_class, execution.failure.blame) == (FailureClass.LAUNCH, Blame.INFRASTRUCTURE)


def test_identity_covers_how_it_is_started() -> None:
    """Another command line or model is another engine; what it costs is not part of it."""
    one = make({"argv": ["a"]}).identity("m1")
    assert make({"argv": ["a"], "paid": False}).identity("m1").digest == one.digest
    assert make({"argv": ["b"]}).identity("m1").digest != one.digest
    assert make({"argv": ["a"]}).identity("m2").digest != one.digest
    assert not one.complete


def test_a_program_by_its_path_is_shown_to_a_sandbox(tmp_path: Path) -> None:
    """It and what a link leads to, if it can be executed; neither the folder around it nor any other file (E-D4)."""
    program, link, secret = tmp_path / "agent", tmp_path / "link", tmp_path / "key"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    link.symlink_to(program)
    secret.write_text("secret")
    assert outside_program(str(program)) == (str(program),)
    assert outside_program(str(link)) == (str(link), str(program))
    for other in (str(secret), str(tmp_path), "sh", "./agent", "{workspace}/agent"):
        assert outside_program(other) == ()
