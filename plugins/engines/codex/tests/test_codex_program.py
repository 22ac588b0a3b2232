"""The real `codex`, driven by the engine, against scripted models."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from skillgauge.api import Blame, EventKind, FailureClass, Limits
from skillgauge_engine_codex.engine import CodexEngine
from skillgauge_engine_codex.options import ACCESS_TOKEN, AZURE_ENDPOINT, AZURE_KEY, CodexOptions
from skillgauge_engine_codex.plugin import skillgauge_engines
from skillgauge_testkit import (
    ModelFault,
    ModelReply,
    ModelServer,
    ToolCall,
    in_turns,
    run_shell,
    use_skill,
    with_skill,
    write_file,
)
from skillgauge_testkit.agent_contract import check_agent_program
from skillgauge_testkit.agent_sessions import FRONT_MATTERS, KEY, Played, failed_as, play_until_late, skill_text

from .conftest import Play

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

MODELS = [
    pytest.param("gpt-5", id="patches by the shell"),
    pytest.param("gpt-5.5", id="patches by a tool"),
    pytest.param("gpt-6.1-sol", id="calls tools from code"),
]
BLOCK = {"matcher": ".*", "hooks": [{"type": "command", "command": "echo 'not here' >&2; exit 2"}]}
FOR_LOGINS = {"features.enable_request_compression": False}


def fired(played: Played) -> list[tuple[str, str]]:
    """Skills that fired, and how."""
    trajectory = played.execution.trajectory
    assert trajectory is not None
    return [(one.name, one.how) for one in trajectory.skills_fired or ()]


def test_contract(agent_program: Callable[[str], Path]) -> None:
    """The engine keeps the contract of its kind with the real program."""
    (provider,) = skillgauge_engines()
    program = str(agent_program("codex"))

    def make(server: ModelServer) -> CodexEngine:
        return CodexEngine(CodexOptions(program=program, base_url=f"{server.url}/v1", api_retries=0))

    check_agent_program(make, provider.traits, model="gpt-5.5")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.requirement("UA-FLOW-005", "BF-OUT-003")
def test_what_a_session_leaves(play: Play, model: str) -> None:
    """Files, calls with results, thoughts, answer, the server's own token counts, and the stream as it was."""
    script = in_turns(
        ModelReply("I write.", 1000, 20, thinking="plan", thinking_tokens=5, tools=[write_file("hello.txt", "hi\n")]),
        ModelReply("", 100, 20, cache_read_tokens=900, tools=[run_shell("cat hello.txt"), run_shell("exit 3")]),
        ModelReply("Done.", 50, 6, cache_write_tokens=30),
    )
    played = play(script, model=model)
    execution, trajectory = played.execution, played.execution.trajectory
    assert execution.failure is None
    assert trajectory is not None
    assert played.files == {"hello.txt": b"hi\n"}
    assert (execution.text, execution.exit_code, execution.sandbox) == ("Done.", 0, "temporary/none")
    calls = [event for event in trajectory.events if event.kind is EventKind.TOOL_CALL]
    results = {event.call_id: event for event in trajectory.events if event.kind is EventKind.TOOL_RESULT}
    (good,) = {results[call.call_id].is_error for call in calls if "cat hello.txt" in str(call.data)}
    (bad,) = {results[call.call_id].is_error for call in calls if "exit 3" in str(call.data)}
    assert (good, bad) == (False, True)
    assert any("hi" in result.text for result in results.values())
    texts = [event.text for event in trajectory.events if event.kind is EventKind.MESSAGE]
    assert texts == ["I write.", "Done."]
    assert [event.text for event in trajectory.events if event.kind is EventKind.REASONING] == ["plan"]
    assert [event.text for event in played.events if event.kind is EventKind.MESSAGE] == texts
    (session,) = played.server.sessions.values()
    usage, told = execution.usage, session.tokens
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (told.input, told.output)
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (told.cache_read, told.cache_write)
    assert (usage.reasoning_tokens, usage.cost_usd, usage.cost_basis) == (told.thinking, None, None)
    assert (trajectory.model_calls, trajectory.session_id, trajectory.model) == (3, session.name, model)
    assert trajectory.engine_version == "0.171.0"
    assert trajectory.raw is not None
    assert json.loads(trajectory.raw.splitlines()[-1])["type"] == "turn.completed"
    assert played.server.others == []  # nothing but the model is asked for anything
    assert execution.notes == ()


