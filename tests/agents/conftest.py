"""Real agent programs, offline, against scripted models: clean environments, made-up keys, empty folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelServer
from skillgauge_testkit.agent_sessions import KEY, SKILL

Script = Iterable[ModelReply] | Callable[..., ModelReply]
Find = Callable[[str], Path]


@dataclass(frozen=True)
class Ended:
    """How a session ended."""

    code: int
    lines: list[dict[str, Any]]
    stderr: str
    workspace: Path
    server: ModelServer
    """No longer there, but it remembers."""

    @property
    def last(self) -> dict[str, Any]:
        """The last line."""
        assert self.lines, self.stderr
        return self.lines[-1]

    def of(self, **fields: object) -> list[dict[str, Any]]:
        """The lines with these fields."""
        return [line for line in self.lines if all(line.get(name) == value for name, value in fields.items())]


@dataclass(frozen=True)
class Agent:
    """A program and a place for it; each of its sessions is a new process."""

    folder: Path
    arguments: Callable[[ModelServer, Path], list[str | Path]]
    environment: Callable[[ModelServer, Path], Mapping[str, str]]
    skills: str
    """Folder of a workspace in which it looks for skills."""

    def run(self, script: Script, *, has_skill: bool = False, timeout_s: float = 90.0) -> Ended:
        """Play one session to its end; one that takes too long is killed and raises `TimeoutExpired`."""
        base = self.folder / f"session-{len(list(self.folder.iterdir()))}"
        workspace, home, temporary = (base / name for name in ("workspace", "home", "tmp"))
        for folder in (workspace, home, temporary):
            folder.mkdir(parents=True)
        if has_skill:
            (workspace / self.skills / "greet-well").mkdir(parents=True)
            (workspace / self.skills / "greet-well/SKILL.md").write_text(SKILL)
        with ModelServer(script) as server:
            clean = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(temporary), "LANG": "C.UTF-8"}
            process = subprocess.Popen(
                self.arguments(server, workspace),
                cwd=workspace,
                env={**clean, **self.environment(server, home)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            try:
                output, errors = process.communicate(timeout=timeout_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                raise
        lines = [json.loads(line) for line in output.decode().splitlines() if line.startswith("{")]
        return Ended(process.returncode, lines, errors.decode(), workspace, server)


@pytest.fixture
def claude(agent_program: Find, tmp_path: Path) -> Agent:
    """Claude Code, as an engine starts it; it tries nothing twice unless told to."""
    program = agent_program("claude")

    def arguments(_server: ModelServer, _workspace: Path) -> list[str | Path]:
        options = "--output-format stream-json --verbose --model claude-sonnet-4-5 --setting-sources project"
        permissions = "--permission-mode acceptEdits --allowedTools Bash Skill --max-turns 9"
        return [program, "-p", "Say hello to Ann", *options.split(), *permissions.split()]

    def environment(server: ModelServer, home: Path) -> Mapping[str, str]:
        switches = (
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS",
            "CLAUDE_CODE_MAX_RETRIES",
            "DISABLE_AUTOUPDATER",
            "DISABLE_ERROR_REPORTING",
            "DISABLE_TELEMETRY",
        )
        address = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY}
        return {**dict.fromkeys(switches, "1"), **address, "CLAUDE_CONFIG_DIR": str(home / ".claude")}

    return Agent(tmp_path, arguments, environment, ".claude/skills")


@pytest.fixture
def codex(agent_program: Find, tmp_path: Path) -> Callable[..., Agent]:
    """Makes a Codex with a model, as an engine starts it; it tries nothing twice."""
    program = agent_program("codex")

    def with_model(model: str = "gpt-5.5", retries: int = 0) -> Agent:
        def arguments(server: ModelServer, workspace: Path) -> list[str | Path]:
            limits = f"request_max_retries={retries},stream_max_retries={retries}"
            place = f'name="scripted",base_url="{server.url}/v1",env_key="SCRIPTED_KEY",wire_api="responses"'
            quiet = ("skills.bundled.enabled", "analytics.enabled", "check_for_update_on_startup")
            settings = ["model_provider=scripted", f"model_providers.scripted={{{place},{limits}}}"]
            settings += [f"{name}=false" for name in quiet]
            private = "sandbox_workspace_write.exclude_slash_tmp=true"  # else it makes folders in /tmp that others see
            configured = [word for setting in (private, *settings) for word in ("-c", setting)]
            options = "--json --skip-git-repo-check -s workspace-write --disable apps --disable plugins -m"
            return [program, "exec", *options.split(), model, "-C", workspace, *configured, "Say hello to Ann"]

        def environment(_server: ModelServer, home: Path) -> Mapping[str, str]:
            (home / ".codex").mkdir(exist_ok=True)
            return {"CODEX_HOME": str(home / ".codex"), "SCRIPTED_KEY": KEY}

        return Agent(tmp_path, arguments, environment, ".agents/skills")

    return with_model


@pytest.fixture
def gemini(agent_program: Find, tmp_path: Path) -> Agent:
    """Gemini CLI, told to trust its workspace and to use a key."""
    program = agent_program("gemini")

    def arguments(_server: ModelServer, _workspace: Path) -> list[str | Path]:
        options = "--output-format stream-json --approval-mode yolo -m gemini-2.5-flash"
        return [program, "-p", "Say hello to Ann", *options.split()]

    def environment(server: ModelServer, home: Path) -> Mapping[str, str]:
        (home / ".gemini").mkdir()
        settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        (home / ".gemini/settings.json").write_text(json.dumps(settings))
        address = {"GOOGLE_GEMINI_BASE_URL": server.url, "GEMINI_API_KEY": KEY}
        return {**address, "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    return Agent(tmp_path, arguments, environment, ".gemini/skills")
