"""The folder from which Codex reads an arm's installations beside skills: its private home, not the workspace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillgauge.api import JsonObject, JsonValue, RunRequest, canonical_json, thaw
from skillgauge_agent_programs.installs import AGENT, COMMAND, NATIVE, SYSTEM_PROMPT, Placed, text

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
    leader = placed.agent(request.agent)
    if said := [
        *([text(leader, "prompt")] if leader else []),
        *(text(one, "text") for one in placed.of(SYSTEM_PROMPT)),
    ]:
        settings["developer_instructions"] = "\n\n".join(said)
    for name, server in placed.servers(request.env, are_plain=True).items():
        settings[f"mcp_servers.{name}"] = _server(server, is_allowed=f"mcp__{name}" in placed.allowed_tools)
    agents: dict[str, Any] = thaw(hooks)
    for event, groups in placed.hooks(_NATIVE, _SAME).items():
        agents.setdefault("hooks", {}).setdefault(event, []).extend(groups)
    if agents:
        _write(folder / "hooks.json", canonical_json(agents))
    return settings


def _server(server: Mapping[str, Any], *, is_allowed: bool) -> JsonObject:
    """Return a server as the program's settings have it; variables that only pass on their own are told by name."""
    fields = ("command", "args", "env", "url")
    own: dict[str, JsonValue] = {key: _tuples(server[key]) for key in fields if key in server}
    env = server.get("env") or {}
    if passed := tuple(key for key, value in env.items() if value == f"${{{key}}}"):
        own["env_vars"] = passed
        own["env"] = {key: value for key, value in env.items() if key not in passed}
    return own | ({"default_tools_approval_mode": "approve", "required": True} if is_allowed else {})


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
