"""Variables of the environment that say where an API is served: keys go there, and nowhere else."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import Done, Program

from .conftest import MakeSkill, task

KEY = "sk-canary-for-the-gateway-0123456789"
SKILL = "---\nname: greet\ndescription: Says hello. Use when somebody is to be greeted.\n---\n\nSay hello.\n"


@dataclass(frozen=True)
class Asking:
    """An engine or a judge, with the variables of its key and of its address."""

    name: str
    key: str
    variable: str
    model: str
    path: str = ""
    """What stands in the variable after the address of a server."""
    program: str = ""
    confined: Mapping[str, str] = field(default_factory=dict)
    """Further options inside of another sandbox."""


VENDORS = ("api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com")
INSIDE = {"sandbox": "danger-full-access"}
AGENTS = (
    Asking("claude-code", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "claude-sonnet-4-5", program="claude"),
    Asking("codex", "OPENAI_API_KEY", "OPENAI_BASE_URL", "gpt-5.5", "/v1", program="codex", confined=INSIDE),
    Asking("gemini", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "gemini-2.5-flash", program="gemini"),
    Asking("claude-agent-acp", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "claude-x", program="claude-agent-acp"),
    Asking("codex-acp", "OPENAI_API_KEY", "OPENAI_BASE_URL", "gpt-5.5", "/v1", program="codex-acp"),
)
APIS = (
    Asking("api", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "claude-x"),
    Asking("api", "OPENAI_API_KEY", "OPENAI_BASE_URL", "gpt-x", "/v1"),
    Asking("api", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "gemini-x"),
)
JUDGES = (
    Asking("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "claude-x"),
    Asking("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "gpt-x", "/v1"),
    Asking("gemini", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "gemini-x"),
)


def named(asking: Asking) -> str:
    """For the id of a test."""
    return f"{asking.name}-{asking.variable}"


@contextmanager
def proxy() -> Iterator[tuple[str, list[bytes]]]:
    """A proxy that lets nothing through: its address, and the beginning of what it was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                try:
                    connection, _ = listening.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(1)
                    try:
                        asked.append(connection.recv(200))
                    except OSError:
                        asked.append(b"")

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", asked
        finally:
            ended.set()
            thread.join()


def written(work: Path) -> Path:
    """A skill with one eval that a program decides."""
    (work / "greet/evals").mkdir(parents=True)
    (work / "greet/SKILL.md").write_text(SKILL)
    evals = [{"id": "ann", "prompt": "Greet Ann.", "assertions": [{"type": "contains", "value": "hello"}]}]
    (work / "greet/evals/evals.json").write_text(json.dumps({"skill_name": "greet", "evals": evals}))
    return work / "greet"


def evaluated(
    program: Program, asking: Asking, options: Mapping[str, str], env: Mapping[str, str], *arguments: str | Path
) -> Done:
    """An evaluation of the skill in the work folder by one engine."""
    settings = [word for key, value in options.items() for word in ("--set", f"engines.{asking.name}.{key}={value}")]
    command = ["eval", "greet", "--engine", asking.name, "--model", asking.model, "--no-baseline", "--store", "none"]
    return program(*command, *settings, *arguments, env=env, timeout_s=200)


@pytest.mark.e2e
@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize("sandbox", ["local", "bubblewrap"])
@pytest.mark.parametrize("agent", AGENTS, ids=named)
def test_an_agent_asks_where_the_variable_says(
    program: Program,
    work: Path,
    agent_program: Callable[[str], Path],
    agent: Asking,
    sandbox: str,
    request: pytest.FixtureRequest,
) -> None:
    """Requests and the key arrive there, also where tools have no network, and no model's host is asked."""
    if sandbox == "bubblewrap":
        request.getfixturevalue("strongest")
    written(work)
    options = {"program": str(agent_program(agent.program)), "api_retries": "0", "pass_env": '["HTTPS_PROXY"]'}
    options |= agent.confined if sandbox == "bubblewrap" else {}
    with ModelServer(lambda _request: ModelReply("hello")) as server, proxy() as (elsewhere, diverted):
        env = {agent.key: KEY, agent.variable: f"{server.url}{agent.path}", "HTTPS_PROXY": elsewhere}
        untrusted = ["--untrusted"] if sandbox == "bubblewrap" else []
        done = evaluated(program, agent, options, env, "--sandbox", sandbox, "--json", *untrusted)
    assert done.code == 0, done.stdout + done.stderr
    (result,) = done.document["results"]
    assert result["verdict"] == "pass"
    assert server.requests
    assert {one.key for one in server.requests} == {KEY}
    asked = b"".join(diverted)
    assert not [host for host in VENDORS if host.encode() in asked]
    assert KEY.encode() not in asked


