"""The folder from which Claude Code reads an arm's installations: its private configuration, not the workspace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skillgauge.api import JsonObject, RunRequest, canonical_json, thaw
from skillgauge_agent_programs.installs import AGENT, COMMAND, NATIVE, SERVERS, Placed, text


def install(request: RunRequest, home: Path, settings: JsonObject) -> tuple[list[str], dict[str, Any]]:
    """Place everything in the home of a session.

    Args:
        request: the session.
        home: its private home.
        settings: those that the user set.

    Returns:
        Arguments of the program, and the settings with the hooks added.

    Raises:
        OSError: something cannot be written.
    """
    placed, folder = Placed.into(home, request.installs), home / ".claude"
    if placed.rules:
        _write(folder / "CLAUDE.md", placed.rules)
    for agent in placed.of(COMMAND):
        head = {"description": text(agent, "description")}
        _write(folder / "commands" / f"{agent.name}.md", _headed(head, text(agent, "text")))
    for agent in placed.of(AGENT):
        head = {"name": agent.name, "description": text(agent, "description")}
        _write(folder / "agents" / f"{agent.name}.md", _headed(head, text(agent, "prompt")))
    arguments = ["--agent", request.agent] if placed.agent(request.agent) and request.agent else []
    if placed.of(SERVERS):
        file = folder / "servers.json"
        _write(file, canonical_json({"mcpServers": placed.servers(request.env)}))
        arguments += ["--mcp-config", str(file), "--strict-mcp-config"]
    agents: dict[str, Any] = thaw(settings)
    for event, groups in placed.hooks(NATIVE, {}).items():
        agents.setdefault("hooks", {}).setdefault(event, []).extend(groups)
    return arguments, agents


def _headed(head: dict[str, str], body: str) -> str:
    lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in head.items() if value)
    return f"---\n{lines}---\n\n{body}\n"


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
