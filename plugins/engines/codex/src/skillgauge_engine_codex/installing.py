"""The folder from which Codex reads an arm's installations beside skills: its private home, not the workspace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skillgauge.api import JsonObject, JsonValue, RunRequest, canonical_json, thaw
from skillgauge_agent_programs.installs import AGENT, COMMAND, NATIVE, Placed, text

_NATIVE = {event: name for event, name in NATIVE.items() if event != "notification"}
_SAME = {"Write": ("apply_patch", "Bash"), "Edit": ("apply_patch", "Bash")}
"""Tools of other programs, and those that do the same here: a patch is a tool of its own, or given to the shell."""


def install(request: RunRequest, home: Path, hooks: JsonObject) -> dict[str, JsonValue]:
    """Place everything in the home of a session.

    Args:
        request: the session.
        home: its private home.
        hooks: those that the user set, as of hooks.json.

    Returns:
        Settings for the program.

    Raises:
        OSError: something cannot be written.
    """
    placed, folder = Placed.into(home, request.installs), home / ".codex"
    settings: dict[str, JsonValue] = {}
    if placed.rules:
        _write(folder / "AGENTS.md", placed.rules)
    for agent in placed.of(COMMAND):
        _write(folder / "prompts" / f"{agent.name}.md", text(agent, "text"))
    for agent in placed.of(AGENT):
        description = f"Use when asked to work as the agent {agent.name}: {text(agent, 'description')}"
        head = f"---\nname: agent-{agent.name}\ndescription: {json.dumps(description)}\n---\n\n"
        _write(home / f".agents/skills/agent-{agent.name}/SKILL.md", f"{head}{text(agent, 'prompt')}\n")
    if leader := placed.agent(request.agent):
        settings["developer_instructions"] = text(leader, "prompt")
    for name, server in placed.servers(request.env).items():
        fields = ("command", "args", "env", "url")
        settings[f"mcp_servers.{name}"] = {key: _tuples(server[key]) for key in fields if key in server}
    agents: dict[str, Any] = thaw(hooks)
    for event, groups in placed.hooks(_NATIVE, _SAME).items():
        agents.setdefault("hooks", {}).setdefault(event, []).extend(groups)
    if agents:
        _write(folder / "hooks.json", canonical_json(agents))
    return settings


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