@pytest.mark.e2e
@pytest.mark.parametrize("api", APIS, ids=named)
def test_the_engine_api_asks_where_the_variable_of_its_provider_says(program: Program, work: Path, api: Asking) -> None:
    """Each provider has a variable of its own, and those of the others change nothing."""
    written(work)
    others = {one.variable: "http://127.0.0.1:1" for one in APIS if one is not api}
    with ModelServer([ModelReply("hello")]) as server:
        env = {api.key: KEY, api.variable: f"{server.url}{api.path}/", **others}
        done = evaluated(program, api, {}, env, "--json")
    assert done.code == 0, done.stdout + done.stderr
    assert [one.key for one in server.requests] == [KEY]


@pytest.mark.e2e
@pytest.mark.parametrize("judge", JUDGES, ids=named)
def test_a_judge_asks_where_the_variable_says(
    program: Program, work: Path, make_skill: MakeSkill, judge: Asking
) -> None:
    """The question and the key arrive there; an option of the user goes before the variable."""
    check = {"type": "llm_judge", "judgePrompt": "Is it a greeting?"}
    tasks = work / "tasks.json"
    tasks.write_text(
        json.dumps([task("hello", "hello") | {"expectedOutput": check, "evaluator": {"type": "llm_judge"}}])
    )
    command = ("eval", "--skills", make_skill(), "--tasks", tasks, "--judge", judge.name, "--judge-model", judge.model)
    reply = ModelReply("8, yes")
    with ModelServer([reply]) as server, ModelServer([reply]) as chosen:
        env = {judge.key: KEY, judge.variable: f"{server.url}{judge.path}"}
        done = program(*command, "--json", "--store", "none", env=env)
        assert done.code == 0, done.stdout + done.stderr
        assert [one.key for one in server.requests] == [KEY]
        option = ("--set", f"judges.{judge.name}.base_url={chosen.url}{judge.path}")
        done = program(*command, *option, "--json", "--store", "none", env=env)
        assert done.code == 0, done.stdout + done.stderr
    assert (len(server.requests), [one.key for one in chosen.requests]) == (1, [KEY])


