"""The folder from which Claude Code reads an arm's installations: its private configuration, not the workspace."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgauge.api import Install, JsonObject, RunRequest, canonical_json, thaw
from skillgauge_agent_programs.installs import (
    AGENT,
    COMMAND,
    FOLDER,
    HISTORY,
    NATIVE,
    SERVERS,
    SYSTEM_PROMPT,
    Placed,
    text,
)


@dataclass(frozen=True)
class Installed:
    """The consequences of an installation for the start of the program."""

    arguments: tuple[str, ...]
    settings: dict[str, Any]
    """Those of the user, with the hooks added."""
    allowed_tools: tuple[str, ...]
    """Tools of servers that the agent may use unasked."""


def install(request: RunRequest, home: Path, settings: JsonObject) -> Installed:
    """Place everything in the home of a session.

    Args:
        request: the session.
        home: its private home.
        settings: those that the user set.

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
    for documents in placed.documents:
        arguments += ["--add-dir", documents]
    if placed.of(SERVERS):
        file = folder / "servers.json"
        _write(file, canonical_json({"mcpServers": placed.servers(request.env)}))
        arguments += ["--mcp-config", str(file), "--strict-mcp-config"]
    if added := [text(one, "text") for one in placed.of(SYSTEM_PROMPT)]:
        arguments += ["--append-system-prompt", "\n\n".join(added)]
    for one in placed.of(HISTORY):
        arguments += ["--resume", _resumed(one, home, folder)]
    agents: dict[str, Any] = thaw(settings)
    for event, groups in placed.hooks(NATIVE, {}).items():
        agents.setdefault("hooks", {}).setdefault(event, []).extend(groups)
    return Installed(tuple(arguments), agents, placed.allowed_tools)


def _resumed(earlier: Install, home: Path, folder: Path) -> str:
    """Return the path of an earlier session: under its own name, so that the program adds to it, and where it looks."""
    name = re.sub(r"[^A-Za-z0-9-]", "", text(earlier, "session"))
    path = folder / "projects/history" / f"{name}.jsonl"
    if not path.exists():  # a further turn finds what the turns before have added
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(home / FOLDER / text(earlier, "file"), path)
    return str(path)


def _headed(head: dict[str, str], body: str) -> str:
    lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in head.items() if value)
    return f"---\n{lines}---\n\n{body}\n"


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
