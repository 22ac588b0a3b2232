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

from skillgauge.api import Blame, FailureClass, Problem, RunRequest, SandboxSpec, Severity
from skillgauge_engine_claude_code.clouds import BEDROCK, CLOUDS, FOUNDRY, VERTEX, Cloud
from skillgauge_engine_claude_code.engine import ClaudeCodeEngine
from skillgauge_engine_claude_code.options import ClaudeCodeOptions
from skillgauge_engine_claude_code.plugin import skillgauge_engines
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


@pytest.mark.engine
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


@pytest.mark.engine
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


@pytest.mark.engine
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
def test_faults_of_a_cloud(session: Session, name: str, fault: ModelFault, kind: FailureClass, retryable: bool) -> None:
    """Whatever a cloud says in its own words has the class that it has at Anthropic."""
    failure = session(WAYS[name], lambda _request: ModelReply(fault=fault), api_retries=0).execution.failure
    assert failure is not None
    assert (failure.failure_class, failure.blame, failure.retryable) == (kind, Blame.INFRASTRUCTURE, retryable)


@pytest.mark.engine
@pytest.mark.slow
def test_a_pause_that_a_cloud_asks_for(session: Session) -> None:
    """Its Retry-After is kept, as the program tells it."""
    reply = ModelReply(fault=ModelFault.RATE_LIMITED, headers={"retry-after": "2"})
    failure = session(WAYS["bedrock by token"], lambda _request: reply).execution.failure
    assert failure is not None
    assert failure.failure_class is FailureClass.RATE_LIMITED
    assert (failure.retry_after_s or 0) >= 2


def at(cloud: Cloud, environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, **options: Any) -> Any:
    """An engine where the environment names a cloud."""
    for name, value in {**environment, cloud.flag: "1"}.items():
        monkeypatch.setenv(name, value)
    return ClaudeCodeEngine(ClaudeCodeOptions(**options))


def problems(engine: ClaudeCodeEngine, model: str | None = "m-1") -> dict[str, Problem]:
    """What `check` finds, by code, except that the program is not there."""
    engine.identity(model)
    found = {problem.code: problem for problem in asyncio.run(engine.check())}
    return {code: problem for code, problem in found.items() if code != "engine.no-program"}