@pytest.mark.e2e
@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS[:2], ids=named)
def test_the_judge_agent_asks_where_the_variable_says(
    program: Program, work: Path, make_skill: MakeSkill, agent_program: Callable[[str], Path], agent: Asking
) -> None:
    """The program that is asked as a judge gets the address and the key as the engine does."""
    path = agent_program(agent.program)
    skill = work / "greet"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    (skill / "evals/evals.json").write_text(
        json.dumps({"evals": [{"prompt": "Greet.", "assertions": ["It is kind."]}]})
    )
    options = ("--set", f"engines.{agent.name}.program={path}", "--set", f"judges.agent.engine={agent.name}")
    command = ("eval", "greet", "--engine", "mock", "--no-baseline", "--store", "none", "--json")

    def approve(request: ModelRequest) -> ModelReply:
        marker = re.search(r"END <name> ([0-9a-f]{32})\.", json.dumps(request.body))
        verdict = {"number": 1, "holds": True, "quote": "Greet", "reason": "so it is"}
        return ModelReply(json.dumps({"marker": marker[1] if marker else "", "answers": [verdict]}))

    with ModelServer(approve) as server:
        env = {agent.key: KEY, agent.variable: f"{server.url}{agent.path}"}
        judge = ("--judge", "agent", "--judge-model", agent.model)
        looked = program(*command, *options, *judge, "--dry-run", env=env)
        done = program(*command, *options, *judge, env=env, timeout_s=200)
    assert done.code == 0, done.stdout + done.stderr
    assert {one.key for one in server.requests} == {KEY}
    host = server.url.removeprefix("http://")
    assert [(one["host"], one["variable"]) for one in looked.document["services"]] == [(host, agent.variable)]


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("gateway.example.org", "must be an http or https URL"),
        ("ftp://gateway.example.org", "must be an http or https URL"),
        ("https://user:open-sesame@gateway.example.org", "a URL with a password in it"),
    ],
)
@pytest.mark.parametrize("asking", [*AGENTS, APIS[0]], ids=named)
def test_an_address_that_is_none_is_a_problem_before_anything_runs(
    program: Program, work: Path, asking: Asking, address: str, reason: str
) -> None:
    """It names the variable and never repeats a password; an address by an option makes the variable irrelevant."""
    written(work)
    env = {asking.key: KEY, asking.variable: address}
    done = evaluated(program, asking, {}, env)
    assert done.code == 2
    assert f"error[plugin.redirect]: environment variable {asking.variable}" in done.stderr
    assert reason in done.stderr
    assert "open-sesame" not in done.stdout + done.stderr
    assert not (work / "reports").exists()
    option = "anthropic_gateway" if asking.name == "api" else "gateway"
    good = evaluated(program, asking, {option: "http://127.0.0.1:1/v1"}, env, "--dry-run")
    assert good.code == 0, good.stderr
    assert f"engine '{asking.name}' asks 127.0.0.1:1" in good.stdout


