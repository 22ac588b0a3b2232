"""What the agent does: by default, by a script, and where the script cannot be used."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import (
    NO_LIMITS,
    Blame,
    EventKind,
    Execution,
    FailureClass,
    FileSpec,
    Limits,
    PluginError,
    RunRequest,
    SandboxSpec,
    Severity,
    TrajectoryEvent,
)
from skillgauge_testkit import ENGINES, Maker, TemporarySandbox

make = Maker(ENGINES, "skillgauge_engine_mock.plugin")


def play(
    prompt: str,
    *replies: Mapping[str, Any],
    otherwise: tuple[Mapping[str, Any], ...] = (),
    skills: tuple[str, ...] = (),
    limits: Limits = NO_LIMITS,
) -> tuple[Execution, dict[str, bytes], list[TrajectoryEvent]]:
    """A session in a real workspace with these skills: what it told, and the other files that were there afterwards."""

    async def run() -> tuple[Execution, dict[str, bytes], list[TrajectoryEvent]]:
        events: list[TrajectoryEvent] = []
        engine = make({"replies": list(replies), "otherwise": list(otherwise)})
        async with TemporarySandbox().open(SandboxSpec(label="mock")) as workspace:
            await workspace.put([FileSpec(path=f".agents/skills/{name}/SKILL.md", text=name) for name in skills])
            request = RunRequest(trial_id="t", case_id="c", prompt=prompt, model=None, limits=limits)
            execution = await engine.run(request, workspace, events.append)
            paths = [path for path in await workspace.snapshot() if not path.startswith(".agents/")]
            return execution, {path: await workspace.collect(path, 10**6) for path in paths}, events

    return asyncio.run(run())


def test_without_a_script_it_repeats_the_prompt() -> None:
    """The answer tells the arms apart, nothing is written, and usage is known, free and more than nothing."""
    execution, files, events = play("What is 2 + 2?")
    assert execution.text == "[mock without-skill response] What is 2 + 2?"
    assert execution.notes == ("the prompt was repeated for want of a script, no model was asked",)
    scripted, _, _ = play("What is 2 + 2?", {"text": "4"})
    assert scripted.notes == ("a script was played, no model was asked",)
    assert not files
    assert [event.kind for event in events] == [EventKind.MESSAGE]
    assert execution.usage
    assert execution.usage.cost_usd == 0
    assert execution.usage.input_tokens == 4
    execution, _, _ = play("What is 2 + 2?", skills=("sums",))
    assert execution.text == "[mock with-skill response] What is 2 + 2?"


def test_what_comes_otherwise_is_no_script() -> None:
    """It is played where no reply fits, is part of what decides, and the lack of a script is told all the same."""
    otherwise = ({"match": "sum", "text": "4", "notices": {"told": {"turns": 9}}},)
    execution, _, events = play("a sum", otherwise=otherwise)
    assert execution.text == "4"
    assert execution.notes == ("the prompt was repeated for want of a script, no model was asked",)
    assert [(event.kind, event.name, event.data) for event in events[:1]] == [(EventKind.NOTICE, "told", {"turns": 9})]
    assert execution.trajectory
    assert execution.trajectory.events == tuple(events)
    assert execution.trajectory.turns == 1
    assert play("a sum", {"text": "5"}, otherwise=otherwise)[0].text == "5"
    engines = [make({}), make({"otherwise": list(otherwise)})]
    assert len({engine.identity(None).digest for engine in engines}) == 2
    assert [problem.code for problem in asyncio.run(engines[1].check())] == ["engine.no-script"]


def test_without_a_script_it_warns() -> None:
    """Whoever takes it for an agent is told why nothing passes; doctor and run go on."""
    (problem,) = asyncio.run(make({}).check())
    assert (problem.code, problem.severity) == ("engine.no-script", Severity.WARNING)
    assert "--set engines.mock.script=FILE" in str(problem.hint)
    assert asyncio.run(make({"replies": [{"text": "x"}]}).check()) == ()


def test_it_is_offered_what_is_there_and_loads_what_the_prompt_names() -> None:
    """Every skill of the workspace counts as offered; only a named one fires, in whatever case it is written."""
    execution, _, events = play("Use PDF-Reader now", skills=("pdf-reader", "other"))
    assert execution.trajectory
    assert execution.trajectory.skills_offered == ("other", "pdf-reader")
    assert [(fired.name, fired.how) for fired in execution.trajectory.skills_fired or ()] == [("pdf-reader", "invoked")]
    assert events[0].data == {"skill": "pdf-reader"}
    assert execution.trajectory.events == tuple(events)
    unnamed, _, _ = play("hello", skills=("pdf-reader",))
    assert unnamed.trajectory
    assert unnamed.trajectory.skills_fired == ()
    assert unnamed.trajectory.blocked == ()


def test_a_script_says_what_it_does() -> None:
    """Files are written before the command runs; the calls, what they gave and the answer are told in order."""
    reply = {
        "match": "^make",
        "files": {"a/in.txt": "one\n"},
        "run": "cp a/in.txt out.sh && chmod +x out.sh && rm a/in.txt && echo done",
        "blocks": [{"tool": "Write", "by": "hook"}],
        "text": "made",
    }
    execution, files, events = play("make it", reply)
    assert files == {"out.sh": b"one\n"}
    assert (execution.text, execution.failure) == ("made", None)
    assert [event.name for event in events if event.kind is EventKind.TOOL_CALL] == ["write", "bash"]
    assert events[3].text == "done\n"
    assert execution.trajectory
    assert [(block.tool, block.by) for block in execution.trajectory.blocked or ()] == [("Write", "hook")]


def test_the_first_reply_that_fits_counts() -> None:
    """A reply for the arm with the skill comes before one for any arm; prompts that none fits are repeated."""
    replies = [{"match": "x", "skill": "pdf", "text": "with"}, {"match": "x", "text": "without"}]
    assert play("x", *replies, skills=("pdf",))[0].text == "with"
    assert play("x", *replies)[0].text == "without"
    assert play("y", *replies)[0].text == "[mock without-skill response] y"


def test_a_script_may_say_which_skills_fire() -> None:
    """Also none although the prompt names one; asking for one that is not there fires nothing and is an error."""
    execution, _, _ = play("pdf", {"fires": []}, skills=("pdf",))
    assert execution.trajectory
    assert execution.trajectory.skills_fired == ()
    execution, _, events = play("hello", {"fires": ["pdf", "gone"]}, skills=("pdf",))
    assert execution.trajectory
    assert [fired.name for fired in execution.trajectory.skills_fired or ()] == ["pdf"]
    assert [event.is_error for event in events if event.kind is EventKind.TOOL_RESULT] == [False, True]


@pytest.mark.parametrize(
    ("kind", "blame", "retryable"),
    [
        (FailureClass.MAX_TURNS, Blame.AGENT_LIMIT, False),
        (FailureClass.TIMEOUT, Blame.AGENT_LIMIT, False),
        (FailureClass.AUTH, Blame.INFRASTRUCTURE, False),
        (FailureClass.RATE_LIMITED, Blame.INFRASTRUCTURE, True),
        (FailureClass.SERVER, Blame.INFRASTRUCTURE, True),
    ],
)
def test_a_script_may_fail(kind: FailureClass, blame: Blame, retryable: bool) -> None:
    """With any class of failure, blamed and retried as it is for real agents; what was done before is still told."""
    execution, files, _ = play("x", {"files": {"a": "1"}, "fail": kind.value, "text": "never said"})
    assert execution.failure
    assert (execution.failure.failure_class, execution.failure.blame) == (kind, blame)
    assert execution.failure.retryable is retryable
    assert execution.text is None
    assert files == {"a": b"1"}


def test_the_time_limit_holds_for_its_command() -> None:
    """A command that takes longer is ended, and the agent has run out of time."""
    execution, _, _ = play("x", {"run": "sleep 60"}, limits=Limits(timeout_s=0.05))
    assert execution.failure
    assert (execution.failure.failure_class, execution.failure.blame) == (FailureClass.TIMEOUT, Blame.AGENT_LIMIT)


def test_what_goes_wrong_in_a_tool_is_told() -> None:
    """A failing command and a file where there is a folder end no session; they are results that are errors."""
    execution, _, events = play("x", {"files": {".agents/skills/pdf": "no"}, "run": "exit 3"}, skills=("pdf",))
    assert execution.failure is None
    assert [event.is_error for event in events if event.kind is EventKind.TOOL_RESULT] == [True, True]


def test_a_script_can_be_a_file(tmp_path: Path) -> None:
    """Its replies come after those of the options; the identity covers both."""
    script = tmp_path / "mock.yaml"
    script.write_text("replies:\n- match: a\n  text: from the file\n")
    engine = make({"script": str(script), "replies": [{"match": "b", "text": "from the options"}]})
    plain = make({"replies": [{"match": "b", "text": "from the options"}]})
    assert engine.identity(None).digest != plain.identity(None).digest
    assert engine.identity("m").model == "m"

    async def ask(prompt: str) -> str | None:
        async with TemporarySandbox().open(SandboxSpec(label="mock")) as workspace:
            request = RunRequest(trial_id="t", case_id="c", prompt=prompt, model=None, limits=Limits())
            return (await engine.run(request, workspace, lambda _event: None)).text

    assert asyncio.run(ask("a")) == "from the file"
    assert asyncio.run(ask("a b")) == "from the options"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("replies:\n- mach: a\n", "mach"),
        ("replies:\n- match: '('\n", "regular expression"),
        ("replies:\n- files: {../out: x}\n", "stay inside"),
        ("replies:\n- files: {out: 5}\n", "must be text"),
        ("replies: [", "mock.yaml"),
    ],
)
def test_a_wrong_script_is_refused_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    """Before anything runs, naming the file."""
    script = tmp_path / "mock.yaml"
    script.write_text(text)
    with pytest.raises(PluginError) as raised:
        make({"script": str(script)})
    assert words in str(raised.value)
    assert all("mock.yaml" in str(problem) for problem in raised.value.problems)


def test_a_missing_script_is_refused(tmp_path: Path) -> None:
    """A script that is not there is a problem that names it."""
    with pytest.raises(PluginError, match=r"gone\.yaml"):
        make({"script": str(tmp_path / "gone.yaml")})
