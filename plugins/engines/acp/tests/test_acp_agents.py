"""Real agents run to their end on a scripted model, and every fault ends them as a failure of its class."""

from __future__ import annotations

import asyncio
import json

import pytest

from skillgauge.api import Blame, EventKind, FailureClass, FileSpec, FiredSkill, Limits, TrajectoryEvent
from skillgauge_engine_acp.connection import Connection
from skillgauge_engine_acp.conversation import Conversation
from skillgauge_testkit import (
    ModelFault,
    ModelReply,
    ToolCall,
    in_turns,
    read_file,
    run_shell,
    use_skill,
    with_skill,
    write_file,
)
from skillgauge_testkit.agent_sessions import FRONT_MATTERS, failed_as, play_until_late, skill_text

from .conftest import FOLDERS, KEY, Played, Stage

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

ALL = pytest.mark.parametrize("stage", ["claude-agent-acp", "codex-acp", "gemini"], indirect=True)
CLAUDE = pytest.mark.parametrize("stage", ["claude-agent-acp"], indirect=True)
CODEX = pytest.mark.parametrize("stage", ["codex-acp"], indirect=True)
BOTH = pytest.mark.parametrize("stage", ["claude-agent-acp", "codex-acp"], indirect=True)
REFUSING = pytest.mark.parametrize("stage", ["claude-agent-acp", "gemini"], indirect=True)
TITLE = ModelReply("A title")


def of(events: list[TrajectoryEvent], kind: EventKind) -> list[TrajectoryEvent]:
    """The events of a kind."""
    return [event for event in events if event.kind is kind]


@ALL
def test_session(stage: Stage) -> None:
    """Files, thoughts, tool calls with their results, and the answer are told, as they happen and at the end."""
    script = in_turns(
        ModelReply("I write.", 1000, 20, thinking="a plan", thinking_tokens=5, tools=[write_file("hello.txt", "hi\n")]),
        ModelReply("", 100, 20, cache_read_tokens=900, tools=[run_shell("cat hello.txt"), run_shell("exit 3")]),
        ModelReply("Done.", 50, 6, cache_write_tokens=30),
        aside=TITLE,
    )
    played = stage.play(script)
    execution, events = played.execution, played.events
    assert execution.failure is None, execution
    assert (execution.text, played.files) == ("Done.", {"hello.txt": b"hi\n"})
    assert execution.trajectory is not None
    assert list(execution.trajectory.events) == events
    assert [event.text for event in of(events, EventKind.MESSAGE)] == ["I write.", "Done."]
    assert "a plan" in of(events, EventKind.REASONING)[0].text
    calls, results = of(events, EventKind.TOOL_CALL), of(events, EventKind.TOOL_RESULT)
    assert len(calls) == len(results) == 3
    assert {call.call_id for call in calls} == {result.call_id for result in results}
    assert all(call.name and call.data for call in calls)
    assert {request.key for request in played.server.requests} == {KEY}
    assert played.server.others == []
    assert KEY not in execution.model_dump_json()
    assert execution.trajectory.raw


@BOTH
def test_usage_is_what_the_server_counted(stage: Stage) -> None:
    """Tokens of each kind agree, with what a program asks beside the session."""
    script = in_turns(
        ModelReply("", 1000, 20, thinking="plan", thinking_tokens=5, tools=[run_shell("true")]),
        ModelReply("Done.", 50, 6, cache_read_tokens=900, cache_write_tokens=30),
        aside=TITLE,
    )
    played = stage.play(script)
    usage = played.execution.usage
    assert usage is not None
    told = [session.tokens for session in played.server.sessions.values()]
    assert usage.input_tokens == sum(one.input for one in told)
    assert usage.cache_read_tokens == sum(one.cache_read for one in told)
    assert usage.cache_write_tokens == sum(one.cache_write for one in told)
    assert usage.output_tokens == sum(one.output for one in told)
    assert usage.reasoning_tokens == 5
    assert (usage.cost_usd is not None) is (stage.name == "claude-agent-acp")


