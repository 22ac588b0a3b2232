"""What is known before any session: program, credentials, identity, routes, and how it would be started."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import FailureClass, Limits, PluginError, Problem, RunRequest, SandboxSpec, Severity
from skillgauge_engine_claude_code.engine import ClaudeCodeEngine
from skillgauge_engine_claude_code.options import ClaudeCodeOptions
from skillgauge_engine_claude_code.plugin import skillgauge_engines
from skillgauge_testkit import ENGINES, Maker, TemporarySandbox, check_light_import, check_plugin, check_redirects
from skillgauge_testkit.agent_sessions import KEY

MODULE = "skillgauge_engine_claude_code.plugin"


def stand_in(folder: Path, says: str = "2.1.332 (Claude Code)") -> str:
    """A program that only tells its version, and whether it is asked more than once."""
    path = folder / "claude"
    path.write_text(f'#!/bin/sh\necho asked >> "{folder}/asked"\necho "{says}"\n')
    path.chmod(0o755)
    return str(path)


def engine(**options: Any) -> ClaudeCodeEngine:
    """An engine with these options."""
    return ClaudeCodeEngine(ClaudeCodeOptions(**options))


def problems(one: ClaudeCodeEngine) -> dict[str, Problem]:
    """What `check` finds, by code."""
    return {problem.code: problem for problem in asyncio.run(one.check())}


@pytest.mark.slow
def test_plugin() -> None:
    """It announces itself well and cheaply."""
    check_light_import(MODULE, allowed=("skillgauge_agent_programs",))
    check_plugin(MODULE, "engines")


@pytest.mark.parametrize(
    "options", [{"base_url": "http://u:p@host"}, {"base_url": "ftp://h"}, {"permission_mode": "all"}, {"unknown": 1}]
)
def test_wrong_options(options: dict[str, Any]) -> None:
    """They are refused before anything runs, and a password in a URL is not repeated."""
    with pytest.raises(PluginError) as raised:
        Maker(ENGINES, MODULE)(options)
    assert "u:p" not in str(raised.value)


@pytest.mark.requirement("BF-CRED-006", "SE-RUN-002")
def test_missing_credentials_are_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_in: Callable[[str], Path]
) -> None:
    """A key, a login or a server of one's own is enough; without any the message says what to do."""
    program = stand_in(tmp_path)
    assert problems(engine(program=program)) == {}
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    missing = problems(engine(program=program))["engine.no-credentials"]
    assert missing.severity is Severity.ERROR
    assert "ANTHROPIC_API_KEY" in missing.message
    assert "~/.claude/.credentials.json" in missing.message
    assert "base_url" in (missing.hint or "")
    assert problems(engine(program=program, base_url="http://127.0.0.1:1")) == {}
    log_in("{}")
    assert problems(engine(program=program)) == {}
    monkeypatch.setenv("ANTHROPIC_API_KEY", "abc")
    assert "abc" not in problems(engine(program=program))["engine.key"].message


def test_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An absent one is an error with the way to get it; an untested version is a warning; its version is asked once."""
    absent = problems(engine(program=str(tmp_path / "no-claude")))["engine.no-program"]
    assert "npm install -g @anthropic-ai/claude-code" in (absent.hint or "")
    monkeypatch.setenv("PATH", "/nowhere")
    assert "engine.no-program" in problems(engine())
    (tmp_path / "new").mkdir()
    other = problems(engine(program=stand_in(tmp_path / "new", "9.9.9")))["engine.untested-version"]
    assert (other.severity, "9.9.9" in other.message) == (Severity.WARNING, True)
    program = stand_in(tmp_path)
    one = engine(program=program)
    assert one.identity(None).version == engine(program=program).identity(None).version
    assert (one.identity(None).version or "").startswith("2.1.332+engine")
    assert (tmp_path / "asked").read_text() == "asked\n"


def test_root_may_not_bypass_permissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program refuses that, so it is told before."""
    program = stand_in(tmp_path)
    for user, codes in ((0, ["engine.options"]), (1000, [])):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        assert list(problems(engine(program=program, permission_mode="bypassPermissions"))) == codes


