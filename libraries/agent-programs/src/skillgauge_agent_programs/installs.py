"""The installations of an arm beside skills: the parts that programs share, and hooks behind a shim."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillgauge.api import Block, Install, JsonObject, JsonValue, Origin, Problem, canonical_json, thaw
from skillgauge_mcp_servers.names import allowed_servers, plain_name
from skillgauge_mcp_servers.placing import native_of

from .accounts import Account
from .homes import lines_of
from .json_lines import parse_line

RULE, DOCUMENTS, COMMAND, AGENT, HOOKS, SERVERS = "rule", "documents", "command", "agent", "hooks", "servers"
SYSTEM_PROMPT, HISTORY = "system-prompt", "history"
FOLDER = "package"
"""Where files of installs lie in the private home: no snapshot of the workspace shows them."""
NATIVE = {
    "pre-tool-use": "PreToolUse",
    "permission-request": "PermissionRequest",
    "post-tool-use": "PostToolUse",
    "pre-prompt": "UserPromptSubmit",
    "session-start": "SessionStart",
    "session-end": "SessionEnd",
    "stop": "Stop",
    "sub-agent-end": "SubagentStop",
    "pre-compact": "PreCompact",
    "notification": "Notification",
}
"""Events as Claude Code and Codex name them."""
_SHIM = Path(__file__).with_name("hook_shim.py")
_SHIM_FOLDER, _LOG = "hooks", "log.jsonl"
_LONGER_S = 5.0
"""How much longer than the hook the shim may take."""
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class Placed:
    """The installations of a session, sorted by kind, with their files in the private home."""

    home: Path
    installs: tuple[Install, ...]

    @classmethod
    def into(cls, home: Path, installs: Sequence[Install]) -> Placed:
        """Write the files of all installs.

        Raises:
            OSError: they cannot be written.
        """
        (home / FOLDER).mkdir(exist_ok=True)
        for file in dict.fromkeys(file for install in installs for file in install.files):
            path = home / FOLDER / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            if file.source is not None:
                shutil.copyfile(file.source, path)
            else:
                path.write_text(file.text or "", encoding="utf-8")
            path.chmod(0o755 if file.executable else 0o644)
        return cls(home, tuple(installs))

    def of(self, kind: str) -> tuple[Install, ...]:
        """Those of a kind."""
        return tuple(one for one in self.installs if one.kind == kind)

    @property
    def rules(self) -> str:
        """All standing instructions as one text, with the places of documents; empty if there is none."""
        rules = [text(one, "text") for one in self.of(RULE)]
        return "\n\n".join([*rules, *map(self._pointer, self.of(DOCUMENTS))])

    @property
    def documents(self) -> tuple[str, ...]:
        """The folders that have documents, which the agent may read."""
        entries = (text(one, "entry").partition("/")[0] for one in self.of(DOCUMENTS))
        return tuple(str(self.home / FOLDER / name) for name in dict.fromkeys(entries))

    def _pointer(self, documents: Install) -> str:
        """Return the sentence that leads an agent to documents."""
        entry, about = self.home / FOLDER / text(documents, "entry"), text(documents, "about").strip()
        what = f"Documentation that was installed for this work: {about}" if about else "Documentation was installed."
        return f"{what}\nIt begins in {entry}. Read what concerns a task before you begin with the task."

    def agent(self, name: str | None) -> Install | None:
        """The agent that leads the session."""
        return next((one for one in self.of(AGENT) if one.name == name), None)

    def servers(self, env: JsonObject, *, are_plain: bool = False) -> dict[str, dict[str, Any]]:
        """Servers by name, with the variables of the session put in; their stand-ins are placed in the home.

        Args:
            env: variables of the session.
            are_plain: whether names are told as they stand in the names of tools.
        """
        by_name: dict[str, dict[str, Any]] = {}
        for one in self.of(SERVERS):
            values = {**env, str(one.content.get("root_variable", "")): str(self.home / FOLDER)}
            servers = one.content.get("servers")
            if not isinstance(servers, Mapping):
                continue
            for name, server in servers.items():
                if isinstance(server, Mapping) and isinstance(server.get("mock"), Mapping):
                    by_name[name] = native_of(name, thaw(server["mock"]), self.home, self.home / FOLDER)
                else:
                    by_name[name] = _expanded(thaw(server), values)
        return {plain_name(name) if are_plain else name: server for name, server in by_name.items()}

    @property
    def allowed_tools(self) -> tuple[str, ...]:
        """Beginnings of the names of tools that servers offer and the agent may use unasked."""
        return tuple(f"mcp__{plain_name(name)}" for name in allowed_servers(self.installs))

    def hooks(self, native: Mapping[str, str], widen: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Settings that have every hook run behind the shim.

        Args:
            native: events by the names that hooks have them under; a hook of another event is left out.
            widen: names of tools in matchers, each with further tools of the program that may do the same; the shim
                looks whether they do.
        """
        entries: list[dict[str, Any]] = []
        by_event: dict[str, list[dict[str, Any]]] = {}
        folder = self.home / _SHIM_FOLDER
        variable = "PACKAGE_ROOT"
        for one in self.of(HOOKS):
            variable = str(one.content.get("root_variable", variable))
            for hook in _objects(one.content.get("hooks")):
                event = str(hook.get("event"))
                if event not in native:
                    continue
                limit = float(hook.get("timeout_s") or 30)
                own = {"event": event, "native": native[event], "matcher": hook.get("matcher")}
                entries.append({**own, "command": hook["command"], "timeout_s": limit})
                command = f'python3 -I "{folder / _SHIM.name}" "{folder / "entries.json"}" {len(entries) - 1}'
                matcher = _widened(hook.get("matcher"), widen)
                group = {"hooks": [{"type": "command", "command": command, "timeout": int(limit + _LONGER_S)}]}
                by_event.setdefault(native[event], []).append({**({"matcher": matcher} if matcher else {}), **group})
        if not entries:
            return {}
        folder.mkdir(mode=0o700, exist_ok=True)
        shutil.copyfile(_SHIM, folder / _SHIM.name)
        document = {
            "root": str(self.home / FOLDER),
            "root_variable": variable,
            "log": str(folder / _LOG),
            "entries": entries,
        }
        (folder / "entries.json").write_text(canonical_json(document), encoding="utf-8")
        return by_event


