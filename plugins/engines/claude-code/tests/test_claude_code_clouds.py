"""Sessions of the real `claude` at servers of the shape of each cloud, and what is known of a cloud before any."""

from __future__ import annotations

import asyncio
import json
import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Blame, FailureClass, Problem, RunRequest, SandboxSpec, Severity, TrajectoryEvent, Usage
from skillgauge_engine_claude_code.clouds import BEDROCK, CLOUDS, FOUNDRY, VERTEX, Cloud
from skillgauge_engine_claude_code.engine import ClaudeCodeEngine
from skillgauge_engine_claude_code.options import ClaudeCodeOptions
from skillgauge_engine_claude_code.plugin import skillgauge_engines
from skillgauge_model_relay import Relay, RelayLimits
from skillgauge_testkit import ModelFault, ModelReply, ModelServer, TemporarySandbox, in_turns, run_shell, write_file
from skillgauge_testkit.agent_sessions import LIMITS, Given, Played, play

TOKEN = "made-up-token-of-a-cloud-0123456789"
ACCESS = "made-up-access-token-of-google-0123"
BEDROCK_MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
VERTEX_MODEL = "claude-sonnet-4-5@20250929"
FOUNDRY_MODEL = "my-sonnet"


@dataclass(frozen=True)
class Way:
    """A way to authenticate at a cloud."""

    cloud: Cloud
    model: str
    path: str
    """Below the server, of the cloud's base URL."""
    environment: Mapping[str, str]
    key: str | None
    """What a request carries; `None` if it is signed."""


AMAZON = {"AWS_REGION": "eu-west-1"}
GOOGLE = {"ANTHROPIC_VERTEX_PROJECT_ID": "project-1", "CLOUD_ML_REGION": "europe-west1"}
SIGNED = {"AWS_ACCESS_KEY_ID": "AKIAMADEUPMADEUP0123", "AWS_SECRET_ACCESS_KEY": "made-up-secret-of-amazon-0123"}
WAYS = {
    "bedrock by token": Way(BEDROCK, BEDROCK_MODEL, "", {**AMAZON, "AWS_BEARER_TOKEN_BEDROCK": TOKEN}, TOKEN),
    "bedrock signed": Way(BEDROCK, BEDROCK_MODEL, "", {**AMAZON, **SIGNED}, None),
    "bedrock gateway": Way(
        BEDROCK, BEDROCK_MODEL, "", {BEDROCK.skip: "1", "ANTHROPIC_AUTH_TOKEN": TOKEN, **AMAZON}, TOKEN
    ),
    "vertex by token": Way(VERTEX, VERTEX_MODEL, "/v1", {**GOOGLE, "CLOUDSDK_AUTH_ACCESS_TOKEN": TOKEN}, TOKEN),
    "vertex by file": Way(VERTEX, VERTEX_MODEL, "/v1", GOOGLE, ACCESS),
    "vertex gateway": Way(
        VERTEX, VERTEX_MODEL, "/v1", {VERTEX.skip: "1", "ANTHROPIC_AUTH_TOKEN": TOKEN, **GOOGLE}, TOKEN
    ),
    "foundry by key": Way(FOUNDRY, FOUNDRY_MODEL, "/anthropic", {"ANTHROPIC_FOUNDRY_API_KEY": TOKEN}, TOKEN),
    "foundry by token": Way(FOUNDRY, FOUNDRY_MODEL, "/anthropic", {"ANTHROPIC_FOUNDRY_AUTH_TOKEN": TOKEN}, TOKEN),
}
BY_TOKEN = [name for name, way in WAYS.items() if "signed" not in name and "file" not in name]


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    for cloud in CLOUDS:
        for name in (cloud.flag, cloud.skip, cloud.address_variable, *cloud.tokens, *cloud.settings, *cloud.chain):
            monkeypatch.delenv(name, raising=False)


class _Lender(socketserver.StreamRequestHandler):
    """Answers every request with a token, as Google's service for exchanging tokens does."""

    def handle(self) -> None:
        """Read the head of a request, and answer."""
        while self.rfile.readline().strip():
            pass
        kind = "urn:ietf:params:oauth:token-type:access_token"
        token = {"access_token": ACCESS, "issued_token_type": kind, "token_type": "Bearer", "expires_in": 3600}
        body = json.dumps(token).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.wfile.write(f"{head}Connection: close\r\n\r\n".encode() + body)