def test_identity(tmp_path: Path) -> None:
    """Options, model and address count; where the program lies does not. Without a version it is incomplete."""
    first = engine(program=stand_in(tmp_path)).identity(None)
    assert (first.name, first.model, first.complete) == ("claude-code", "claude-sonnet-4-5", True)
    assert first.service == "https://api.anthropic.com"
    assert engine(base_url="http://127.0.0.1:1").identity(None).service == "http://127.0.0.1:1"
    (tmp_path / "other").mkdir()
    assert engine(program=stand_in(tmp_path / "other")).identity(None).digest == first.digest
    assert engine(program=str(tmp_path / "claude"), settings={"x": 1}).identity(None).digest != first.digest
    assert engine(program="no-such-claude").identity(None).complete is False
    assert engine(program=str(tmp_path / "claude")).identity("claude-x").model == "claude-x"


def test_routes(monkeypatch: pytest.MonkeyPatch, log_in: Callable[[str], Path]) -> None:
    """The key goes into headers outside; a login cannot be relayed, a server of one's own needs no key."""
    (route,) = engine().routes(None)
    assert (route.name, route.base_url, dict(route.headers)) == (
        "anthropic",
        "https://api.anthropic.com",
        {"x-api-key": KEY},
    )
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    log_in("{}")
    assert engine().routes(None) == ()
    (own,) = engine(base_url="http://127.0.0.1:1/").routes(None)
    assert (own.base_url, dict(own.headers)) == ("http://127.0.0.1:1", {})
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)
    assert dict(engine().routes(None)[0].headers) == {"authorization": f"Bearer {KEY}"}


def launched(
    tmp_path: Path, *, request: dict[str, Any] | None = None, **options: Any
) -> tuple[list[str], dict[str, str]]:
    """Arguments and environment that the program is started with."""
    path = tmp_path / "claude"
    path.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/arguments"\nenv > "{tmp_path}/env"\ncat > "{tmp_path}/in"\n'
        f'[ "$1" = --version ] || cat <&3 > "{tmp_path}/key"\n'
    )
    path.chmod(0o755)

    async def main() -> None:
        async with TemporarySandbox().open(SandboxSpec(label="test")) as workspace:
            asked = RunRequest(trial_id="t", case_id="c", prompt="hi", model=None, **(request or {"limits": Limits()}))
            await engine(program=str(path), **options).run(asked, workspace, lambda _event: None)

    asyncio.run(main())
    pairs = (line.partition("=")[::2] for line in (tmp_path / "env").read_text().splitlines())
    return (tmp_path / "arguments").read_text().splitlines(), dict(pairs)


