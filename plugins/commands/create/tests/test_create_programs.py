"""The programs of the templates as real processes: what they answer, and what they say when something is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from skillgauge_command_create.placing import place
from skillgauge_command_create.skeleton import Template, skeleton

from .conftest import started, unused_port

INVOKE = {"jsonrpc": "2.0", "method": "invoke", "params": {"query": "hello"}, "id": 1}
ENVIRONMENT = {"LANG": "C.UTF-8"}


def make(folder: Path, template: Template, *, breaks: bool = False) -> Path:
    """A new skill and the path of its program, in which `invoke` may have been made to raise."""
    place(skeleton(template, name="echo", description=None, port=unused_port()), folder)
    program = folder / template.program
    if breaks:
        text = program.read_text()
        assert text.count("    query = ") == 1
        program.write_text(text.replace("    query = ", "    raise LookupError('out of order')\n    query = "))
    return program


def answers(program: Path, given: bytes) -> tuple[list[Any], str]:
    """What a program answers to some input, line by line, and its stderr."""
    done = subprocess.run(
        [sys.executable, program], input=given, capture_output=True, env=ENVIRONMENT, timeout=60, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


@pytest.mark.requirement("ES-CREATE-006")
@pytest.mark.parametrize("end", ["", "\n"])
def test_skill_answers_one_request(tmp_path: Path, end: str) -> None:
    """A request without a line's end, as eval-skills writes it, is answered like one with it."""
    program = make(tmp_path / "skill", Template.PYTHON_SCRIPT)
    replies, stderr = answers(program, f"{json.dumps(INVOKE)}{end}".encode())
    assert replies == [{"jsonrpc": "2.0", "id": 1, "result": {"result": "You asked: hello"}}]
    assert stderr == ""


@pytest.mark.requirement("ES-CREATE-006")
def test_skill_answers_each_request_before_the_next(tmp_path: Path) -> None:
    """A process that is kept answers line by line, with the id of each, and in UTF-8 whatever the system's encoding."""
    program = make(tmp_path / "skill", Template.PYTHON_SCRIPT)
    with subprocess.Popen(
        [sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"LC_ALL": "C"}
    ) as process:
        assert process.stdin
        assert process.stdout
        for number, query in enumerate(("hello", "naïve 🚀")):
            asked = {**INVOKE, "id": number, "params": {"query": query}}
            process.stdin.write(json.dumps(asked, ensure_ascii=False).encode() + b"\n\n")
            process.stdin.flush()
            reply = json.loads(process.stdout.readline())
            assert reply == {"jsonrpc": "2.0", "id": number, "result": {"result": f"You asked: {query}"}}
        process.stdin.close()
        assert process.wait(30) == 0


@pytest.mark.requirement("ES-CREATE-006")
@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ("{", -32700),
        ("[" * 100_000, -32700),
        ("7", -32600),
        ({"id": 1, "method": "invoke"}, -32600),
        ({**INVOKE, "method": "sing"}, -32601),
        ({**INVOKE, "method": None}, -32601),
        ({**INVOKE, "params": [1]}, -32602),
        ({**INVOKE, "params": {"query": 1}}, -32602),
        ({**INVOKE, "params": {}}, -32602),
    ],
)
def test_skill_says_what_is_wrong(tmp_path: Path, request_: object, code: int) -> None:
    """Each kind of bad request gets the JSON-RPC error that is made for it, and the next request its answer."""
    program = make(tmp_path / "skill", Template.PYTHON_SCRIPT)
    bad = request_ if isinstance(request_, str) else json.dumps(request_)
    (refused, answered), _ = answers(program, f"{bad}\n{json.dumps(INVOKE)}".encode())
    assert refused["error"]["code"] == code
    assert refused["error"]["message"]
    assert refused["id"] == (request_["id"] if isinstance(request_, dict) and code != -32600 else None)
    assert answered["result"] == {"result": "You asked: hello"}


def test_skill_tells_its_health(tmp_path: Path) -> None:
    """The method healthcheck is answered without calling the skill."""
    program = make(tmp_path / "skill", Template.PYTHON_SCRIPT, breaks=True)
    replies, _ = answers(program, json.dumps({**INVOKE, "method": "healthcheck", "id": 0}).encode())
    assert replies == [{"jsonrpc": "2.0", "id": 0, "result": {"status": "healthy"}}]


