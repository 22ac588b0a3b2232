"""The folder from which Codex reads an arm's installations beside skills: its private home, not the workspace."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgauge.api import FrozenDict, JsonObject, JsonValue, RunRequest, canonical_json, thaw
from skillgauge_agent_programs.installs import AGENT, COMMAND, NATIVE, SYSTEM_PROMPT, Placed, text

_NATIVE = {event: name for event, name in NATIVE.items() if event != "notification"}
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_HEADER = "SKILLGAUGE_HEADER_"
"""Beginning of the names of variables with headers of servers."""
_SAME = {"Write": ("apply_patch", "Bash"), "Edit": ("apply_patch", "Bash")}
"""Tools of other programs, and those that do the same here: a patch is a tool of its own, or given to the shell."""


@dataclass(frozen=True)
class Installed:
    """The consequences of an installation for the start of the program."""

    settings: Mapping[str, JsonValue]
    environment: Mapping[str, str]
    """Variables with headers of servers, which no file and no command line shows."""


def install(request: RunRequest, home: Path, hooks: JsonObject, passed: Mapping[str, str]) -> Installed:
    """Place everything in the home of a session.

    Args:
        request: the session.
        home: its private home.
        hooks: those that the user set, as of hooks.json.
        passed: variables of the user that the program gets.

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
    environment: dict[str, str] = {}
    for name, server in placed.servers(request.env, are_plain=True).items():
        own = _server(server, is_allowed=f"mcp__{name}" in placed.allowed_tools)
        headers = _headers(server.get("headers") or {}, passed, environment)
        settings[f"mcp_servers.{name}"] = FrozenDict({**own, **headers})
    agents: dict[str, Any] = thaw(hooks)
    for event, groups in placed.hooks(_NATIVE, _SAME).items():
        agents.setdefault("hooks", {}).setdefault(event, []).extend(groups)
    if agents:
        _write(folder / "hooks.json", canonical_json(agents))
    return Installed(settings, environment)


def _server(server: Mapping[str, Any], *, is_allowed: bool) -> JsonObject:
    """Return a server as the program's settings have it; variables that only pass on their own are told by name."""
    fields = ("command", "args", "env", "url")
    own: dict[str, JsonValue] = {key: _tuples(server[key]) for key in fields if key in server}
    env = server.get("env") or {}
    if passed := tuple(key for key, value in env.items() if value == f"${{{key}}}"):
        own["env_vars"] = passed
        own["env"] = {key: value for key, value in env.items() if key not in passed}
    return own | ({"default_tools_approval_mode": "approve", "required": True} if is_allowed else {})


def _headers(
    headers: Mapping[str, str], passed: Mapping[str, str], environment: dict[str, str]
) -> dict[str, JsonValue]:
    """Return the headers of a server: those with a variable of the user by a variable, which the program looks up.

    Args:
        headers: by their names.
        passed: variables of the user that the program gets.
        environment: receives a variable for each header that has one of the user's within other text.
    """
    plain: dict[str, JsonValue] = {}
    by_variable: dict[str, JsonValue] = {}
    for name, value in headers.items():
        if not _VARIABLE.search(value):
            plain[name] = value
        elif whole := _VARIABLE.fullmatch(value):
            by_variable[name] = whole[1]
        else:
            variable = f"{_HEADER}{len(environment) + 1}"
            environment[variable] = _VARIABLE.sub(lambda used: passed.get(used[1], used[0]), value)
            by_variable[name] = variable
    own: dict[str, JsonValue] = {"http_headers": FrozenDict(plain)} if plain else {}
    return own | ({"env_http_headers": FrozenDict(by_variable)} if by_variable else {})


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