@pytest.mark.parametrize("fields", FRONT_MATTERS.values(), ids=FRONT_MATTERS)
def test_a_skill_is_loaded_whatever_its_front_matter_says(play: Play, fields: str) -> None:
    """Tools and hooks in the front matter change nothing: the skill is read, and none of its hooks runs."""
    shell = ModelReply(tools=[run_shell("ls hooked.txt")])
    script = in_turns(ModelReply(tools=[use_skill("greet-well")]), shell, ModelReply("ok"))
    played = play(script, skills=["greet-well"], text=skill_text(fields))
    assert played.execution.failure is None
    assert fired(played) == [("greet-well", "read")]
    assert "hooked.txt" not in played.files
    assert played.execution.trajectory is not None
    assert "greet-well" in (played.execution.trajectory.skills_offered or ())
    assert played.execution.trajectory.skills_refused is None  # it reads files, and cannot tell a load from any other


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.requirement("SE-ARM-004")
def test_skill_makes_the_difference(play: Play, model: str) -> None:
    """A skill in the agent's own folder is offered and fires; without it neither happens, and nothing else differs."""
    script = with_skill("greet-well", ModelReply("ZEBRA"), ModelReply("hello"))
    skilled, unskilled = play(script, model=model, skills=["greet-well"]), play(script, model=model)
    assert (skilled.execution.text, unskilled.execution.text) == ("ZEBRA", "hello")
    assert (fired(skilled), fired(unskilled)) == ([("greet-well", "read")], [])
    offered = [one.execution.trajectory.skills_offered for one in (skilled, unskilled)]  # type: ignore[union-attr]
    assert offered == [("greet-well",), ()]
    tools = [list(one.server.requests[0].tools) for one in (skilled, unskilled)]
    assert tools[0] == tools[1]
    assert "Say ZEBRA." not in skilled.server.requests[0].text  # the body is not pasted
    assert "Say ZEBRA." in skilled.server.requests[1].results[0]


@pytest.mark.parametrize(
    ("command", "is_fired"),
    [
        ("cd .agents/skills/greet-well && cat SKILL.md", True),
        ("head -6 .agents/skills/*/SKILL.md", True),
        ("cat .agents/skills/other/SKILL.md", False),
        ("cat no-such-file .agents/skills/greet-well/SKILL.md", True),
        ("find . -name SKILL.md -exec cat {} +", True),
        ("ls -la .agents/skills/greet-well/SKILL.md; wc -l .agents/skills/greet-well/SKILL.md", False),
        ("cp .agents/skills/greet-well/SKILL.md copy.md", False),
    ],
)
def test_how_a_skill_fires(play: Play, command: str, is_fired: bool) -> None:
    """Reading its file counts, by whatever command, if its text came back; naming it does not (E-A6)."""
    played = play(in_turns(ModelReply(tools=[run_shell(command)]), ModelReply("ok")), skills=["greet-well"])
    assert played.execution.failure is None
    assert fired(played) == ([("greet-well", "read")] if is_fired else [])


def test_skill_by_name_in_the_prompt(play: Play) -> None:
    """`$name` puts the skill into the request, which only the session file tells."""
    played = play([ModelReply("ok")], "use $greet-well for Ann", skills=["greet-well"])
    assert "Say ZEBRA." in played.server.requests[0].text
    assert fired(played) == [("greet-well", "explicit")]


