"""What is known before any session: program, credentials, identity, routes, and how it would be started."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Limits, Problem, RunRequest, SandboxSpec, Severity
from skillgauge_engine_codex.engine import CodexEngine
from skillgauge_engine_codex.options import ACCESS_TOKEN, AZURE_ENDPOINT, AZURE_KEY, CodexOptions
from skillgauge_engine_codex.plugin import skillgauge_engines
from skillgauge_testkit import TemporarySandbox, check_light_import, check_plugin, check_redirects
from skillgauge_testkit.agent_sessions import KEY

MODULE = "skillgauge_engine_codex.plugin"


def stand_in(folder: Path, says: str = "codex-cli 0.171.0") -> str:
    """A program that only tells its version."""
    path = folder / "codex"
    path.write_text(f'#!/bin/sh\necho "{says}"\n')
    path.chmod(0o755)
    return str(path)


def engine(**options: Any) -> CodexEngine:
    """An engine with these options."""
    return CodexEngine(CodexOptions(**options))


def problems(one: CodexEngine) -> dict[str, Problem]:
    """What `check` finds, by code."""
    return {problem.code: problem for problem in asyncio.run(one.check())}


@pytest.mark.slow
def test_plugin() -> None:
    """It announces itself well and cheaply."""
    check_light_import(MODULE, allowed=("skillgauge_agent_programs",))
    check_plugin(MODULE, "engines")


@pytest.mark.requirement("BF-CRED-002", "BF-CRED-006", "SE-RUN-002")
def test_each_way_to_authenticate_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_in: Callable[[str], Path]
) -> None:
    """Three variables, a login file, or a server of one's own; without any the message names them all."""
    program = stand_in(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY")
    missing = problems(engine(program=program))["engine.no-credentials"]
    assert missing.severity is Severity.ERROR
    for name in ("OPENAI_API_KEY", "CODEX_API_KEY", ACCESS_TOKEN, "~/.codex/auth.json"):
        assert name in missing.message
    for variable in ("OPENAI_API_KEY", "CODEX_API_KEY", ACCESS_TOKEN):
        monkeypatch.setenv(variable, KEY)
        assert problems(engine(program=program)) == {}
        monkeypatch.delenv(variable)
    assert problems(engine(program=program, base_url="http://127.0.0.1:1/v1")) == {}
    log_in("{}")
    assert problems(engine(program=program)) == {}


@pytest.mark.requirement("BF-CRED-003", "BF-CRED-006")
def test_azure_needs_key_and_endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a model with the prefix, what is missing is told before anything starts; another key does not help."""
    one = engine(program=stand_in(tmp_path))
    assert one.identity("azure/my-deployment").model == "azure/my-deployment"
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found = asyncio.run(one.check())
    assert [problem.code for problem in found] == ["engine.no-credentials"] * 2
    told = " ".join(problem.message for problem in found)
    assert AZURE_KEY in told
    assert AZURE_ENDPOINT in told
    monkeypatch.setenv(AZURE_KEY, "azure-key-0123456789")
    monkeypatch.setenv(AZURE_ENDPOINT, "https://name.openai.azure.com/")
    assert asyncio.run(one.check()) == ()
    (route,) = one.routes("azure/my-deployment")
    assert (route.name, route.base_url) == ("azure", "https://name.openai.azure.com/openai/v1")
    assert dict(route.headers) == {"authorization": "Bearer azure-key-0123456789"}


def test_routes(monkeypatch: pytest.MonkeyPatch, log_in: Callable[[str], Path]) -> None:
    """The key goes into headers outside; neither a login nor an access token can be relayed."""
    headers = {"authorization": f"Bearer {KEY}"}
    (route,) = engine().routes(None)
    assert (route.name, route.base_url, dict(route.headers)) == ("openai", "https://api.openai.com/v1", headers)
    assert "POST /responses" in route.requests
    assert not any(request.endswith(" *") for request in route.requests)
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv(ACCESS_TOKEN, KEY)
    assert engine().routes(None) == ()
    monkeypatch.delenv(ACCESS_TOKEN)
    log_in("{}")
    assert engine().routes(None) == ()


def test_program(tmp_path: Path) -> None:
    """An absent one is an error with the way to get it; an untested version is a warning."""
    absent = problems(engine(program=str(tmp_path / "no-codex")))["engine.no-program"]
    assert "npm install -g @openai/codex" in (absent.hint or "")
    other = problems(engine(program=stand_in(tmp_path, "codex-cli 9.9.9")))["engine.untested-version"]
    assert (other.severity, "9.9.9" in other.message) == (Severity.WARNING, True)


def test_without_a_model_the_identity_is_incomplete(tmp_path: Path) -> None:
    """What the program asks by itself is not known beforehand."""
    one = engine(program=stand_in(tmp_path))
    assert (one.identity(None).complete, one.identity("gpt-5.5").complete) == (False, True)
    assert (one.identity(None).version or "").startswith("0.171.0+engine")


def launched(tmp_path: Path, **options: Any) -> tuple[list[str], dict[str, str]]:
    """Arguments and environment that the program is started with."""
    path = tmp_path / "codex"
    path.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/arguments"\nenv > "{tmp_path}/env"\ncat > "{tmp_path}/in"\n'
        f'cp "$CODEX_HOME/hooks.json" "{tmp_path}/" 2>/dev/null\n'
    )
    path.chmod(0o755)

    async def main() -> None:
        async with TemporarySandbox().open(SandboxSpec(label="test")) as workspace:
            request = RunRequest(trial_id="t", case_id="c", prompt="hi", model="gpt-5.5", limits=Limits())
            await engine(program=str(path), **options).run(request, workspace, lambda _event: None)

    asyncio.run(main())
    pairs = (line.partition("=")[::2] for line in (tmp_path / "env").read_text().splitlines())
    return (tmp_path / "arguments").read_text().splitlines(), dict(pairs)


def settings(arguments: list[str]) -> dict[str, Any]:
    """What the program is told by `-c`, as TOML reads it."""
    told = [arguments[at + 1] for at, word in enumerate(arguments) if word == "-c"]
    found: dict[str, Any] = {}
    for line in told:
        key, _, value = line.partition("=")
        try:
            found[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[key] = value  # the program takes it for a text too
    return found


def test_how_it_is_started(tmp_path: Path) -> None:
    """Quiet, without skills of its own, with its record kept, the provider by settings, and a private home."""
    arguments, environment = launched(tmp_path)
    assert "--ephemeral" not in arguments
    assert arguments[-1] == "-"
    assert (tmp_path / "in").read_text() == "hi"
    told = settings(arguments)
    for name in ("analytics.enabled", "check_for_update_on_startup", "skills.bundled.enabled"):
        assert told[name] is False
    assert told["model_provider"] == "skillgauge"
    assert told["model_providers.skillgauge"] == {
        "name": "skillgauge",
        "base_url": "https://api.openai.com/v1",
        "env_key": "OPENAI_API_KEY",
        "wire_api": "responses",
        "request_max_retries": 0,
        "stream_max_retries": 3,
    }
    assert told["shell_environment_policy.exclude"] == ["OPENAI_API_KEY"]
    assert environment["CODEX_HOME"] == f"{environment['HOME']}/.codex"
    assert not environment["CODEX_HOME"].startswith(environment["TMPDIR"])
    assert "HTTPS_PROXY" not in environment


def test_options_at_the_start(tmp_path: Path) -> None:
    """Sandbox, settings of any shape, and hooks."""
    hooks = {"hooks": {"PreToolUse": []}}
    config = {"model_reasoning_effort": "high", "tools.list": [1, 'zwölf "x"'], "table": {"a b": True}}
    arguments, _ = launched(tmp_path, sandbox="read-only", config=config, hooks=hooks)
    told = settings(arguments)
    assert {name: told[name] for name in config} == config
    assert arguments[arguments.index("-s") + 1] == "read-only"
    assert "--dangerously-bypass-hook-trust" in arguments
    assert (tmp_path / "hooks.json").read_text() == '{"hooks":{"PreToolUse":[]}}'


def test_instructions_leave_no_tools(tmp_path: Path) -> None:
    """They take the place of the program's own; no hook, and no setting but those of the model, comes beside them."""
    config = {"model_reasoning_effort": "high", "mcp_servers.x.command": "x", "features.shell_tool": True}
    arguments, _ = launched(
        tmp_path, sandbox="workspace-write", instructions="Judge.", config=config, hooks={"hooks": {}}
    )
    told = settings(arguments)
    assert told["model_instructions_file"].endswith("/.codex/instructions.md")
    assert told["model_reasoning_effort"] == "high"
    assert not [name for name in told if name.startswith(("mcp_servers", "features"))]
    assert arguments.count("-s") == 1
    assert arguments[arguments.index("-s") + 1] == "read-only"
    disabled = {arguments[at + 1] for at, word in enumerate(arguments) if word == "--disable"}
    assert {"shell_tool", "unified_exec", "view_image", "multi_agent"} <= disabled
    assert not (tmp_path / "hooks.json").exists()
    plain, judging = engine(program=stand_in(tmp_path)), engine(program=stand_in(tmp_path), instructions="Judge.")
    assert "instructions" not in plain.identity("m").settings  # or every recording made before would be of another
    assert plain.identity("m").digest != judging.identity("m").digest


GATEWAY = "http://127.0.0.1:9/v1"


def test_redirects() -> None:
    """Each variable that the plugin declares decides which address is asked."""
    (provider,) = skillgauge_engines()
    check_redirects(provider)


def test_what_is_not_sent_to_a_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models of Azure and an access token are for their own services, whatever OpenAI's address is."""
    engine = CodexEngine(CodexOptions(gateway=GATEWAY))
    assert engine.identity("gpt-5.5").service == GATEWAY
    monkeypatch.setenv(AZURE_ENDPOINT, "https://acme.openai.azure.com")
    assert engine.identity("azure/gpt-5.5").service == "https://acme.openai.azure.com/openai/v1"
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv(ACCESS_TOKEN, "at-made-up-token-0123456789")
    assert engine.identity("gpt-5.5").service == "https://api.openai.com/v1"
    assert [one.code for one in asyncio.run(engine.check()) if one.code == "engine.gateway-unused"]
