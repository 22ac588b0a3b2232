"""Scripts that react to what an agent offers, and sessions that are kept apart."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from skillgauge_testkit import (
    ModelFault,
    ModelReply,
    ModelRequest,
    ModelServer,
    ToolCall,
    by_prompt,
    in_turns,
    read_file,
    run_shell,
    use_skill,
    with_skill,
    write_file,
)
from skillgauge_testkit.leftovers import leaves_nothing

from .conftest import BODIES, PATHS, ask

TOOL = {"type": "object", "properties": {}}
CLAUDE_LIST = """<system-reminder>
The following skills are available for use with the Skill tool:

- greet-well: Says hello: the proper way (file: no path of it)
- kit:plan: Plans
- bare
</system-reminder>"""
CODEX_LIST = """<skills_instructions>
## Skills
- not-listed: this is a rule
### Skill roots
- `r0` = `/w/.agents/skills`
### Available skills
- greet-well: Says hello (file: r0/greet-well/SKILL.md)
- far: Elsewhere (file: /far/SKILL.md)
</skills_instructions>
- after: the end"""
TAGGED_LIST = """<available_skills><skill>
  <name>greet-well</name> <description>x</description> <location>/w/greet-well/SKILL.md</location>
</skill><skill><name> plain </name><description>y</description></skill></available_skills>"""


def schema(*names: str, **more: Any) -> dict[str, Any]:
    """JSON schema of a tool's arguments."""
    return {"type": "object", "properties": {**{name: {"type": "string"} for name in names}, **more}}


def anthropic(prompt: str = "hello", *said: dict[str, Any], tools: dict[str, Any] | None = None) -> dict[str, Any]:
    """A request of the Anthropic API, with a listing of skills in front of the prompt."""
    begin = {"role": "user", "content": [{"type": "text", "text": CLAUDE_LIST}, {"type": "text", "text": prompt}]}
    offered = [{"name": name, "input_schema": one} for name, one in (tools or {}).items()]
    return {"model": "m-1", "messages": [begin, *said], "tools": offered}


def asked(body: object, dialect: str = "anthropic") -> ModelRequest:
    """How a server sees a request."""
    with ModelServer([ModelReply()]) as server:
        ask(server, dialect, body)
    return server.requests[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CLAUDE_LIST, {"greet-well": "", "kit:plan": "", "bare": ""}),
        (CODEX_LIST, {"greet-well": "/w/.agents/skills/greet-well/SKILL.md", "far": "/far/SKILL.md"}),
        (TAGGED_LIST, {"greet-well": "/w/greet-well/SKILL.md", "plain": ""}),
        ("I like skills.\n- and: lists", {}),
    ],
)
def test_listed_skills(text: str, expected: dict[str, str]) -> None:
    """Names and paths are found in the lists of each kind of agent, and nothing else is taken for one."""
    assert asked({"messages": [{"role": "user", "content": text}]}).skills == expected


def test_skills_that_a_tool_offers() -> None:
    """The choices of a tool that loads a skill are skills too."""
    tool = {"name": "activate_skill", "parametersJsonSchema": schema(name={"enum": ["a", "b"]})}
    body = {**BODIES["gemini"], "tools": [{"functionDeclarations": [tool]}]}
    assert asked(body, "gemini").skills == {"a": "", "b": ""}


