"""Claude Code, the program itself, uses the server; its model is scripted."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit import ModelReply, ModelServer, ToolCall, in_turns
from skillgauge_testkit.agent_sessions import KEY
from skillgauge_testkit.program import PROGRAM, Program

from .conftest import AGENT

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

_SWITCHES = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
)


def called(tool: str, **arguments: object) -> ModelReply:
    """The model calls a tool of the server."""
    return ModelReply(tools=[ToolCall(f"mcp__skillgauge__{tool}", arguments)])


def test_an_agent_evaluates_a_skill(
    program: Program, skills: Path, work: Path, agent_program: Callable[[str], Path]
) -> None:
    """It plans and runs evals, and reads why a case failed, by tools that the program found at the server."""
    script = f"--set=engines.mock.script={AGENT / 'release-notes.mock.yaml'}"
    server = {
        "command": str(PROGRAM),
        "args": ["mcp", str(skills), "--allow-runs", "--max-cost", "1", script],
        "env": dict(program.environment),
    }
    (work / "servers.json").write_text(json.dumps({"mcpServers": {"skillgauge": server}}))
    evals = {"path": "release-notes/evals/evals.json", "engine": ["mock"]}
    replies = in_turns(
        called("plan_run", evals=evals),
        called("run_evals", evals=evals, wait_s=100),
        called("failing_cases", arm="without_skill"),
        called("read_case", case="session-fix", arm="without_skill"),
        ModelReply("It helps: 4 of 4 with the skill, 1 of 4 without."),
    )
    with ModelServer(replies) as model:
        command = [agent_program("claude"), "-p", "Does release-notes help?", "--output-format", "json"]
        command += ["--model", "claude-sonnet-4-5", "--mcp-config", "servers.json", "--strict-mcp-config"]
        command += ["--allowedTools", "mcp__skillgauge", "--max-turns", "9"]
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": program.environment["HOME"],
            "LANG": "C.UTF-8",
            **dict.fromkeys(_SWITCHES, "1"),
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CONFIG_DIR": str(work / ".claude"),
        }
        done = subprocess.run(
            command,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["result"].startswith("It helps")
    (session,) = (one for one in model.sessions.values() if len(one.requests) > 1)
    results = list(session.requests[-1].results)
    assert len(results) == 4, results
    plan, status, failed, case = results
    assert '"sessions":8' in plan.replace(" ", "")
    assert '"lift":0.75' in status.replace(" ", "")
    assert '"total":3' in failed.replace(" ", "")
    assert "HRB-17.note is not there" in case