@pytest.mark.slow
@pytest.mark.e2e
def test_a_judge_with_an_address_that_is_none(program: Program, work: Path, make_skill: MakeSkill) -> None:
    """Every judge says so by the variable's name before anything runs; so does one that asks an agent's program."""
    check = {"type": "llm_judge", "judgePrompt": "Is it a greeting?"}
    tasks = work / "tasks.json"
    tasks.write_text(
        json.dumps([task("hello", "hello") | {"expectedOutput": check, "evaluator": {"type": "llm_judge"}}])
    )
    skill = make_skill()
    for name, variable in (*((one.name, one.variable) for one in JUDGES), ("agent", "ANTHROPIC_BASE_URL")):
        done = program("eval", "--skills", skill, "--tasks", tasks, "--judge", name, env={variable: "nowhere"})
        assert (done.code, f"environment variable {variable}" in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("agent", AGENTS, ids=named)
def test_dry_runs_and_the_doctor_name_the_host(program: Program, work: Path, agent: Asking) -> None:
    """The vendor's host without a variable, the variable's with it, and that of an option before either."""
    written(work)
    key = {agent.key: KEY}
    told = evaluated(program, agent, {}, key, "--dry-run", "--json").document["services"]
    assert [(one["who"], one["variable"]) for one in told] == [(f"engine '{agent.name}'", None)]
    vendor = told[0]["host"]
    assert vendor in VENDORS
    redirected = key | {agent.variable: "http://127.0.0.1:8080/x"}
    plain = evaluated(program, agent, {}, redirected, "--dry-run")
    assert f"engine '{agent.name}' asks 127.0.0.1:8080, from {agent.variable}\n" in plain.stdout
    option = {"base_url": "http://127.0.0.1:8081"}
    chosen = evaluated(program, agent, option, redirected, "--dry-run", "--json").document["services"]
    assert [(one["host"], one["variable"]) for one in chosen] == [("127.0.0.1:8081", None)]
    doctor = ("plugins", "doctor", f"engines/{agent.name}", "--json")
    by_option = ("--set", f"engines.{agent.name}.base_url=http://127.0.0.1:8081")
    asks = [
        program(*doctor, *more, env=env).document["plugins"][0]["asks"]
        for more, env in (((), key), ((), redirected), (by_option, redirected))
    ]
    assert asks == [f"asks {vendor}", f"asks 127.0.0.1:8080, from {agent.variable}", "asks 127.0.0.1:8081"]


@pytest.mark.slow
@pytest.mark.e2e
def test_the_doctor_names_the_host_of_judges(program: Program) -> None:
    """Each judge's own, or the one of its variable; an address that is none is what it lacks."""
    names = [f"judges/{one.name}" for one in JUDGES]
    env = {"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1", "GOOGLE_GEMINI_BASE_URL": "nowhere"}
    done = program("plugins", "doctor", *names, "--json", env=env)
    plugins = {one["name"]: one for one in done.document["plugins"] if one["kind"] == "judges"}
    assert plugins["anthropic"]["asks"] == "asks api.anthropic.com"
    assert plugins["openai"]["asks"] == "asks 127.0.0.1:8080, from OPENAI_BASE_URL"
    assert plugins["gemini"]["healthy"]
    assert "GOOGLE_GEMINI_BASE_URL" in plugins["gemini"]["lacks"]


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize(
    ("agent", "variable"),
    [
        (AGENTS[0], "CLAUDE_CODE_USE_MANTLE"),
        (AGENTS[0], "CLAUDE_CODE_USE_GATEWAY"),
        (AGENTS[3], "CLAUDE_CODE_USE_BEDROCK"),
        (AGENTS[3], "ANTHROPIC_FOUNDRY_BASE_URL"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_a_cloud_that_is_not_supported_is_refused(program: Program, work: Path, agent: Asking, variable: str) -> None:
    """The key is not sent to the vendor's own address unless the user says where; a switch that is off is none."""
    written(work)
    env = {agent.key: KEY, variable: "1"}
    done = evaluated(program, agent, {}, env)
    assert done.code == 2
    assert f"although {variable} sends it elsewhere" in done.stderr
    assert not (work / "reports").exists()
    for options, more in (({"base_url": "http://127.0.0.1:1"}, {}), ({}, {variable: "0"})):
        looked = evaluated(program, agent, options, env | more, "--dry-run")
        assert "sends it elsewhere" not in looked.stderr
        assert looked.code == 0


@pytest.mark.slow
@pytest.mark.e2e
def test_a_folder_cannot_redirect(program: Program, work: Path) -> None:
    """An address in a folder's configuration that the user does not trust changes nothing; a trusted one counts."""
    written(work)
    key = {"ANTHROPIC_API_KEY": KEY}
    for option in ("gateway", "base_url"):
        config = {"plugins": {"engines": {"claude-code": {option: "http://127.0.0.1:1"}}}}
        (work / "skillgauge.config.yaml").write_text(json.dumps(config))
        for env, host in (
            (key, "api.anthropic.com"),
            (key | {"ANTHROPIC_BASE_URL": "http://127.0.0.1:2"}, "127.0.0.1:2"),
        ):
            done = evaluated(program, AGENTS[0], {}, env, "--dry-run", "--json")
            assert [one["host"] for one in done.document["services"]] == [host]
            assert "warning[config.held-back]" in done.stderr
            trusted = evaluated(program, AGENTS[0], {}, env, "--dry-run", "--json", "--trust-config")
            assert [one["host"] for one in trusted.document["services"]] == ["127.0.0.1:1"]


@pytest.mark.slow
@pytest.mark.e2e
def test_ids_are_those_of_the_option(program: Program, work: Path) -> None:
    """An address by a variable belongs to what a session depends on exactly as one by the option does."""
    written(work)
    plans = []
    for agent in (*AGENTS, APIS[0]):
        address = "http://127.0.0.1:8080/v1"
        for options, env in (({"base_url": address}, {}), ({}, {agent.variable: address}), ({}, {})):
            done = evaluated(program, agent, options, {agent.key: KEY} | env, "--dry-run", "--json")
            plans.append(done.document["plan"]["plan_id"])
        option, variable, neither = plans[-3:]
        assert option == variable != neither, agent.name