def test_conversations() -> None:
    """Prompt, number of turns and results of tools are told alike for every wire format."""
    call: dict[str, Any] = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "t", "input": {}}],
    }
    result = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "done"}]}
    function: dict[str, Any] = {"id": "c1", "function": {"name": "t", "arguments": "{}"}}
    requests = [
        asked(anthropic("do it", call, {"role": "user", "content": [result]})),
        asked(
            {
                "instructions": "be good",
                "input": [
                    {"role": "user", "content": [{"type": "input_text", "text": "do it"}]},
                    {"type": "reasoning", "summary": []},
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]},
                    {"type": "function_call", "call_id": "c1", "name": "t", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "c1", "output": "done"},
                ],
            },
            "openai-responses",
        ),
        asked(
            {
                "messages": [
                    {"role": "system", "content": "be good"},
                    {"role": "user", "content": "do it"},
                    {"role": "assistant", "content": None, "tool_calls": [function]},
                    {"role": "tool", "tool_call_id": "c1", "content": "done"},
                ]
            },
            "openai-chat",
        ),
        asked(
            {
                "systemInstruction": {"parts": [{"text": "be good"}]},
                "contents": [
                    {"role": "user", "parts": [{"text": "do it"}]},
                    {"role": "model", "parts": [{"text": "hm", "thought": True}, {"functionCall": {"name": "t"}}]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "t", "response": {"output": "done"}}}]},
                ],
            },
            "gemini",
        ),
    ]
    assert [request.dialect for request in requests] == list(PATHS)
    for request in requests:
        assert (request.prompt, request.turn, request.results) == ("do it", 1, ("done",)), request.dialect
    assert "be good" in requests[1].text


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({"Authorization": "Bearer k1"}, "k1"),
        ({"x-api-key": "k2"}, "k2"),
        ({"X-Goog-Api-Key": "k3"}, "k3"),
        ({}, None),
    ],
)
def test_keys(headers: dict[str, str], key: str | None) -> None:
    """The key is found in the header of each API."""
    with ModelServer([ModelReply()]) as server:
        ask(server, "anthropic", **headers)
    assert server.requests[0].key == key


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        (
            {
                "Bash": schema("command", "description"),
                "Write": schema("file_path", "content"),
                "Skill": schema("skill"),
            },
            [
                ToolCall("Bash", {"command": "ls", "description": "scripted command"}),
                ToolCall("Write", {"file_path": "d/a.txt", "content": "x\n"}),
                ToolCall("Bash", {"command": "cat a.txt", "description": "scripted command"}),
                ToolCall("Skill", {"skill": "greet-well"}),
            ],
        ),
        (
            {"bash": schema("cmd"), "read_file": schema("path"), "load_skill": schema("name")},
            [
                ToolCall("bash", {"cmd": "ls"}),
                ToolCall("bash", {"cmd": "mkdir -p d && printf %s 'x\n' > d/a.txt"}),
                ToolCall("read_file", {"path": "a.txt"}),
                ToolCall("load_skill", {"name": "greet-well"}),
            ],
        ),
        (
            {"exec_command": schema("cmd"), "skill": schema("name")},
            [
                ToolCall("exec_command", {"cmd": "ls"}),
                ToolCall(
                    "exec_command",
                    {"cmd": "apply_patch <<'PATCH'\n*** Begin Patch\n*** Add File: d/a.txt\n+x\n*** End Patch\nPATCH"},
                ),
                ToolCall("exec_command", {"cmd": "cat a.txt"}),
                ToolCall("skill", {"name": "greet-well"}),
            ],
        ),
        (
            {"shell": schema(command={"type": "array"}), "Skill": schema()},
            [
                ToolCall("shell", {"command": ["bash", "-lc", "ls"]}),
                ToolCall("shell", {"command": ["bash", "-lc", "mkdir -p d && printf %s 'x\n' > d/a.txt"]}),
                ToolCall("shell", {"command": ["bash", "-lc", "cat a.txt"]}),
                ToolCall("Skill", {"skill": "greet-well"}),
            ],
        ),
    ],
)
def test_calls_that_fit_the_agent(tools: dict[str, Any], expected: list[ToolCall]) -> None:
    """The same four wishes become calls of the tools that an agent has, with their names for arguments."""
    request = asked(anthropic(tools=tools))
    wishes = [run_shell("ls"), write_file("d/a.txt", "x\n"), read_file("a.txt"), use_skill("greet-well")]
    assert [wish(request) for wish in wishes] == expected


def test_calls_that_fit_an_agent_whose_model_writes_code() -> None:
    """Where the only tool runs JavaScript, the wishes are functions in it; a patch can also be a tool of its own."""
    code = {"tools": [{"type": "custom", "name": "exec"}], "input": CODEX_LIST}
    request = asked(code, "openai-responses")
    assert run_shell("ls")(request).arguments["input"] == (
        'text(JSON.stringify(await tools.exec_command({"cmd": "ls"})))'
    )
    assert "cat /w/.agents/skills/greet-well/SKILL.md" in use_skill("greet-well")(request).arguments["input"]
    assert "tools.apply_patch(" in write_file("a", "x\n")(request).arguments["input"]
    shell = {"type": "function", "name": "exec_command", "parameters": schema("cmd")}
    request = asked({"tools": [shell, {"type": "custom", "name": "apply_patch"}]}, "openai-responses")
    patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"
    assert write_file("a", "x\n")(request) == ToolCall("apply_patch", {"input": patch})


def test_calls_that_no_tool_fits() -> None:
    """What an agent cannot do is an error of the test, which tells what there is."""
    with (
        pytest.raises(LookupError, match=r"no shell, only \['look'\]"),
        ModelServer([ModelReply(tools=[run_shell("ls")])]) as server,
    ):
        assert ask(server, "anthropic", anthropic(tools={"look": TOOL})).status == 400
    with pytest.raises(LookupError, match="tells no path of 'absent'"):
        use_skill("absent")(asked(anthropic(tools={"Bash": schema("command")})))


def test_with_and_without_a_skill() -> None:
    """Where the skill is listed, it is used first and the answer is good; where it is not, the answer comes at once."""
    script = with_skill("greet-well", ModelReply("good"), ModelReply("poor"))
    body = anthropic(tools={"Skill": schema("skill")})
    with ModelServer(script) as server:
        first = ask(server, "anthropic", body).document["content"]
        body["messages"] += [{"role": "assistant", "content": first}, {"role": "user", "content": "loaded"}]
        second = ask(server, "anthropic", body).document["content"]
        without = ask(server, "anthropic").document["content"]
    assert (first[0]["name"], first[0]["input"]) == ("Skill", {"skill": "greet-well"})
    assert (second[0]["text"], without[0]["text"]) == ("good", "poor")