@pytest.mark.parametrize("model", MODELS)
def test_blocked_by_a_hook(play: Play, model: str) -> None:
    """A hook's block is told, and is no failure."""
    script = in_turns(ModelReply(tools=[run_shell("echo x > no.txt")]), ModelReply("ok"))
    played = play(script, model=model, hooks={"hooks": {"PreToolUse": [BLOCK]}})
    assert played.execution.failure is None
    assert played.execution.trajectory is not None
    assert "no.txt" not in played.files
    assert [(one.by, one.event) for one in played.execution.trajectory.blocked or ()] == [("hook", "PreToolUse")]


@pytest.mark.parametrize("command", ["echo x > /etc/skillgauge-no", "echo 'Read-only file system'; exit 1"])
def test_a_block_that_nobody_can_tell(play: Play, command: str) -> None:
    """A command that the sandbox stopped leaves the same text as one that prints it: blocks are unknown (E-A12)."""
    played = play(in_turns(ModelReply(tools=[run_shell(command)]), ModelReply("ok")))
    assert played.execution.trajectory is not None
    assert (played.execution.failure, played.execution.trajectory.blocked) == (None, None)


def test_a_patch_that_the_sandbox_rejects(play: Play) -> None:
    """The program says itself that it rejects a change of files outside of the workspace."""
    patch = "*** Begin Patch\n*** Add File: /etc/skillgauge-no\n+x\n*** End Patch"
    script = in_turns(ModelReply(tools=[ToolCall("apply_patch", {"input": patch})]), ModelReply("ok"))
    trajectory = play(script).execution.trajectory
    assert trajectory is not None
    assert [(one.tool, one.by) for one in trajectory.blocked or ()] == [("apply_patch", "sandbox")]


def test_calls_that_the_stream_loses(play: Play) -> None:
    """Calls that fail at once, of a tool that is not there too, are in the record; the session goes on."""
    tools = [run_shell("echo x > /etc/skillgauge-no"), ToolCall("NoSuch", {}), run_shell("false")]
    played = play(in_turns(*(ModelReply(tools=[tool]) for tool in tools), ModelReply("ok")))
    assert played.execution.trajectory is not None
    results = [event for event in played.execution.trajectory.events if event.kind is EventKind.TOOL_RESULT]
    assert [(event.name, event.is_error) for event in results] == [
        ("exec_command", True),
        ("NoSuch", True),
        ("exec_command", True),
    ]
    assert (played.execution.failure, played.execution.text) == (None, "ok")


@pytest.mark.parametrize(
    ("reply", "kind", "retryable"),
    [
        (ModelReply(fault=ModelFault.UNAUTHORIZED), FailureClass.AUTH, False),
        (ModelReply(fault=ModelFault.FORBIDDEN), FailureClass.AUTH, False),
        (ModelReply(fault=ModelFault.NOT_FOUND), FailureClass.MODEL_NOT_FOUND, False),
        (ModelReply(fault=ModelFault.BAD_REQUEST), FailureClass.BAD_REQUEST, False),
        (ModelReply(fault=ModelFault.BAD_REQUEST, message="insufficient_quota"), FailureClass.BUDGET, False),
        (ModelReply(fault=ModelFault.TOO_LONG), FailureClass.CONTEXT_TOO_LONG, False),
        (ModelReply(fault=ModelFault.RATE_LIMITED), FailureClass.RATE_LIMITED, True),
        (ModelReply(fault=ModelFault.SERVER_ERROR), FailureClass.SERVER, True),
        (ModelReply(fault=ModelFault.OVERLOADED), FailureClass.OVERLOADED, True),
        (ModelReply(fault=ModelFault.STREAM_ERROR), FailureClass.NETWORK, True),
        (ModelReply(fault=ModelFault.DROPPED), FailureClass.NETWORK, True),
        (ModelReply("half", fault=ModelFault.CUT_BODY), FailureClass.NETWORK, True),
        (ModelReply(fault=ModelFault.GARBAGE), FailureClass.NETWORK, True),
        (ModelReply(fault=ModelFault.NOISE), FailureClass.NETWORK, True),
    ],
    ids=lambda value: value.fault + value.message[:4] if isinstance(value, ModelReply) else None,
)
def test_every_fault_has_its_class(play: Play, reply: ModelReply, kind: FailureClass, retryable: bool) -> None:
    """What the service does wrong is never the skill's failure; the address that was asked is not in the message."""
    played = play(lambda _request: reply)
    failure = played.execution.failure
    assert failure is not None
    assert (failure.failure_class, failure.blame, failure.retryable) == (kind, Blame.INFRASTRUCTURE, retryable)
    assert failure.message
    assert played.server.url not in failure.message
    assert played.execution.text is None
    assert played.execution.usage is None