def test_skill_that_raises(tmp_path: Path) -> None:
    """An exception is an error of the server's range with its text, its traceback is on stderr, and work goes on."""
    program = make(tmp_path / "skill", Template.PYTHON_SCRIPT, breaks=True)
    replies, stderr = answers(program, f"{json.dumps(INVOKE)}\n{json.dumps({**INVOKE, 'id': 2})}\n".encode())
    assert [reply["id"] for reply in replies] == [1, 2]
    assert {reply["error"]["code"] for reply in replies} == {-32000}
    assert replies[0]["error"]["message"] == "LookupError: out of order"
    assert "Traceback" in stderr


@pytest.fixture
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[HTTPConnection]:
    """A connection to a new service; with the parameter "breaks" to one whose `invoke` raises."""
    program = make(tmp_path / "skill", Template.HTTP_REQUEST, breaks=getattr(request, "param", None) == "breaks")
    with started(f"{sys.executable} service.py", cwd=program.parent, env=ENVIRONMENT) as said:
        connection = HTTPConnection(urlsplit(said.split()[-1]).netloc, timeout=30)
        yield connection
        connection.close()


def post(service: HTTPConnection, body: bytes, path: str = "/invoke", **headers: str) -> tuple[int, Any]:
    """Post something; gives the status and the document of the answer."""
    service.request("POST", path, body, headers)
    response = service.getresponse()
    return response.status, json.loads(response.read())


def test_service_answers_on_one_connection(service: HTTPConnection) -> None:
    """Calls and health are answered with JSON, and the connection is kept even after a refused input."""
    body = json.dumps({"skillId": "echo", "version": "0.1.0", "input": {"query": "naïve 🚀"}}).encode()
    assert post(service, body) == (200, {"result": "You asked: naïve 🚀"})
    first = service.sock
    assert post(service, b'{"input": {"query": 1}}') == (422, {"error": "'query' must be a text"})
    service.request("GET", "/")
    response = service.getresponse()
    assert (response.status, json.loads(response.read())) == (200, {"status": "healthy"})
    assert response.headers["Content-Type"] == "application/json"
    assert post(service, body)[0] == 200
    assert service.sock is first


@pytest.mark.parametrize(
    ("body", "path", "headers", "status"),
    [
        (b"{", "/invoke", {}, 400),
        (b"\xff", "/invoke", {}, 400),
        (b"[" * 100_000, "/invoke", {}, 400),
        (b"[]", "/invoke", {}, 400),
        (b'{"input": 1}', "/invoke", {}, 400),
        (b'{"input": {"query": ""}}', "/elsewhere", {}, 404),
        (b"", "/invoke", {"Content-Length": "many"}, 411),
        (b"", "/invoke", {"Content-Length": str(2**30)}, 413),
    ],
)
def test_service_says_what_is_wrong(
    service: HTTPConnection, body: bytes, path: str, headers: dict[str, str], status: int
) -> None:
    """Each kind of bad request gets its status and a reason, and the service goes on."""
    got, document = post(service, body, path, **headers)
    assert got == status
    assert document["error"]
    assert post(service, b'{"input": {"query": "x"}}')[0] == 200


@pytest.mark.parametrize("service", ["breaks"], indirect=True)
def test_service_that_raises(service: HTTPConnection) -> None:
    """An exception is a 500 with its text, and the service goes on."""
    for _ in range(2):
        answer = post(service, b'{"input": {"query": "x"}}')
        assert answer == (500, {"error": "LookupError: out of order"})


def test_two_services_at_one_port(tmp_path: Path) -> None:
    """The second does not start, and says which address is taken and where another can be set."""
    program = make(tmp_path / "skill", Template.HTTP_REQUEST)
    with started(f"{sys.executable} service.py", cwd=program.parent, env=ENVIRONMENT) as said:
        second = subprocess.run(
            [sys.executable, program], capture_output=True, env=ENVIRONMENT, timeout=60, check=False
        )
    assert second.returncode == 1
    assert said.split()[-1] in second.stderr.decode()
    assert "skill.json" in second.stderr.decode()
    assert b"Traceback" not in second.stderr


def test_server_without_its_package(tmp_path: Path) -> None:
    """Where the package mcp is absent or too old, one line says what is needed."""
    program = make(tmp_path / "skill", Template.MCP_TOOL)
    (tmp_path / "old" / "mcp" / "server").mkdir(parents=True)
    (tmp_path / "old" / "mcp" / "__init__.py").touch()
    (tmp_path / "old" / "mcp" / "server" / "__init__.py").touch()
    environment = {"PYTHONPATH": str(tmp_path / "old")}
    done = subprocess.run([sys.executable, program], capture_output=True, env=environment, timeout=60, check=False)
    assert done.returncode == 1
    assert b"package mcp, version 2.3 or later" in done.stderr
    assert b"Traceback" not in done.stderr
