"""Agents that are given MCP servers: stand-ins that answer from a file, and servers of the suite's own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, ToolCall
from skillgauge_testkit.program import Program

pytestmark = [pytest.mark.e2e]

KEY = "no-key-is-needed-here-0123456789"
MOCK = """\
tools:
  - name: measure
    description: Measures the depth at a place.
    input_schema: {type: object, properties: {place: {type: string}}, required: [place]}
    answers:
      - when: {place: bar}
        text: "Depth at {{input.place}}: 3 m"
      - when: {place: reef}
        expect: {unit: [m, ft]}
        json: {depth: 1}
      - text: no such place
        error: true
"""
EVALS: dict[str, Any] = {
    "skill_name": "pilot",
    "mcp_servers": {"depth": {"mock": "servers/depth.yaml"}},
    "evals": [
        {
            "id": 1,
            "prompt": "How deep is it at the bar?",
            "assertions": [
                {"text": "the depth is told", "type": "contains", "value": "3 m"},
                {"text": "it was measured", "type": "tool-use", "value": "mcp__depth__measure"},
            ],
        }
    ],
}
ENGINES = [
    ("claude-code", "claude", "claude-sonnet-4-5", ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "")),
    ("codex", "codex", "gpt-5.1", ("OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1")),
    ("claude-agent-acp", "claude-agent-acp", "claude-sonnet-4-5", ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "")),
]


@pytest.fixture
def suite(work: Path) -> Path:
    """Return a skill whose evals need a server."""
    skill = work / "pilot"
    (skill / "evals/servers").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: pilot\ndescription: Use when a ship is piloted.\n---\nMeasure.\n")
    (skill / "evals/servers/depth.yaml").write_text(MOCK)
    (skill / "evals/evals.json").write_text(json.dumps(EVALS))
    return skill


def measuring(request: ModelRequest) -> ModelReply:
    """Measure at the bar, and repeat what the tool has answered."""
    if request.turn == 0:  # the program may keep the tool back until it is looked for, and take a call of it
        tool = next((name for name in request.tools if name.endswith("measure")), "mcp__depth__measure")
        return ModelReply(tools=[ToolCall(tool, {"place": "bar"})])
    return ModelReply("It is 3 m." if "Depth at bar: 3 m" in json.dumps(request.body) else "The tool said nothing.")


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize(("engine", "command", "model", "variables"), ENGINES)
def test_a_stand_in_answers(
    program: Program,
    suite: Path,
    work: Path,
    agent_program: Callable[[str], Path],
    engine: str,
    command: str,
    model: str,
    variables: tuple[str, str, str],
) -> None:
    """Both arms call it, checks see the calls, and the session is played back without it."""
    programs = agent_program(command).parent
    key, address, path = variables
    with ModelServer(measuring) as server:
        environment = {
            key: KEY,
            address: f"{server.url}{path}",
            "PATH": f"{programs}:{program.environment['PATH']}",
        }
        done = program.process(
            *("eval", suite, "--engine", engine, "--model", model, "--record", work / "recorded"),
            *("--format", "record", "--output-dir", work / "out", "--runs", "1"),
            env=environment,
            timeout_s=200,
        )
    assert done.stdout.count("1 of 1 case passed") == 2, done.stdout + done.stderr
    again = program("eval", suite, "--replay", work / "recorded", "--store", "none", "--runs", "1")
    assert again.stdout.count("1 of 1 case passed") == 2, again.stdout + again.stderr


OWN = """\
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "own", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": "measure", "inputSchema": {"type": "object"}}]}
    elif asked["method"] == "tools/call":
        text = "Depth at bar: 3 m" if os.environ.get("UNIT") == "metres" else "no unit"
        result = {"content": [{"type": "text", "text": text}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
"""A server of the suite's own, in as few lines as the protocol takes."""


SERVING = """\
import socket
import uvicorn
from mcp.server import MCPServer

server = MCPServer("depth", log_level="ERROR")


@server.tool()
def measure(place: str) -> str:
    return f"Depth at {place}: 3 m"


inner = server.streamable_http_app()


async def guarded(scope, receive, send):
    headers = {name.decode().lower(): value.decode() for name, value in scope.get("headers", ())}
    given = (headers.get("x-unit"), headers.get("x-harbour"), headers.get("authorization"))
    if scope["type"] == "http" and given != ("metres", "north quay", "Bearer key-of-the-harbour"):
        await send({"type": "http.response.start", "status": 403, "headers": []})
        await send({"type": "http.response.body", "body": b"no"})
        return
    await inner(scope, receive, send)


place = socket.socket()
place.bind(("127.0.0.1", 0))
print(place.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(guarded, log_level="critical")).run(sockets=[place])
"""
"""A server made with the library, which answers only who sends it three headers."""


@pytest.fixture
def serving(work: Path) -> Iterator[str]:
    """Return the address of a server that runs already."""
    (work / "serving.py").write_text(SERVING)
    with subprocess.Popen([sys.executable, "-I", work / "serving.py"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield f"http://127.0.0.1:{port}/mcp"
        process.terminate()


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("engine", ENGINES, ids=lambda one: one[0])
def test_a_server_by_its_address(
    program: Program,
    suite: Path,
    serving: str,
    agent_program: Callable[[str], Path],
    engine: tuple[str, str, str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It gets every header, also those whose value is a variable of the user, which no file of the run holds."""
    headers = {"X-Unit": "metres", "X-Harbour": "${HARBOUR}", "Authorization": "Bearer ${HARBOUR_KEY}"}
    monkeypatch.setitem(program.environment, "HARBOUR", "north quay")
    monkeypatch.setitem(program.environment, "HARBOUR_KEY", "key-of-the-harbour")
    passed = ("--set", f'engines.{engine[0]}.pass_env=["HARBOUR", "HARBOUR_KEY"]')
    done = evaluated(program, with_server(suite, {"url": serving, "headers": headers}), agent_program, engine, *passed)
    assert done.stdout.count("1 of 1 case passed") == 2, done.stdout + done.stderr
    del headers["Authorization"]
    refused = evaluated(
        program, with_server(suite, {"url": serving, "headers": headers}), agent_program, engine, *passed
    )
    assert "1 of 1 case passed" not in refused.stdout, refused.stdout + refused.stderr
    if engine[0] != "claude-agent-acp":  # it goes on without, and nothing tells
        assert refused.code == 3, refused.stdout + refused.stderr
        assert "depth" in refused.stdout + refused.stderr


def with_server(suite: Path, server: dict[str, Any], **files: str) -> Path:
    """Give the evals of a suite another server."""
    evals = json.loads((suite / "evals/evals.json").read_text())
    evals["mcp_servers"] = {"depth": server}
    (suite / "evals/evals.json").write_text(json.dumps(evals))
    for name, text in files.items():
        (suite / f"evals/servers/{name}.py").write_text(text)
    return suite


def evaluated(
    program: Program, suite: Path, agent_program: Callable[[str], Path], engine: tuple[str, str, str, Any], *more: Any
) -> Any:
    """Evaluate a suite with a real agent and the scripted model that measures."""
    name, command, model, (key, address, path) = engine
    with ModelServer(measuring) as server:
        environment = {
            key: KEY,
            address: f"{server.url}{path}",
            "PATH": f"{agent_program(command).parent}:{program.environment['PATH']}",
        }
        words = ("eval", suite, "--engine", name, "--model", model, "--runs", "1", "--store", "none", *more)
        return program.process(*words, env=environment, timeout_s=200)


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("engine", ENGINES, ids=lambda one: one[0])
def test_a_server_of_the_suite(
    program: Program, suite: Path, agent_program: Callable[[str], Path], engine: tuple[str, str, str, Any]
) -> None:
    """Its files lie where its command line says, and it has its variables; one that does not start is an error."""
    server = {
        "command": "python3",
        "args": ["${MCP_FILES}/servers/own.py"],
        "files": ["servers/own.py"],
        "env": {"UNIT": "metres"},
    }
    done = evaluated(program, with_server(suite, server, own=OWN), agent_program, engine)
    assert done.stdout.count("1 of 1 case passed") == 2, done.stdout + done.stderr
    if engine[0] == "claude-agent-acp":  # it goes on without, and nothing tells
        return
    broken = evaluated(program, with_server(suite, {"command": "no-such-program"}), agent_program, engine)
    assert broken.code == 3, broken.stdout + broken.stderr
    assert "depth" in broken.stdout + broken.stderr


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("engine", ENGINES, ids=lambda one: one[0])
def test_a_call_that_breaks_what_is_expected(
    program: Program, suite: Path, agent_program: Callable[[str], Path], engine: tuple[str, str, str, Any]
) -> None:
    """The session has failed, and says which value was wrong."""
    answer = {"text": "Depth at bar: 3 m", "expect": {"place": "reef"}}
    server = {"mock": {"tools": [{"name": "measure", "answers": [answer]}]}}
    done = evaluated(program, with_server(suite, server), agent_program, engine)
    assert done.stdout.count("0 of 1 case passed, 1 failed") == 2, done.stdout + done.stderr
    assert 'place is "bar"' in done.stdout


def test_an_engine_that_cannot(program: Program, suite: Path) -> None:
    """It is refused before anything runs, with the place of the case."""
    done = program("eval", suite, "--engine", "command", "--set", 'engines.command.argv=["true"]')
    assert done.code == 2
    assert "engine 'command' cannot install servers of case '1'" in done.stderr
    assert "evals.json" in done.stderr


@pytest.mark.slow
@pytest.mark.engine
def test_a_server_of_the_run(program: Program, suite: Path, work: Path, agent_program: Callable[[str], Path]) -> None:
    """The user gives it to every session, and a fault of his is told before anything runs."""
    evals = json.loads((suite / "evals/evals.json").read_text())
    del evals["mcp_servers"]
    (suite / "evals/evals.json").write_text(json.dumps(evals))
    option = "engines.claude-code.mcp_servers"
    given = json.dumps({"depth": {"mock": str((suite / "evals/servers/depth.yaml").relative_to(work))}})
    done = evaluated(program, suite, agent_program, ENGINES[0], "--set", f"{option}={given}")
    assert done.stdout.count("1 of 1 case passed") == 2, done.stdout + done.stderr
    wrong = evaluated(program, suite, agent_program, ENGINES[0], "--set", option + '={"depth": {}}')
    assert wrong.code == 2
    assert "exactly one of command, url and mock must be given" in wrong.stderr
