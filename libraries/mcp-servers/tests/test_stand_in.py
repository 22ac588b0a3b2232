"""The stand-in server: answers, guards, templates and its log, with a real client and by its parts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from skillgauge.api import (
    Blame,
    EventKind,
    Execution,
    FailureClass,
    Install,
    Origin,
    Problem,
    Trajectory,
    TrajectoryEvent,
    freeze,
)
from skillgauge_mcp_servers.guards import GuardError, guards_of
from skillgauge_mcp_servers.placing import calls_in, native_of
from skillgauge_mcp_servers.stand_in import ABORT, OK, TOOL_ERROR, Server, broken_guard, filled, type_of, value_at
from skillgauge_mcp_servers.verdicts import with_stand_ins
from skillgauge_mcp_servers.written import read_servers

PLACE = Origin("evals.json", ("mcp_servers",))


def place(*pointer: str | int) -> Origin:
    """Return the place of a key."""
    return Origin(PLACE.file, (*PLACE.pointer, *pointer))


def mock_of(tools: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Return the stand-in of tools as a suite writes them."""
    problems: list[Problem] = []
    (install,) = read_servers({"depth": {"mock": {"tools": tools}}}, folder, place, problems)
    assert problems == []
    servers: Any = install.content["servers"]
    return json.loads(json.dumps(servers["depth"]["mock"], default=dict))