@pytest.mark.parametrize(
    ("cloud", "environment", "lacks"),
    [
        (
            BEDROCK,
            {},
            "lacks AWS_REGION or AWS_DEFAULT_REGION; AWS_BEARER_TOKEN_BEDROCK or AWS_ACCESS_KEY_ID with "
            "AWS_SECRET_ACCESS_KEY or ~/.aws/credentials or ~/.aws/config",
        ),
        (BEDROCK, {"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "AKIAMADEUP"}, "lacks AWS_BEARER_TOKEN_BEDROCK or"),
        (BEDROCK, {BEDROCK.skip: "1"}, "lacks ANTHROPIC_BEDROCK_BASE_URL"),
        (VERTEX, {}, "lacks ANTHROPIC_VERTEX_PROJECT_ID; CLOUD_ML_REGION; CLOUDSDK_AUTH_ACCESS_TOKEN or ~/.config"),
        (FOUNDRY, {"ANTHROPIC_FOUNDRY_API_KEY": TOKEN}, "lacks ANTHROPIC_FOUNDRY_RESOURCE or ANTHROPIC_FOUNDRY_BASE"),
    ],
)
def test_everything_that_is_missing_is_one_error(
    cloud: Cloud, environment: Mapping[str, str], lacks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the cloud, the variable that names it, and all that it lacks; nothing else is said."""
    (problem,) = problems(at(cloud, environment, monkeypatch, program="no-such-claude")).values()
    assert (problem.code, problem.severity) == ("engine.no-credentials", Severity.ERROR)
    assert f"asks {cloud.title}, as {cloud.flag} says, and {lacks}" in problem.message


@pytest.mark.parametrize("name", [name for name in WAYS if "gateway" not in name])
def test_what_suffices(name: str, google_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a token there is a route and no host beside it; without one hosts, no route, and a warning that says so."""
    way = WAYS[name]
    resource = {"ANTHROPIC_FOUNDRY_RESOURCE": "my-resource"} if way.cloud is FOUNDRY else {}
    engine = at(way.cloud, {**way.environment, **resource}, monkeypatch, program="no-such-claude")
    found = problems(engine)
    (provider,) = skillgauge_engines()
    assert provider.traits_with is not None
    traits = provider.traits_with(ClaudeCodeOptions())
    if name in BY_TOKEN:
        assert found == {}
        (route,) = engine.routes("m-1")
        assert TOKEN in str(dict(route.headers))
        assert (route.name, traits.model_hosts) == (way.cloud.name, ())
    else:
        assert [(code, one.severity) for code, one in found.items()] == [("engine.cloud-unseen", Severity.WARNING)]
        assert engine.routes("m-1") == ()
        assert len(traits.model_hosts) > 1
    assert set(traits.secrets) >= {variable for variable in way.environment if variable in way.cloud.chain_secrets}


ADDRESSES = [
    (BEDROCK, {"AWS_REGION": "us-east-1"}, "https://bedrock-runtime.us-east-1.amazonaws.com"),
    (BEDROCK, {"AWS_DEFAULT_REGION": "us-gov-west-1"}, "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com"),
    (BEDROCK, {"ANTHROPIC_BEDROCK_BASE_URL": "https://llm.example.org/b/"}, "https://llm.example.org/b"),
    (VERTEX, {"CLOUD_ML_REGION": "us-east5"}, "https://us-east5-aiplatform.googleapis.com/v1"),
    (VERTEX, {"CLOUD_ML_REGION": "global"}, "https://aiplatform.googleapis.com/v1"),
    (VERTEX, {"CLOUD_ML_REGION": "eu"}, "https://aiplatform.eu.rep.googleapis.com/v1"),
    (FOUNDRY, {"ANTHROPIC_FOUNDRY_RESOURCE": "r-1"}, "https://r-1.services.ai.azure.com/anthropic"),
]


@pytest.mark.parametrize(("cloud", "environment", "address"), ADDRESSES)
def test_identity_names_the_cloud_and_its_address(
    cloud: Cloud, environment: Mapping[str, str], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same model at another place may be another one; a switch that is off changes nothing."""
    plain = ClaudeCodeEngine(ClaudeCodeOptions()).identity("m-1")
    identity = at(cloud, environment, monkeypatch).identity("m-1")
    assert (identity.service, identity.settings["base_url"], identity.settings["cloud"]) == (
        address,
        address,
        cloud.name,
    )
    assert identity.digest != plain.digest
    assert at(cloud, environment, monkeypatch, base_url="http://127.0.0.1:1").identity("m-1").service.endswith(":1")
    monkeypatch.setenv(cloud.flag, "0")
    assert ClaudeCodeEngine(ClaudeCodeOptions()).identity("m-1") == plain


def test_which_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cloud has no default model: it is named by the command, an option, or the program's own variable."""
    environment = {**AMAZON, "AWS_BEARER_TOKEN_BEDROCK": TOKEN}
    (problem,) = problems(at(BEDROCK, environment, monkeypatch, program="no-such-claude"), None).values()
    assert problem.code == "engine.no-model"
    assert at(BEDROCK, environment, monkeypatch, model="m-2").identity(None).model == "m-2"
    monkeypatch.setenv("ANTHROPIC_MODEL", "m-3")
    assert [at(BEDROCK, environment, monkeypatch).identity(asked).model for asked in (None, "m-4")] == ["m-3", "m-4"]


def test_two_clouds_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of them is meant is not guessed."""
    monkeypatch.setenv(VERTEX.flag, "true")
    (problem,) = problems(at(BEDROCK, AMAZON, monkeypatch, program="no-such-claude")).values()
    assert problem.code == "engine.clouds"
    assert f"{BEDROCK.flag}, {VERTEX.flag}" in problem.message


def test_files_of_a_cloud_are_lent_and_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program gets copies of both files of Amazon's, wherever they lie; what they hold is in nothing it says."""
    secret = "made-up-secret-of-a-file-0123456789"
    (tmp_path / "user/.aws").mkdir()
    (tmp_path / "user/.aws/config").write_text("[profile work]\nregion = eu-west-1\n")
    (tmp_path / "keys").write_text(
        f"[work]\naws_access_key_id = AKIAMADEUPMADEUP0123\naws_secret_access_key={secret}\n"
    )
    program = tmp_path / "claude"
    program.write_text(
        '#!/bin/sh\n[ "$1" = -p ] && cat "$AWS_SHARED_CREDENTIALS_FILE" "$AWS_CONFIG_FILE" >&2\nexit 1\n'
    )
    program.chmod(0o755)
    environment = {**AMAZON, "AWS_PROFILE": "work", "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "keys")}
    engine = at(BEDROCK, environment, monkeypatch, program=str(program))

    async def run() -> tuple[str, list[Path]]:
        async with TemporarySandbox().open(SandboxSpec(label="test")) as workspace:
            request = RunRequest(trial_id="t", case_id="c", prompt="p", model="m-1", limits=LIMITS)
            execution = await engine.run(request, workspace, lambda _event: None)
            return execution.stderr, [path for path in (workspace.home / ".aws").glob("*") if path.is_file()]

    stderr, left = asyncio.run(run())
    assert "region = eu-west-1" in stderr
    assert "aws_secret_access_key=[redacted:keys-aws_secret_access_key]" in stderr
    assert secret not in stderr
    assert left == []


class _Refusing(socketserver.StreamRequestHandler):
    """A proxy that lets nothing through."""

    def handle(self) -> None:
        """Note where a tunnel should lead."""
        line = self.rfile.readline().decode()
        if line.startswith("CONNECT "):
            self.server.targets.append(line.split()[1])  # type: ignore[attr-defined]
        self.wfile.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


GOOGLE_LOGIN = {
    "type": "authorized_user",
    "client_id": "made-up.apps.googleusercontent.com",
    "client_secret": "made-up-client-secret-0123",
    "refresh_token": "made-up-refresh-token-0123",
}
AZURE = {
    "ANTHROPIC_FOUNDRY_RESOURCE": "my-resource",
    "AZURE_TENANT_ID": "00000000-0000-0000-0000-000000000001",
    "AZURE_CLIENT_ID": "00000000-0000-0000-0000-000000000002",
    "AZURE_CLIENT_SECRET": "made-up-client-secret-0123",
}


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize(
    ("cloud", "environment", "asked_first"),
    [
        (BEDROCK, {**AMAZON, **SIGNED}, "bedrock-runtime.eu-west-1.amazonaws.com:443"),
        (VERTEX, GOOGLE, "oauth2.googleapis.com:443"),
        (FOUNDRY, AZURE, "login.microsoftonline.com:443"),
    ],
    ids=lambda value: value.name if isinstance(value, Cloud) else None,
)
def test_the_program_asks_no_other_hosts_than_those_let_through(
    agent_program: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cloud: Cloud,
    environment: Mapping[str, str],
    asked_first: str,
) -> None:
    """Where it authenticates by itself: each host that the real program wants is among those of the engine."""
    if cloud is VERTEX:
        (tmp_path / "login.json").write_text(json.dumps(GOOGLE_LOGIN))
        environment = {**environment, "GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "login.json")}
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Refusing) as proxy, ModelServer() as server:
        proxy.targets = []  # type: ignore[attr-defined]
        threading.Thread(target=proxy.serve_forever, args=(0.05,), daemon=True).start()
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.server_address[1]}")
        options = {"program": str(agent_program("claude")), "api_retries": 0, "pass_env": ("HTTPS_PROXY",)}
        engine = at(cloud, environment, monkeypatch, **options)
        failure = play(engine, server, "hi", Given(".claude/skills"), model="claude-sonnet-4-5").execution.failure
        proxy.shutdown()
    assert failure is not None
    assert failure.blame is Blame.INFRASTRUCTURE
    (provider,) = skillgauge_engines()
    assert provider.traits_with is not None
    hosts = {f"{host}:443" for host in provider.traits_with(ClaudeCodeOptions()).model_hosts}
    targets = set(proxy.targets)  # type: ignore[attr-defined]
    assert asked_first in targets
    assert targets <= hosts