def test_how_it_is_started(tmp_path: Path) -> None:
    """Always with a model, quiet, without skills of its own, with a private home, and with no setting of the user."""
    arguments, environment = launched(tmp_path)
    assert arguments[arguments.index("--model") + 1] == "claude-sonnet-4-5"
    assert arguments[arguments.index("--setting-sources") + 1] == "project"
    assert arguments[-3:] == ["--allowedTools", "Bash", "Skill"]
    assert (tmp_path / "in").read_text() == "hi"
    assert environment["CLAUDE_CONFIG_DIR"] == f"{environment['HOME']}/.claude"
    quiet = ("CLAUDE_CODE_DISABLE_BUNDLED_SKILLS", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY")
    assert {environment[name] for name in quiet} == {"1"}
    assert "HTTPS_PROXY" not in environment
    assert "ANTHROPIC_BASE_URL" not in environment
    assert KEY not in environment.values()
    assert environment["CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR"] == "3"
    assert (tmp_path / "key").read_text() == KEY


def test_options_at_the_start(tmp_path: Path) -> None:
    """Turns, settings, retries and variables that the user passes on."""
    arguments, environment = launched(
        tmp_path,
        request={"limits": Limits(max_turns=7)},
        settings={"hooks": {}},
        api_retries=0,
        allowed_tools=("Bash", "Edit"),
        pass_env=("HTTPS_PROXY", "NOT_SET"),
        base_url="http://127.0.0.1:1",
    )
    assert arguments[arguments.index("--max-turns") + 1] == "7"
    assert json.loads(arguments[arguments.index("--settings") + 1]) == {"hooks": {}}
    assert arguments[arguments.index("--allowedTools") + 1 :] == ["Bash", "Edit", "Skill"]
    assert environment["CLAUDE_CODE_MAX_RETRIES"] == "0"
    assert environment["HTTPS_PROXY"] == "http://127.0.0.1:1"
    assert environment["NO_PROXY"] == "127.0.0.1,localhost,::1"
    assert environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert "NOT_SET" not in environment


def test_a_program_that_is_gone(tmp_path: Path) -> None:
    """Without the program a session is an error of the infrastructure."""

    async def main() -> None:
        async with TemporarySandbox().open(SandboxSpec(label="test")) as workspace:
            request = RunRequest(trial_id="t", case_id="c", prompt="hi", model=None, limits=Limits())
            execution = await engine(program=str(tmp_path / "gone")).run(request, workspace, lambda _event: None)
            assert execution.failure is not None
            assert execution.failure.failure_class is FailureClass.LAUNCH

    asyncio.run(main())


def test_instructions_leave_no_tools(tmp_path: Path) -> None:
    """They take the place of the program's own; no setting, and nothing that is allowed, comes beside them."""
    arguments, _ = launched(tmp_path, instructions="Judge.", settings={"hooks": {}}, allowed_tools=["Bash"])
    assert arguments[arguments.index("--system-prompt") + 1] == "Judge."
    assert arguments[arguments.index("--tools") + 1] == ""
    assert {"--strict-mcp-config", "--disable-slash-commands"} <= set(arguments)
    assert not {"--settings", "--allowedTools", "--permission-mode"} & set(arguments)
    plain, judging = engine(program=stand_in(tmp_path)), engine(program=stand_in(tmp_path), instructions="Judge.")
    assert "instructions" not in plain.identity(None).settings  # or every recording made before would be of another
    assert plain.identity(None).digest != judging.identity(None).digest


GATEWAY = "http://127.0.0.1:9"


def test_redirects() -> None:
    """Each variable that the plugin declares decides which address is asked."""
    (provider,) = skillgauge_engines()
    check_redirects(provider)


def test_a_key_goes_to_the_gateway_and_a_login_does_not(
    monkeypatch: pytest.MonkeyPatch, log_in: Callable[[str], Path]
) -> None:
    """A key and no credentials at all mean the gateway; a login means the vendor, with a warning that says so."""
    options = ClaudeCodeOptions(gateway=GATEWAY)

    def asked(**more: Any) -> str | None:
        return ClaudeCodeEngine(options.model_copy(update=more)).identity(None).service

    def warnings() -> list[str]:
        problems = asyncio.run(ClaudeCodeEngine(options).check())
        return [one.message for one in problems if one.code == "engine.gateway-unused"]

    assert asked() == GATEWAY
    assert asked(base_url="http://127.0.0.1:8") == "http://127.0.0.1:8"
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert asked() == GATEWAY
    assert warnings() == []
    log_in("{}")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", GATEWAY)
    assert asked() == "https://api.anthropic.com"
    (warning,) = warnings()
    assert "not sent where ANTHROPIC_BASE_URL says" in warning
    assert asked(pass_env=("ANTHROPIC_BASE_URL",)) == GATEWAY


def test_hosts_for_a_login() -> None:
    """A sandbox without a network lets a login through to the gateway that the user passes on, and to no other."""
    (provider,) = skillgauge_engines()
    assert provider.traits_with is not None
    address = "https://gateway.example.org:8443/x"
    hosts = [
        provider.traits_with(ClaudeCodeOptions(gateway=address, pass_env=passed)).model_hosts
        for passed in ((), ("ANTHROPIC_BASE_URL",))
    ]
    assert hosts == [("api.anthropic.com",), ("api.anthropic.com", "gateway.example.org:8443")]