@pytest.mark.parametrize(
    "script",
    [
        [ModelReply(fault=ModelFault.REFUSED)],
        [ModelReply("")],
        [ModelReply("I begin.", tools=[run_shell("true")]), ModelReply(fault=ModelFault.REFUSED)],
    ],
    ids=["refusal", "empty", "refusal after some work"],
)
def test_no_answer(play: Play, script: list[ModelReply]) -> None:
    """The program does not tell a refusal from an answer without words; neither is graded, and both are paid (E-A7)."""
    execution = play(script).execution
    assert execution.failure is not None
    assert (execution.failure.failure_class, execution.failure.blame) == (FailureClass.REFUSED, Blame.INFRASTRUCTURE)
    assert execution.text is None
    assert execution.usage is not None


def test_a_filter_is_paid_once(play: Play) -> None:
    """An answer that a filter cut off is a refusal, which the program must not ask for again (E-A7)."""
    cut = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "id": "r", "output": []}
    event = {"type": "response.incomplete", "response": cut}
    with event_stream([event]) as (url, asked):
        execution = play([], base_url=f"{url}/v1", api_retries=2).execution
    assert execution.failure is not None
    assert (execution.failure.failure_class, execution.failure.retryable) == (FailureClass.REFUSED, False)
    assert len(asked) == 1


@pytest.mark.parametrize(
    "fault",
    [
        ModelFault.SERVER_ERROR,
        ModelFault.OVERLOADED,
        ModelFault.DROPPED,
        ModelFault.CUT_BODY,
        ModelFault.STREAM_ERROR,
        ModelFault.RATE_LIMITED,
    ],
)
def test_the_service_is_asked_again_as_often_as_the_option_says(play: Play, fault: ModelFault) -> None:
    """The program's two counters, of requests and of streams, would multiply; a 429 it never asks again."""
    played = play(lambda _request: ModelReply(fault=fault), api_retries=2)
    assert played.execution.failure is not None
    assert len(played.server.requests) == (1 if fault is ModelFault.RATE_LIMITED else 3)


def test_no_credit(play: Play) -> None:
    """The program's own word for it is known (E-A8)."""
    error = {"type": "insufficient_quota", "code": "insufficient_quota", "message": "You exceeded your current quota"}
    played = play(lambda _request: ModelReply(fault=ModelFault.RATE_LIMITED, document={"error": error}))
    assert played.execution.failure is not None
    assert played.execution.failure.failure_class is FailureClass.BUDGET


@pytest.mark.parametrize(
    ("script", "kind", "blame"),
    [
        ([ModelReply("late", delay_s=60)], FailureClass.NETWORK, Blame.INFRASTRUCTURE),
        (
            [ModelReply("I begin.", tools=[run_shell("true")]), ModelReply("late", delay_s=60)],
            FailureClass.NETWORK,
            Blame.INFRASTRUCTURE,
        ),
        ([ModelReply(tools=[run_shell("sleep 60")])], FailureClass.TIMEOUT, Blame.AGENT_LIMIT),
    ],
    ids=["at once", "after some work", "a command"],
)
def test_whose_time_ran_out(play: Play, script: list[ModelReply], kind: FailureClass, blame: Blame) -> None:
    """A service that does not answer is not the agent's fault, a command that takes too long is (E-A3)."""
    ends = failed_as(kind, blame)
    played = play_until_late(
        lambda limits: play(script, limits=limits),
        lambda played: len(played.server.requests) >= len(script) and ends(played),
    )
    assert len(played.server.requests) >= len(script)
    assert ends(played), played.execution.failure