@CODEX
def test_no_session_beside_it(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The adapter is given a title, so it holds no second session to find one, which nobody would count (E-A10)."""
    prompt = Conversation._prompt

    async def and_linger(conversation: Conversation, connection: Connection) -> None:
        await prompt(conversation, connection)
        await asyncio.sleep(2)  # long enough for the adapter to begin another session

    monkeypatch.setattr(Conversation, "_prompt", and_linger)
    played = stage.play(lambda _request: ModelReply("Done.", 50, 6))
    assert played.execution.failure is None
    assert len(played.server.requests) == 1
    assert played.execution.usage is not None
    assert played.execution.usage.input_tokens == 50


@ALL
def test_skill_makes_the_difference(stage: Stage) -> None:
    """Where the skill is there it fires; where it is not, nothing does; who tells what was offered tells the truth."""
    script = with_skill("greet-well", ModelReply("ZEBRA"), ModelReply("hello"))

    def answer(request):  # type: ignore[no-untyped-def]
        return script(request) if request.tools else TITLE

    skilled, unskilled = (stage.play(answer, has_skill=has).execution for has in (True, False))
    assert (skilled.text, unskilled.text) == ("ZEBRA", "hello")
    assert skilled.trajectory is not None
    assert unskilled.trajectory is not None
    how = "read" if stage.name == "codex-acp" else "invoked"
    assert skilled.trajectory.skills_fired == (FiredSkill(name="greet-well", how=how),)
    assert unskilled.trajectory.skills_fired == ()
    if stage.name == "claude-agent-acp":
        assert "greet-well" in (skilled.trajectory.skills_offered or ())
        assert "greet-well" not in (unskilled.trajectory.skills_offered or ("greet-well",))
    else:
        assert skilled.trajectory.skills_offered is None


@ALL
@pytest.mark.parametrize("fields", FRONT_MATTERS.values(), ids=FRONT_MATTERS)
def test_a_skill_is_loaded_whatever_its_front_matter_says(stage: Stage, fields: str) -> None:
    """A skill that asks for tools or hooks is loaded like any other; a hook runs with Claude Code alone."""
    shell = ModelReply(tools=[run_shell("ls hooked.txt")])
    script = in_turns(ModelReply(tools=[use_skill("greet-well")]), shell, ModelReply("ok"), aside=TITLE)
    played = stage.play(script, has_skill=True, skill=skill_text(fields))
    assert played.execution.failure is None
    assert played.execution.trajectory is not None
    how = "read" if stage.name == "codex-acp" else "invoked"
    assert played.execution.trajectory.skills_fired == (FiredSkill(name="greet-well", how=how),)
    assert played.execution.trajectory.skills_refused == (None if stage.name == "codex-acp" else ())
    runs_hook = stage.name == "claude-agent-acp" and fields == FRONT_MATTERS["hooks"]
    assert ("hooked.txt" in played.files) is runs_hook


@REFUSING
def test_a_skill_that_may_not_be_loaded_is_reported(stage: Stage) -> None:
    """With permissions rejected the skill is named, with the reason and the option that helps."""
    script = in_turns(ModelReply(tools=[use_skill("greet-well")]), ModelReply("I may not."), aside=TITLE)
    trajectory = stage.play(script, has_skill=True, permissions="reject").execution.trajectory
    assert trajectory is not None
    assert trajectory.skills_fired == ()
    (refusal,) = trajectory.skills_refused or ()
    assert refusal.name == "greet-well"
    assert "permission" in refusal.reason
    assert "option `permissions`" in refusal.hint


@CLAUDE
@pytest.mark.parametrize("rule", ["Skill", "Skill(greet-well)"])
def test_a_workspace_that_denies_the_tool_is_reported(stage: Stage, rule: str) -> None:
    """Settings among the files of the case keep the skill from the agent, also where it cannot ask for it."""
    call = ModelReply(tools=[ToolCall("Skill", {"skill": "greet-well"})])
    settings = FileSpec(path=".claude/settings.json", text=json.dumps({"permissions": {"deny": [rule]}}))
    script = in_turns(call, ModelReply("ok"), aside=TITLE)
    trajectory = stage.play(script, has_skill=True, files=[settings]).execution.trajectory
    assert trajectory is not None
    (refusal,) = trajectory.skills_refused or ()
    assert refusal.name == "greet-well"
    assert ".claude/settings.json" in refusal.hint
    assert ("greet-well" in (trajectory.skills_offered or ())) is (rule != "Skill")


@CLAUDE
def test_skills_for_the_model_or_for_users_alone(stage: Stage) -> None:
    """A skill that only the model may use is offered; one that only users may call is refused to the model."""
    script = in_turns(ModelReply("ok"), aside=TITLE)
    fields = ("user-invocable: false\n", "disable-model-invocation: true\n")
    played = [stage.play(script, has_skill=True, skill=skill_text(text)).execution.trajectory for text in fields]
    assert all(played)
    offered = ["greet-well" in (one.skills_offered or ()) for one in played if one]
    refused = [[skill.name for skill in one.skills_refused or ()] for one in played if one]
    assert (offered, refused) == ([True, False], [[], ["greet-well"]])


@ALL
def test_reading_the_file_of_a_skill_is_another_way_to_fire(stage: Stage) -> None:
    """A tool that reads SKILL.md counts as reading."""
    path = f"{FOLDERS[stage.name]}/greet-well/SKILL.md"
    script = in_turns(ModelReply(tools=[read_file(path)]), ModelReply("ZEBRA"), aside=TITLE)
    trajectory = stage.play(script, has_skill=True).execution.trajectory
    assert trajectory is not None
    assert trajectory.skills_fired == (FiredSkill(name="greet-well", how="read"),)


@ALL
@pytest.mark.parametrize(
    ("command", "is_read"), [("cat {}", True), ("ls -la {}; wc -l {}", False), ("cp {} copy.md", False)]
)
def test_a_command_reads_a_skill_if_its_text_came_back(stage: Stage, command: str, is_read: bool) -> None:
    """To name the file is not to read it (E-A6); nobody knows it of an agent that does not tell what commands print."""
    line = command.replace("{}", f"{FOLDERS[stage.name]}/greet-well/SKILL.md")
    script = in_turns(ModelReply(tools=[run_shell(line)]), ModelReply("ok"), aside=TITLE)
    trajectory = stage.play(script, has_skill=True).execution.trajectory
    assert trajectory is not None
    known = (FiredSkill(name="greet-well", how="read"),) if is_read else ()
    assert trajectory.skills_fired == (None if stage.name == "gemini" else known)


@ALL
def test_no_answer(stage: Stage) -> None:
    """An answer without a word is none (E-A7)."""
    failure = stage.play(lambda _request: ModelReply("")).execution.failure
    assert failure is not None
    assert failure.blame is Blame.INFRASTRUCTURE


@CODEX
def test_no_credit(stage: Stage) -> None:
    """The program's own word for it is known (E-A8)."""
    error = {"type": "insufficient_quota", "code": "insufficient_quota", "message": "You exceeded your current quota"}
    reply = ModelReply(fault=ModelFault.RATE_LIMITED, document={"error": error})
    failure = stage.play(lambda _request: reply).execution.failure
    assert failure is not None
    assert failure.failure_class is FailureClass.BUDGET


@CLAUDE
def test_rejected_call_is_blocked(stage: Stage) -> None:
    """With permissions rejected the file is not written, and the call is told as blocked by permission."""
    script = in_turns(ModelReply(tools=[write_file("hello.txt", "hi\n")]), ModelReply("I may not."), aside=TITLE)
    played = stage.play(script, permissions="reject")
    assert played.files == {}
    trajectory = played.execution.trajectory
    assert trajectory is not None
    assert trajectory.blocked is not None
    assert [(block.tool, block.by) for block in trajectory.blocked] == [("Write", "permission")]
    assert played.execution.text == "I may not."


@CLAUDE
def test_unknown_skill_does_not_fire(stage: Stage) -> None:
    """The call of a skill that is not there loads nothing."""
    script = in_turns(ModelReply(tools=[use_skill("no-such-skill")]), ModelReply("None."), aside=TITLE)
    trajectory = stage.play(script, has_skill=True).execution.trajectory
    assert trajectory is not None
    assert trajectory.skills_fired == ()


@CLAUDE
def test_limit_of_turns(stage: Stage) -> None:
    """An agent that can be held to a limit of turns is, and that is the agent's own limit."""
    script = in_turns(*[ModelReply(tools=[run_shell("true")])] * 4, aside=TITLE)
    failure = stage.play(script, limits=Limits(max_turns=2)).execution.failure
    assert failure is not None
    assert (failure.failure_class, failure.blame) == (FailureClass.MAX_TURNS, Blame.AGENT_LIMIT)


FAULTS = [
    (ModelFault.BAD_REQUEST, {FailureClass.BAD_REQUEST}),
    (ModelFault.TOO_LONG, {FailureClass.CONTEXT_TOO_LONG}),
    (ModelFault.UNAUTHORIZED, {FailureClass.AUTH}),
    (ModelFault.NOT_FOUND, {FailureClass.MODEL_NOT_FOUND}),
    (ModelFault.RATE_LIMITED, {FailureClass.RATE_LIMITED}),
    (ModelFault.SERVER_ERROR, {FailureClass.SERVER}),
    (ModelFault.OVERLOADED, {FailureClass.OVERLOADED}),
    (ModelFault.DROPPED, {FailureClass.NETWORK, FailureClass.SERVER}),
]


@BOTH
@pytest.mark.parametrize(("fault", "classes"), FAULTS)
def test_faults(stage: Stage, fault: ModelFault, classes: set[FailureClass]) -> None:
    """Each is an error of its class, and nobody's skill is blamed."""
    message = "" if fault is ModelFault.TOO_LONG else "no luck"  # of that one the words decide
    execution = stage.play(lambda _request: ModelReply(fault=fault, message=message)).execution
    assert execution.failure is not None, execution
    assert execution.failure.failure_class in classes, execution.failure
    assert execution.failure.blame is Blame.INFRASTRUCTURE
    assert execution.text is None
    assert "127.0.0.1" not in execution.failure.message or stage.name != "codex-acp"


@CLAUDE
def test_refusal(stage: Stage) -> None:
    """A model that refuses is told apart."""
    failure = stage.play(lambda _request: ModelReply("no", fault=ModelFault.REFUSED)).execution.failure
    assert failure is not None
    assert failure.failure_class is FailureClass.REFUSED


@ALL
def test_a_model_that_does_not_answer_in_time(stage: Stage) -> None:
    """The time is used up, and not by the agent (E-A3)."""

    def play(limits: Limits) -> Played:
        return stage.play(in_turns(ModelReply("late", delay_s=60.0), aside=TITLE), limits=limits)

    ends = failed_as(FailureClass.NETWORK, Blame.INFRASTRUCTURE)
    played = play_until_late(play, lambda played: played.server.requests and ends(played))
    assert played.server.requests
    assert ends(played), played.execution.failure


# Ended in the middle of a command, codex-acp leaves folders in /tmp, and other sessions would find them above them.
@REFUSING
def test_limit_of_time(stage: Stage) -> None:
    """A session that takes too long is stopped."""
    working = ModelReply(tools=[run_shell("tail -f /dev/null")])

    def play(limits: Limits) -> Played:
        return stage.play(in_turns(working, ModelReply("ok"), aside=TITLE), limits=limits)

    ends = failed_as(FailureClass.TIMEOUT, Blame.AGENT_LIMIT)
    played = play_until_late(play, ends)
    assert ends(played), played.execution.failure