def answers(answer: dict[str, Any], *inputs: dict[str, Any], folder: Path) -> list[tuple[str, str]]:
    """Return verdict and text of a tool with one answer for each input."""
    stand_in = mock_of([{"name": "measure", "answers": [answer]}], folder)
    log = folder / "log.jsonl"
    server = Server({"name": "depth", "log": str(log), "folder": str(folder), **stand_in})
    for number, arguments in enumerate(inputs):
        params = {"name": "measure", "arguments": arguments}
        server.answer({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    return [(call["verdict"], call["output"]) for call in map(json.loads, log.read_text().splitlines())]


def test_a_real_client(tmp_path: Path) -> None:
    """It is listed what there is, its calls are answered, and they stand in the log."""
    tools = [
        {
            "name": "measure",
            "description": "Measures.",
            "input_schema": {"type": "object", "properties": {"place": {"type": "string"}}},
            "answers": [{"when": {"place": "bar"}, "text": "3 m"}, {"text": "no such place", "error": True}],
        }
    ]
    native = native_of("depth", mock_of(tools, tmp_path), tmp_path, tmp_path)

    async def talk() -> tuple[Any, Any, Any]:
        parameters = StdioServerParameters(command=native["command"], args=native["args"])
        async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
            await session.initialize()
            await session.send_ping()
            listed = await session.list_tools()
            good = await session.call_tool("measure", {"place": "bar"})
            bad = await session.call_tool("measure", {"place": "moon"})
            return listed, good, bad

    listed, good, bad = asyncio.run(talk())
    assert [(tool.name, tool.description) for tool in listed.tools] == [("measure", "Measures.")]
    assert good.content[0].text == "3 m"
    assert bad.content[0].text == "no such place"
    assert [call["verdict"] for call in calls_in(tmp_path)] == [OK, TOOL_ERROR]


def test_values_of_the_input_stand_in_the_answer(tmp_path: Path) -> None:
    """Texts as they are, everything else as JSON, what is missing as nothing."""
    inputs = {"place": "bar", "at": {"x": 1.0, "list": [True, None]}}
    (told,) = answers(
        {"text": "{{input.place}}|{{ input.at }}|{{input.at.list.0}}|{{input.no}}"}, inputs, folder=tmp_path
    )
    assert told == (OK, 'bar|{"x":1.0,"list":[true,null]}|true|')


def test_json_is_answered_as_it_stands(tmp_path: Path) -> None:
    """Braces in it are no places."""
    (told,) = answers({"json": {"a": "{{input.place}}"}}, {"place": "bar"}, folder=tmp_path)
    assert told == (OK, '{"a":"{{input.place}}"}')


def test_files_beside_the_answer(tmp_path: Path) -> None:
    """A file is quoted, by a name from the input too, and nothing outside of the folder."""
    (tmp_path / "bar.txt").write_text("3 m")
    named = {"text": "{{file:{input.place}.txt}}"}
    inputs = ({"place": "bar"}, {"place": "reef"}, {"place": "../bar"})
    verdicts = [verdict for verdict, _ in answers(named, *inputs, folder=tmp_path)]
    assert verdicts == [OK, TOOL_ERROR, TOOL_ERROR]
    assert filled("{{file:../x}}", {}, tmp_path)[1] is not None


def test_an_expectation_that_is_broken_ends_the_session(tmp_path: Path) -> None:
    """The log says which value broke it."""
    told = answers({"text": "3 m", "expect": {"unit": ["m", "ft"]}}, {"unit": "m"}, {"unit": "mile"}, folder=tmp_path)
    assert [verdict for verdict, _ in told] == [OK, ABORT]
    assert told[1][1] == 'the call breaks what is expected of it: unit is "mile", and not one of m, ft'


def test_unknown_methods_and_tools(tmp_path: Path) -> None:
    """An unknown method is an error of the protocol, a notification gets no answer, a tool that is not there fails."""
    stand_in = mock_of([{"name": "measure", "answers": [{"text": "a"}]}], tmp_path)
    server = Server({"name": "d", "log": str(tmp_path / "l"), "folder": str(tmp_path), **stand_in})
    assert server.answer({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
    assert (server.answer({"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}) or {})["error"]["code"] == -32601
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "other"}}
    assert (server.answer(call) or {})["result"]["isError"]


@pytest.mark.parametrize(
    ("guard", "fitting", "others"),
    [
        ("AB", ["AB"], ["ab", "xABx", 1, None]),
        ("^AB$", ["^AB$"], ["AB"]),
        ("/^a+$/i", ["AA"], ["b", "aab", ["a"]]),
        (3, [3, "3"], [3.5, "three"]),
        (True, [True, "true"], [False, 1]),
        ("number", [1, 1.5], ["1", True]),
        ("boolean", [False], ["false", None]),
        ("object", [{}], [[], "x"]),
        ("array", [[1]], [{}]),
        (("a", "b"), ["a", "b"], ["c"]),
        ({"in": "x"}, [{"in": "x"}], [{"in": "y"}, "x"]),
    ],
)
def test_guards(guard: Any, fitting: list[Any], others: list[Any]) -> None:
    """A text is itself, slashes make a pattern, names of types are types, lists are one of several."""
    guards = guards_of({"at": guard})
    assert [value for value in fitting if broken_guard(guards, {"at": value}) is not None] == []
    assert [value for value in others if broken_guard(guards, {"at": value}) is None] == []
    assert broken_guard(guards, {}) is not None


@pytest.mark.parametrize("guard", [(), "/(/", "/a/z"])
def test_guards_that_cannot_be_checked(guard: Any) -> None:
    """No value, no pattern, no such flag."""
    with pytest.raises(GuardError) as caught:
        guards_of({"a": {"b": guard}}, "expect")
    assert caught.value.pointer == ("expect", "a", "b")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=3), st.text())
def test_no_input_and_no_text_raises(arguments: dict[str, Any], text: str) -> None:
    """Whatever an agent sends is answered; a scalar guards itself."""
    filled(text, arguments, Path("/nowhere"))
    for key, value in arguments.items():
        if (
            isinstance(value, str | int)
            and "." not in key
            and not str(value).startswith("/")
            and str(value)
            not in (
                "string",
                "number",
                "bool",
                "boolean",
                "object",
                "array",
            )
        ):
            assert broken_guard(guards_of({key: value}), arguments) is None
        if "." not in key:
            assert type_of(value_at(arguments, key)) == type_of(value)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ([], "servers stand by their names"),
        ({"a b": {"command": "x"}}, "a b"),
        ({"a": {}}, "exactly one of command, url and mock"),
        ({"a": {"command": "x", "url": "http://x"}}, "exactly one of command, url and mock"),
        ({"a": {"url": "http://x", "env": {"A": "b"}}}, "env belongs to a server with a command"),
        ({"a": {"url": "ftp://x"}}, "url"),
        ({"a": {"mock": "no.yaml"}}, "there is no file 'no.yaml'"),
        ({"a": {"mock": "../no.yaml"}}, "there is no file '../no.yaml'"),
        ({"a": {"command": "x", "files": ["no"]}}, "there is no file 'no'"),
        ({"a": {"mock": {"tools": []}}}, "tools"),
        ({"a": {"mock": {"tools": [{"name": "t", "answers": [{}]}]}}}, "exactly one of text and json"),
        ({"a": {"mock": {"tools": [{"name": "t", "answers": [{"text": "x", "expect": {"a": "/(/"}}]}]}}}, "/(/"),
        ({"a": {"commando": "x"}}, "commando"),
    ],
)
def test_faults_have_a_place(written: Any, message: str, tmp_path: Path) -> None:
    """Each is told at its key, and nothing is given to the agent."""
    problems: list[Problem] = []
    assert read_servers(freeze(written), tmp_path, place, problems) == ()
    assert message in problems[0].message
    assert problems[0].origin is not None


def test_files_of_a_command(tmp_path: Path) -> None:
    """They lie in a folder that the command line can name."""
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool/server.py").write_text("x")
    (tmp_path / "one.txt").write_text("y")
    written: Any = {"a": {"command": "python3", "args": ("${MCP_FILES}/tool/server.py",), "files": ("tool", "one.txt")}}
    (install,) = read_servers(written, tmp_path, place, [])
    assert [file.path for file in install.files] == ["mcp/tool/server.py", "mcp/one.txt"]
    servers: Any = install.content["servers"]
    assert servers["a"]["args"] == ("${INSTALLED_FILES}/mcp/tool/server.py",)


def execution(*calls: tuple[str, dict[str, Any], str]) -> Execution:
    """Return a session with calls of tools, and their answers."""
    events = []
    for number, (tool, arguments, answer) in enumerate(calls):
        asked = {"kind": EventKind.TOOL_CALL, "name": tool, "call_id": str(number), "data": arguments}
        events.append(TrajectoryEvent.model_validate(asked))
        events.append(TrajectoryEvent(kind=EventKind.TOOL_RESULT, name=tool, call_id=str(number), text=answer))
    return Execution(text="done", trajectory=Trajectory(events=tuple(events)))


def noted(home: Path, *calls: dict[str, Any]) -> None:
    """Write down calls as a stand-in does."""
    (home / "servers").mkdir()
    (home / "servers/log.jsonl").write_text("".join(json.dumps(call) + "\n" for call in calls) + "no JSON\n")


SERVER = Install(kind="servers", name="plugin:boats:sea")


def test_answers_have_the_verdict_of_their_stand_in(tmp_path: Path) -> None:
    """A call that no stand-in got has none, be it of the same tool."""
    known = {"server": "plugin:boats:sea", "tool": "tide"}
    noted(tmp_path, {**known, "input": {"port": 2}, "verdict": OK}, {**known, "input": None, "verdict": TOOL_ERROR})
    tool = "mcp__plugin_boats_sea__tide"
    session = execution((tool, {"port": 1}, "refused"), (tool, {"port": 2}, "high"), ("Bash", {}, "x"))
    seen = with_stand_ins(session, tmp_path, (SERVER,))
    assert seen.trajectory is not None
    results = [event.data for event in seen.trajectory.events if event.kind is EventKind.TOOL_RESULT]
    assert results == [{"verdict": TOOL_ERROR}, {"verdict": OK}, None]
    assert seen.failure is None
    assert with_stand_ins(session, tmp_path, ()) is session


def test_a_session_that_a_stand_in_ended_has_failed(tmp_path: Path) -> None:
    """By the agent's own fault, with the call and its reason."""
    noted(tmp_path, {"server": "sea", "tool": "tide", "input": {}, "verdict": ABORT, "output": "port is missing"})
    ended = with_stand_ins(execution(), tmp_path, (SERVER,))
    assert ended.failure is not None
    assert (ended.failure.blame, ended.failure.failure_class) == (Blame.TARGET, FailureClass.REJECTED)
    assert ended.failure.message == "the session ended with a call of tide of server 'sea': port is missing"
    assert ended.text is None