def test_a_program_that_hangs_after_its_end(play: Play, tmp_path: Path, agent_program: Callable[[str], Path]) -> None:
    """The answer of a session that is over stays (E-A4)."""
    hanging = tmp_path / "codex"
    hanging.write_text(f'#!/bin/sh\n{agent_program("codex")} "$@"\n[ "$1" = exec ] && exec sleep 300\n')
    hanging.chmod(0o755)
    played = play_until_late(
        lambda limits: play([ModelReply("done")], program=str(hanging), limits=limits),
        lambda played: played.execution.failure is None,
    )
    execution = played.execution
    assert (execution.failure, execution.text) == (None, "done")
    assert any("did not exit" in note for note in execution.notes)


def test_scratch_space_is_private(play: Play) -> None:
    """Commands have a TMPDIR of their own; /tmp is shared with other sessions, so nothing can be written to it."""
    command = 'touch "$TMPDIR/here" && echo private; touch /tmp/skillgauge-shared 2>/dev/null || echo not shared'
    played = play(in_turns(ModelReply("", 100, 5, tools=[run_shell(command)]), ModelReply("done")))
    assert played.execution.trajectory
    (result,) = [one for one in played.execution.trajectory.events if one.kind is EventKind.TOOL_RESULT]
    assert result.text.split("\n")[-3:] == ["private", "not shared", ""]


def test_no_network(play: Play) -> None:
    """The program would wait for a network for ever; it is ended, and nobody's skill is blamed."""
    with ModelServer() as server:
        nowhere = f"{server.url}/v1"
    played = play([], base_url=nowhere)
    failure = played.execution.failure
    assert failure is not None
    assert (failure.failure_class, failure.blame) == (FailureClass.NETWORK, Blame.INFRASTRUCTURE)
    assert "waiting for network" in failure.message


@pytest.mark.requirement("UA-FLOW-004")
def test_time_limit(play: Play) -> None:
    """Time that runs out is the agent's limit; what was used until then is known, and that turns are not limited."""

    def play_in(limits: Limits) -> Played:
        assert limits.timeout_s is not None
        working = ModelReply("", 100, 5, tools=[run_shell(f"sleep {limits.timeout_s * 0.6:.1f}")])
        script = in_turns(working, ModelReply("late", delay_s=60))
        return play(script, limits=limits.model_copy(update={"max_turns": 3}))

    ends = failed_as(FailureClass.TIMEOUT, Blame.AGENT_LIMIT)
    played = play_until_late(play_in, lambda played: played.execution.usage and ends(played))
    usage = played.execution.usage
    assert ends(played), played.execution.failure
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (100, 5)
    assert any("3 turns" in note for note in played.execution.notes)


def test_key_goes_to_the_program_only(play: Play) -> None:
    """The key is in the environment of this one command; not even the agent's own commands have it."""
    script = in_turns(ModelReply(tools=[run_shell("env > env.txt")]), ModelReply(f"It is {KEY}"))
    played = play(script)
    assert {request.key for request in played.server.requests} == {KEY}
    (command,) = played.commands
    assert [name for name, value in command.env.items() if value == KEY] == ["OPENAI_API_KEY"]
    assert KEY.encode() not in played.files["env.txt"]
    assert KEY not in played.execution.model_dump_json()
    assert KEY not in "".join(event.model_dump_json() for event in played.events)
    assert played.execution.text == "It is [redacted:OPENAI_API_KEY]"


