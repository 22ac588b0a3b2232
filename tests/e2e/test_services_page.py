"""The configurations of `docs/services.md`: each is read from the page and run at a server of the service's shape."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from members import ROOT
from skillgauge_testkit import ModelFault, ModelReply, ModelRequest, ModelServer, in_turns, run_shell
from skillgauge_testkit.program import Program

from .judge_replies import claims_reply

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("strongest")]

PAGE = ROOT / "docs/services.md"
SECRET = "canary-of-a-service-0123456789"
real = [pytest.mark.engine, pytest.mark.slow]


@dataclass(frozen=True)
class Service:
    """A section of the page."""

    environment: Mapping[str, str]
    """Variables, each secret with a value of its own."""
    configuration: str
    command: list[str]


def sections() -> dict[str, Service]:
    """The sections that have a command, by their headings."""
    services = {}
    for section in PAGE.read_text().split("\n## ")[1:]:
        heading = section.partition("\n")[0]
        env = re.search(r"^```env\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
        pairs = [line.partition("=")[::2] for line in env[1].splitlines()] if env else []
        configuration = re.search(r"^```yaml\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
        (command,) = re.findall(r"^ {4}skillgauge (.*)$", section, re.MULTILINE)
        values = {name: f"{SECRET}-{name}" if value == "..." else value for name, value in pairs}
        services[heading] = Service(values, configuration[1] if configuration else "", shlex.split(command))
    return services


SERVICES = sections()
CLOUDS = {
    "Amazon Bedrock": ("ANTHROPIC_BEDROCK_BASE_URL", "", "AWS_BEARER_TOKEN_BEDROCK"),
    "Google Vertex AI": ("ANTHROPIC_VERTEX_BASE_URL", "/v1", "CLOUDSDK_AUTH_ACCESS_TOKEN"),
    "Microsoft Foundry": ("ANTHROPIC_FOUNDRY_BASE_URL", "/anthropic", "ANTHROPIC_FOUNDRY_API_KEY"),
    "A gateway in front of a cloud": ("ANTHROPIC_BEDROCK_BASE_URL", "", "ANTHROPIC_AUTH_TOKEN"),
}
"""Variable of the address, path below the server, and variable of what authenticates."""
APIS: dict[str, tuple[str, str, str | None]] = {
    "Azure OpenAI": (
        "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21",
        "/openai/v1/chat/completions",
        "AZURE_OPENAI_API_KEY",
    ),
    "OpenRouter": ("/api/v1/chat/completions", "/api/v1/chat/completions", "OPENROUTER_API_KEY"),
    "LiteLLM and other gateways": ("/v1/chat/completions", "/v1/chat/completions", "GATEWAY_KEY"),
    "Ollama, vLLM and LM Studio": ("/v1/chat/completions", "/v1/chat/completions", None),
}
"""Paths that engine and judge ask, and the variable with the key."""


def agents_work() -> Callable[[ModelRequest], ModelReply]:
    """What a model of an agent says: it looks for secrets, and greets."""
    look = run_shell("env; cat /proc/*/environ")
    return in_turns(ModelReply("I look.", tools=[look]), ModelReply("hello to all"))


def test_every_section_is_tried() -> None:
    """A service that is new on the page needs a row here."""
    assert set(SERVICES) == {*CLOUDS, *APIS}


@pytest.fixture
def skill(work: Path) -> Callable[[Any], Path]:
    """Write a skill with one eval that has these assertions."""

    def write(assertion: Any) -> Path:
        folder = work / "my-skill"
        (folder / "evals").mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: my-skill\ndescription: Says hello.\n---\nSay hello.\n")
        evals = [{"id": 1, "prompt": "Greet them", "assertions": [assertion]}]
        (folder / "evals/evals.json").write_text(json.dumps({"skill_name": "my-skill", "evals": evals}))
        return folder

    return write


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize("name", CLOUDS)
def test_claude_at_a_cloud(
    program: Program, skill: Callable[[Any], Path], agent_program: Callable[[str], Path], name: str
) -> None:
    """In a sandbox without a network: both arms pass, the secret stays outside, and all tokens are counted."""
    skill({"text": "it greets", "type": "contains", "value": "hello"})
    service, (variable, path, secret) = SERVICES[name], CLOUDS[name]
    with ModelServer(agents_work()) as server:
        env = {**service.environment, variable: f"{server.url}{path}"}
        more = ["--set", f"engines.claude-code.program={agent_program('claude')}", "--store", "none", "--json"]
        done = program(*service.command, *more, env=env, timeout_s=300)
        requests = list(server.requests)
    assert done.code == 0, done.stderr
    results = done.document["results"]
    assert [one["verdict"] for one in results] == ["pass", "pass"]
    usages = [one["execution"]["usage"] for one in results]
    assert [(one["input_tokens"], one["output_tokens"]) for one in usages] == [(22, 14)] * 2
    assert {request.key for request in requests} == {f"{SECRET}-{secret}"}
    header = "x-api-key" if "Foundry" in name else "authorization"
    assert all(header in request.headers for request in requests)
    model = service.command[service.command.index("--model") + 1]
    assert {request.model for request in requests} == {model}
    assert SECRET not in done.stdout
    results = [result for request in requests for result in request.results]
    assert any("PATH=" in result for result in results)
    assert not any(SECRET in result for result in results)


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize("name", ["Amazon Bedrock", "Google Vertex AI"])
def test_a_long_pause_of_a_cloud(
    program: Program, skill: Callable[[Any], Path], agent_program: Callable[[str], Path], name: str
) -> None:
    """The relay sees what the program keeps to itself: the class, the time, and nobody asks again."""
    skill({"text": "it greets", "type": "contains", "value": "hello"})
    service, (variable, path, _) = SERVICES[name], CLOUDS[name]
    reply = ModelReply(fault=ModelFault.RATE_LIMITED, headers={"Retry-After": "3600"})
    with ModelServer(lambda _request: reply) as server:
        env = {**service.environment, variable: f"{server.url}{path}"}
        more = ["--set", f"engines.claude-code.program={agent_program('claude')}", "--store", "none", "--json"]
        done = program(*service.command, *more, "--no-baseline", env=env, timeout_s=300)
    assert done.code == 3, done.stderr
    (result,) = done.document["results"]
    failure = result["execution"]["failure"]
    assert (result["verdict"], failure["failure_class"]) == ("error", "rate_limited")
    assert 3500 < failure["retry_after_s"] <= 3600


@pytest.mark.slow
@pytest.mark.parametrize("name", APIS)
def test_engine_and_judge_at_a_service(program: Program, work: Path, skill: Callable[[Any], Path], name: str) -> None:
    """Both ask where the page says, with the key of the service, and no secret is in a result."""
    skill("The answer greets the reader kindly")
    service, (engine_path, judge_path, secret) = SERVICES[name], APIS[name]
    work_on = agents_work()

    def script(request: ModelRequest) -> ModelReply:
        return work_on(request) if request.tools else ModelReply(claims_reply(request, True))

    with ModelServer(script) as server:
        configuration = re.sub(r"https?://[a-z0-9.:-]+", server.url, service.configuration)
        (work / "skillgauge.config.yaml").write_text(configuration)
        words = [*service.command, "--trust-config", "--store", "none", "--json"]
        done = program(*words, env=dict(service.environment), timeout_s=120)
        requests = list(server.requests)
    assert done.code == 0, done.stderr
    assert [one["verdict"] for one in done.document["results"]] == ["pass", "pass"]
    agents = [request for request in requests if request.tools]
    judged = [request for request in requests if not request.tools]
    assert ({request.path for request in agents}, {request.path for request in judged}) == (
        {engine_path},
        {judge_path},
    )
    key = None if secret is None else f"{SECRET}-{secret}"
    assert {request.key for request in requests} == {key}
    if "headers:" in service.configuration:
        assert {request.headers["x-team"] for request in agents} == {f"{SECRET}-GATEWAY_TEAM"}
    assert SECRET not in done.stdout


def test_a_folder_alone_sends_no_key_anywhere(program: Program, work: Path, skill: Callable[[Any], Path]) -> None:
    """Address, version, variable of the key and headers wait until the user trusts the file that names them."""
    skill({"text": "it greets", "type": "contains", "value": "hello"})
    service = SERVICES["LiteLLM and other gateways"]
    with ModelServer() as server:
        configuration = re.sub(r"https?://[a-z0-9.:-]+", server.url, service.configuration)
        (work / "skillgauge.config.yaml").write_text(configuration)
        words = ["eval", "./my-skill", "--engine", "api", "--model", "m-1", "--store", "none"]
        done = program(*words, env={**service.environment, "OPENAI_API_KEY": f"{SECRET}-own"})
        assert server.requests == []
    assert done.code == 2
    assert "config.held-back" in done.stderr
    assert "engines.api.headers" in done.stderr