def test_by_prompt() -> None:
    """The prompt decides, not what an agent adds to it; one that no words fit is an error that quotes it."""
    script = by_prompt({"skills": ModelReply("skill"), "hello": in_turns(ModelReply("hi"))})
    with ModelServer(script) as server:
        assert ask(server, "anthropic", anthropic("hello")).document["content"][0]["text"] == "hi"
        unknown = ask(server, "anthropic", anthropic("good bye"))
    assert unknown.status == 400
    assert "'good bye'" in unknown.document["error"]["message"]
    with ModelServer(by_prompt({}, otherwise=ModelReply("x"))) as server:
        assert ask(server, "anthropic").status == 200


def test_turns_are_counted_per_session() -> None:
    """Each session begins anew, a step can be a function, and after the last step the script is over."""
    script = in_turns(ModelReply("one"), lambda request: ModelReply(f"two of {request.session}"))
    with ModelServer(script) as server:
        said = [
            ask(server, "anthropic", **{"X-Claude-Code-Session-Id": name}).document["content"][0]["text"]
            for name in ("a", "b", "a", "b")
        ]
        over = ask(server, "anthropic", **{"Session-Id": "a"})
    assert said == ["one", "one", "two of a", "two of b"]
    assert (over.status, over.document["error"]["message"]) == (400, "the script has no reply left after 2")
    assert [(name, len(session.requests)) for name, session in server.sessions.items()] == [("a", 3), ("b", 2)]
    assert server.sessions["a"].tokens.output == 14


def test_asides_take_no_step() -> None:
    """What an agent asks beside the session, without tools, does not disturb its turns."""
    script = in_turns(ModelReply("one"), ModelReply("two"), aside=ModelReply("title"))
    bodies = [anthropic(tools={"look": TOOL}), anthropic(), anthropic(tools={"look": TOOL})]
    with ModelServer(script) as server:
        headers = {"X-Claude-Code-Session-Id": "a"}
        said = [ask(server, "anthropic", body, **headers).document["content"][0]["text"] for body in bodies]
    assert said == ["one", "title", "two"]


def test_retry_gets_the_next_step() -> None:
    """A first request that failed and comes again belongs to the same session; after a success it is a new one."""
    with ModelServer(in_turns(ModelReply(fault=ModelFault.OVERLOADED), ModelReply("ok"))) as server:
        statuses = [ask(server, "openai-chat").status for _ in range(3)]
    assert statuses == [529, 200, 529]
    assert list(server.sessions) == ["session-1", "session-2"]


def chat_session(server: ModelServer, turns: int) -> str:
    """Play the agent of a chat without any name of its session; the result of its last tool call."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go on"}]
    tools = [{"type": "function", "function": {"name": "bash", "parameters": schema("command")}}]
    for _ in range(turns):
        body = {"model": "m-1", "messages": messages, "tools": tools}
        message = ask(server, "openai-chat", body).document["choices"][0]["message"]
        if "tool_calls" not in message:
            return str(message["content"])
        (call,) = message["tool_calls"]
        messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": "ok"}]
    raise AssertionError("no end")


def test_forty_sessions_at_a_time() -> None:
    """Forty sessions with one prompt, eight at a time and each with waits, are told apart by the ids of their calls."""
    step = ModelReply(tools=[run_shell("true")], delay_s=0.02, output_tokens=2)
    started = time.monotonic()
    with (
        leaves_nothing(),
        ModelServer(in_turns(step, step, step, lambda request: ModelReply(request.session, delay_s=0.02))) as server,
        ThreadPoolExecutor(8) as pool,
    ):
        names = list(pool.map(lambda _number: chat_session(server, 9), range(40)))
    assert time.monotonic() - started >= 40 / 8 * 4 * 0.02
    assert sorted(names) == sorted(f"session-{number}" for number in range(1, 41))
    assert {len(session.requests) for session in server.sessions.values()} == {4}
    assert {session.tokens.output for session in server.sessions.values()} == {3 * 2 + 7}
    assert [request.turn for request in server.sessions["session-1"].requests] == [0, 1, 2, 3]


def test_conversations_without_calls_go_on_in_the_latest_session() -> None:
    """Nothing but the words tells them apart, so an answer in the conversation leads to who began with them last."""
    body = BODIES["openai-chat"]
    longer = {**body, "messages": [*body["messages"], {"role": "assistant", "content": "hi"}]}
    with ModelServer([ModelReply("hi")] * 4) as server:
        for one in (body, body, longer):
            ask(server, "openai-chat", one)
        ask(server, "openai-chat", {**longer, "messages": longer["messages"][1:]})
    assert [request.session for request in server.requests] == ["session-1", "session-2", "session-2", "session-3"]
    assert server.requests[0].time_s <= server.requests[1].time_s