def given_servers(written: JsonObject, engine: str) -> tuple[tuple[Install, ...], tuple[Problem, ...]]:
    """Return the servers that the user gives every session of an engine, with what is wrong with them."""
    if not written:
        return (), ()
    from skillgauge_mcp_servers.written import read_servers  # noqa: PLC0415 - slow, and few users give any

    problems: list[Problem] = []
    # An option may have been set anywhere, so its name stands for the place.
    installs = read_servers(written, Path.cwd(), lambda *_keys: Origin(f"engines.{engine}.mcp_servers"), problems)
    return installs, tuple(problems)


def text(install: Install, key: str) -> str:
    """A text of an install; empty if it has none."""
    value = install.content.get(key)
    return value if isinstance(value, str) else ""


def with_hooks(account: Account, home: Path, installs: Sequence[Install]) -> Account:
    """An account with what the log of the shim says of blocks, in place of what the program tells of hooks."""
    if not any(install.kind == HOOKS for install in installs):
        return account
    entries = list(_log(home))
    blocks = tuple(
        Block(tool=str(line.get("tool") or ""), by="hook", event=str(line.get("event")))
        for line in entries
        if line.get("decision") == "block"
    )
    others = tuple(one for one in account.trajectory.blocked or () if one.by != "hook")
    notes = dict.fromkeys(
        f"a hook for {line.get('event')} ended with exit code {line.get('exit')} and so stopped nothing"
        for line in entries
        if line.get("decision") == "failed"
    )
    trajectory = account.trajectory.model_copy(update={"blocked": (*blocks, *others)})
    return replace(account, trajectory=trajectory, notes=(*account.notes, *notes))


def _log(home: Path) -> Iterator[Mapping[str, JsonValue]]:
    yield from filter(None, map(parse_line, lines_of(home / _SHIM_FOLDER / _LOG)))


def _objects(value: JsonValue) -> Iterator[Mapping[str, Any]]:
    if not isinstance(value, tuple):
        return
    for item in value:
        if isinstance(item, Mapping):
            yield item


def _widened(matcher: object, widen: Mapping[str, Sequence[str]]) -> str | None:
    if not isinstance(matcher, str):
        return None
    more = dict.fromkeys(other for tool, others in widen.items() if re.search(matcher, tool) for other in others)
    return "|".join([matcher, *(one for one in more if not re.search(matcher, one))])


def _expanded(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: str(values.get(found[1], found[0])), value)
    if isinstance(value, dict):
        return {key: _expanded(item, values) for key, item in value.items()}
    return [_expanded(item, values) for item in value] if isinstance(value, list) else value