@pytest.fixture
def google_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file with credentials of Google, whose tokens a server on this machine lends."""
    (tmp_path / "subject").write_text("made-up-subject-token")
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Lender) as lender:
        threading.Thread(target=lender.serve_forever, args=(0.05,), daemon=True).start()
        file = tmp_path / "google.json"
        file.write_text(
            json.dumps(
                {
                    "type": "external_account",
                    "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x",
                    "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
                    "token_url": f"http://127.0.0.1:{lender.server_address[1]}/token",
                    "credential_source": {"file": str(tmp_path / "subject")},
                }
            )
        )
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
        yield file
        lender.shutdown()


Session = Callable[..., Played]


@pytest.fixture
def session(agent_program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Session:
    """Holds a session at a scripted server of a cloud's shape."""
    program = str(agent_program("claude"))

    def hold(way: Way, script: Any, *, is_relayed: bool = False, **options: Any) -> Played:
        for name, value in {**way.environment, way.cloud.flag: "1"}.items():
            monkeypatch.setenv(name, value)

        def without_probes(request: Any) -> ModelReply:
            # With credentials of its own the program looks first whether its usual models are there.
            if request.body.get("max_tokens") == 1:
                return ModelReply("ok", input_tokens=None, output_tokens=None)
            return script(request)

        with ModelServer(without_probes) as server:
            address = f"{server.url}{way.path}"
            if not is_relayed:
                monkeypatch.setenv(way.cloud.address_variable, address)
            engine = ClaudeCodeEngine(ClaudeCodeOptions(program=program, **{"api_retries": 1, **options}))
            routes = {way.cloud.name: address} if is_relayed else {}
            given = Given(".claude/skills", routes=routes)
            played = play(engine, server, "Write it", given, model=way.model, limits=LIMITS)
        text = played.execution.model_dump_json()
        assert not [secret for secret in (TOKEN, *SIGNED.values()) if secret in text]
        return played

    return hold


def asked(played: Played) -> list[Any]:
    """The requests of the session itself."""
    return [request for request in played.server.requests if request.body.get("max_tokens") != 1]


WORK = in_turns(ModelReply("I write.", tools=[write_file("a.txt", "hello")]), ModelReply("Done."))


@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS)
def test_a_session_at_each_cloud(session: Session, google_file: Path, name: str) -> None:
    """The model is asked under the cloud's own name, with its credentials, and answer, file and tokens come back."""
    way = WAYS[name]
    played = session(way, WORK)
    execution = played.execution
    assert (execution.failure, execution.text) == (None, "Done.")
    assert played.files["a.txt"] == b"hello"
    assert {request.model for request in asked(played)} == {way.model}
    assert len(asked(played)) == 2
    if way.key is None:
        (signature,) = {request.headers["authorization"].partition(" ")[0] for request in asked(played)}
        assert signature == "AWS4-HMAC-SHA256"
    else:
        assert {request.key for request in asked(played)} == {way.key}
    assert execution.usage is not None
    assert (execution.usage.input_tokens, execution.usage.output_tokens) == (22, 14)
    assert not [path for path in played.home if "gcloud" in path]  # the copy is taken back


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_TOKEN)
def test_a_token_stays_outside_where_a_relay_adds_it(session: Session, name: str) -> None:
    """The program asks the address inside with a placeholder, and its commands find no token."""
    script = in_turns(ModelReply("I look.", tools=[run_shell("env; cat /proc/$PPID/environ")]), ModelReply("Done."))
    played = session(WAYS[name], script, is_relayed=True)
    assert (played.execution.failure, played.execution.text) == (None, "Done.")
    requests = asked(played)
    assert len(requests) == 2
    assert all("placeholder" in (request.key or "") for request in requests)
    assert TOKEN not in json.dumps([dict(command.env) for command in played.commands])
    assert "PATH=" in requests[-1].results[0]
    assert TOKEN not in requests[-1].results[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bedrock by token", "vertex by token", "foundry by key"])
@pytest.mark.parametrize(
    ("fault", "kind", "retryable"),
    [
        (ModelFault.UNAUTHORIZED, FailureClass.AUTH, False),
        (ModelFault.FORBIDDEN, FailureClass.AUTH, False),
        (ModelFault.NOT_FOUND, FailureClass.MODEL_NOT_FOUND, False),
        (ModelFault.RATE_LIMITED, FailureClass.RATE_LIMITED, True),
        (ModelFault.SERVER_ERROR, FailureClass.SERVER, True),
        (ModelFault.OVERLOADED, FailureClass.OVERLOADED, True),
        (ModelFault.STREAM_ERROR, FailureClass.SERVER, True),
        (ModelFault.DROPPED, FailureClass.NETWORK, True),
    ],
)
def test_faults_of_a_cloud(
    session: Session, name: str, fault: ModelFault, kind: FailureClass, retryable: bool
) -> None:
    """Whatever a cloud says in its own words has the class that it has at Anthropic."""
    failure = session(WAYS[name], lambda _request: ModelReply(fault=fault), api_retries=0).execution.failure
    assert failure is not None
    assert (failure.failure_class, failure.blame, failure.retryable) == (kind, Blame.INFRASTRUCTURE, retryable)