def test_relay_keeps_the_key_outside(play: Play) -> None:
    """Where the workspace relays the API, the program gets the address inside and a placeholder."""
    played = play([ModelReply("hello")], is_relayed=True)
    assert played.execution.text == "hello"
    assert KEY not in str(played.commands)
    assert KEY not in json.dumps([dict(request.headers) for request in played.server.requests])
    assert not [path for path, (_, text) in played.home.items() if KEY.encode() in text]


@pytest.mark.requirement("BF-CRED-002")
def test_codex_api_key(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second variable authenticates too."""
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("CODEX_API_KEY", KEY)
    played = play([ModelReply("hello")])
    assert played.execution.text == "hello"
    assert played.server.requests[0].key == KEY


@pytest.mark.requirement("BF-CRED-002")
def test_login_by_key(play: Play, monkeypatch: pytest.MonkeyPatch, log_in: Callable[[str], Path]) -> None:
    """Without a key the credential file, and nothing else, is copied into the private home, and removed."""
    monkeypatch.delenv("OPENAI_API_KEY")
    path = log_in(json.dumps({"auth_mode": "apikey", "OPENAI_API_KEY": KEY}))
    (path.parent / "config.toml").write_text('model = "other"\n')
    (path.parent / "AGENTS.md").write_text("the user's own instructions")
    played = play(
        [ModelReply(f"hello {KEY}")],
        at_server=False,
        prepare=lambda server: {"config": {"openai_base_url": f"{server.url}/v1", **FOR_LOGINS}},
    )
    assert played.execution.failure is None
    assert played.server.requests[0].key == KEY
    assert "the user's own instructions" not in played.server.requests[0].text
    assert ".codex/auth.json" not in played.home  # any more
    assert ".codex/config.toml" not in played.home
    assert played.execution.text == "hello [redacted:auth.json-0]"
    assert KEY not in played.execution.model_dump_json()


@pytest.mark.requirement("BF-CRED-002")
def test_login_of_a_subscription(play: Play, monkeypatch: pytest.MonkeyPatch, log_in: Callable[[str], Path]) -> None:
    """A login by browser works from its file alone."""
    monkeypatch.delenv("OPENAI_API_KEY")
    claims = {"chatgpt_plan_type": "pro", "chatgpt_account_id": "acc-1", "chatgpt_user_id": "user-1"}
    token = jwt({"exp": 4102444800, "email": "ann@example.org", "https://api.openai.com/auth": claims})
    tokens = {"id_token": token, "access_token": token, "refresh_token": "made-up-refresh-token", "account_id": "acc-1"}
    log_in(json.dumps({"auth_mode": "chatgpt", "tokens": tokens, "last_refresh": "2099-01-01T00:00:00Z"}))

    def at(server: ModelServer) -> dict[str, Any]:
        addresses = {"openai_base_url": f"{server.url}/v1", "chatgpt_base_url": f"{server.url}/backend-api/"}
        return {"config": addresses | FOR_LOGINS}

    played = play([ModelReply("hello")], at_server=False, prepare=at)
    assert played.execution.text == "hello"
    assert played.server.requests[0].key == token
    assert token not in played.execution.model_dump_json()


@pytest.mark.requirement("BF-CRED-002")
def test_access_token(play: Play, monkeypatch: pytest.MonkeyPatch, whoami: str) -> None:
    """An access token of a workspace is handed to the program, which knows what to do with it."""
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv(ACCESS_TOKEN, "at-made-up-token-0123456789")
    monkeypatch.setenv("CODEX_AUTHAPI_BASE_URL", whoami)
    monkeypatch.setenv("HTTPS_PROXY", "")
    played = play(
        [ModelReply("hello")],
        at_server=False,
        pass_env=("CODEX_AUTHAPI_BASE_URL",),
        prepare=lambda server: {
            "config": {
                "openai_base_url": f"{server.url}/v1",
                "chatgpt_base_url": f"{server.url}/backend-api/",
                **FOR_LOGINS,
            }
        },
    )
    assert played.execution.text == "hello"
    assert played.server.requests[0].key == "at-made-up-token-0123456789"


@pytest.mark.requirement("BF-CRED-003")
def test_azure(play: Play, monkeypatch: pytest.MonkeyPatch, below_openai: Callable[[str], str]) -> None:
    """A model with the prefix `azure/` is asked at Azure's endpoint, without the prefix, with Azure's key."""
    azure = "made-up-azure-key-0123456789"
    monkeypatch.setenv(AZURE_KEY, azure)

    def endpoint(server: ModelServer) -> dict[str, Any]:
        monkeypatch.setenv(AZURE_ENDPOINT, f"{below_openai(server.url)}/")
        return {}

    played = play([ModelReply("hello")], model="azure/my-deployment", at_server=False, prepare=endpoint)
    assert played.execution.text == "hello"
    (request,) = played.server.requests
    assert (request.path, request.model, request.key) == ("/v1/responses", "my-deployment", azure)
    assert KEY not in str(played.commands)


def test_any_prompt_arrives_as_it_is(play: Play) -> None:
    """Neither length nor a dash in front turns a prompt into something else."""
    prompt = "--help " + "long " * 60_000
    played = play([ModelReply("ok")], prompt)
    assert played.execution.text == "ok"
    assert prompt in played.server.requests[0].text


def test_settings_that_the_program_refuses(play: Play) -> None:
    """A program that does not start is a failure to launch, with what it said."""
    played = play([], config={"sandbox_mode": "no-such-mode"})
    failure = played.execution.failure
    assert failure is not None
    assert failure.failure_class is FailureClass.LAUNCH
    assert failure.message


def test_home_outside_of_the_temporary_folder(play: Play) -> None:
    """Its home is not below its TMPDIR, since no sandboxed command would run then."""
    played = play(in_turns(ModelReply(tools=[run_shell("echo $TMPDIR $CODEX_HOME")]), ModelReply("ok")))
    assert played.execution.trajectory is not None
    (result,) = [event for event in played.execution.trajectory.events if event.kind is EventKind.TOOL_RESULT]
    temporary, home = map(Path, result.text.split())
    assert temporary not in home.parents
    assert "under temporary dir" not in (played.execution.stderr or "")


def jwt(claims: dict[str, Any]) -> str:
    """A token as a login has it, signed by nobody."""
    parts = (json.dumps(part).encode() for part in ({"alg": "none"}, claims))
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + ".c2ln"


class Quiet(BaseHTTPRequestHandler):
    """Says nothing of what it does."""

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@contextmanager
def served(handler: type[Quiet]) -> Iterator[str]:
    """A server on loopback; its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@contextmanager
def event_stream(events: list[dict[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """A server that answers every question with the same events; its address, and the paths that were asked."""
    asked: list[str] = []

    class Handler(Quiet):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in events:
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    with served(Handler) as url:
        yield url, asked


@pytest.fixture
def whoami() -> Iterator[str]:
    """Answers whose an access token is."""

    class Handler(Quiet):
        def do_GET(self) -> None:
            said: dict[str, Any] = dict.fromkeys(("chatgpt_user_id", "chatgpt_account_id"), "someone")
            said |= {"email": "ann@example.org", "chatgpt_plan_type": "pro", "chatgpt_account_is_fedramp": False}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

    with served(Handler) as url:
        yield url


@pytest.fixture
def below_openai() -> Iterator[Callable[[str], str]]:
    """Serves a scripted model below `/openai`, as Azure does, and nowhere else."""
    target: list[str] = []

    class Handler(Quiet):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if not self.path.startswith("/openai/"):
                self.send_error(404)
                return
            asked = Request(target[0] + self.path.removeprefix("/openai"), body, dict(self.headers))
            with build_opener(ProxyHandler({})).open(asked) as answer:
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers["Content-Type"])
                self.end_headers()
                self.wfile.write(answer.read())

    with served(Handler) as url:
        yield lambda address: (target.append(address), url)[1]
