"""The parts of a plugin beside its skills, in the neutral form of arms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from skillgauge.api import FileSpec, Install, JsonObject, JsonValue, Origin, Problem, SuiteError, read_document

from .bundles import contained, file_spec
from .folders import files_of
from .headed import read_headed

MANIFESTS = (".claude-plugin/plugin.json", "plugin.json")
ROOT_VARIABLE = "CLAUDE_PLUGIN_ROOT"
_EVENTS = {
    "PreToolUse": "pre-tool-use",
    "PermissionRequest": "permission-request",
    "PostToolUse": "post-tool-use",
    "UserPromptSubmit": "pre-prompt",
    "SessionStart": "session-start",
    "SessionEnd": "session-end",
    "Stop": "stop",
    "SubagentStop": "sub-agent-end",
    "PreCompact": "pre-compact",
    "Notification": "notification",
}
_NOT_INSTALLED = frozenset({".git", "evals", "node_modules", "__pycache__"})
_SECONDS = 60.0
"""Limit of a hook that names none, as the program has it."""


def manifest_of(folder: Path) -> Path | None:
    """Return the manifest of a plugin of Claude Code; `None` for any other folder."""
    return next((folder / name for name in MANIFESTS if (folder / name).is_file()), None)


class PluginParts:
    """Reads a plugin's commands, agents, hooks and servers.

    Args:
        root: the plugin's folder.
        evals: folders of evals, which an agent must not find.
    """

    def __init__(self, root: Path, evals: Iterable[Path] = ()) -> None:
        self.problems: list[Problem] = []
        """What is wrong with it."""
        self.left_out: list[tuple[str, Origin]] = []
        """What is not installed, as a sentence, with its place."""
        self._root, self._evals = root, tuple(evals)
        self._manifest: Mapping[str, JsonValue] = {}
        self.name = root.resolve().name
        manifest = manifest_of(root)
        if manifest is None:
            return
        value = self._value(manifest)
        if isinstance(value, Mapping):
            self._manifest = value
            name = value.get("name")
            self.name = name if isinstance(name, str) and name.strip() else self.name

    @property
    def version(self) -> str | None:
        """The version that the manifest tells."""
        version = self._manifest.get("version")
        return version if isinstance(version, str) else None

    def installs(self, *, with_files: bool = True) -> tuple[Install, ...]:
        """Return what an arm gets beside the skills.

        Args:
            with_files: whether with the files that hooks and servers may use, all of which are read for their digests.
        """
        files = self._files if with_files else tuple
        return (*self._commands(), *self._agents(), *self._hooks(files), *self._servers(files))

    def _value(self, path: Path) -> JsonValue:
        try:
            return read_document(path, kind="json").value
        except SuiteError as error:
            self.problems += error.problems
            return None

    def _commands(self) -> Iterator[Install]:
        for path, text, head in self._texts("commands"):
            content = {"description": str(head.get("description") or ""), "text": text}
            yield Install(kind="command", name=path.stem, content=content)

    def _agents(self) -> Iterator[Install]:
        for path, text, head in self._texts("agents"):
            content = {"description": str(head.get("description") or ""), "prompt": text}
            yield Install(kind="agent", name=str(head.get("name") or path.stem), content=content)

    def _texts(self, kind: str) -> Iterator[tuple[Path, str, Mapping[str, JsonValue]]]:
        """Yield the Markdown files of a kind: in the folder of that name, and where the manifest says."""
        more = self._manifest.get(kind)
        named = (more,) if isinstance(more, str) else more if isinstance(more, tuple) else ()
        places = [kind, *(one for one in named if isinstance(one, str))]
        files: dict[Path, None] = {}
        for written in places:
            place = contained(self._root, written)
            if place is not None:
                files |= dict.fromkeys([place] if place.is_file() else sorted(place.rglob("*.md")))
        for file in files:
            try:
                headed = read_headed(file)
            except SuiteError as error:
                self.problems += error.problems
                continue
            head = headed.document.value
            yield file, headed.body, head if isinstance(head, Mapping) else {}

    def _declared(self, key: str, *names: str) -> tuple[JsonValue, Origin] | None:
        """Return what a manifest says under a key, or in the file that it or the convention names, with its place."""
        written = self._manifest.get(key)
        if isinstance(written, Mapping):
            return written, Origin(str(manifest_of(self._root)), (key,))
        for name in (written, *names) if isinstance(written, str) else names:
            place = contained(self._root, name)
            if place is not None and place.is_file():
                return self._value(place), Origin(str(place))
        return None

    def _hooks(self, files: Callable[[], tuple[FileSpec, ...]]) -> Iterator[Install]:
        declared = self._declared("hooks", "hooks/hooks.json")
        if declared is None or not isinstance(declared[0], Mapping):
            return
        value, origin = declared
        assert isinstance(value, Mapping)
        by_event = value.get("hooks", value)
        entries: list[JsonValue] = []
        for event, groups in by_event.items() if isinstance(by_event, Mapping) else ():
            if event not in _EVENTS:
                self.left_out.append((f"hooks of event {event!r} are not installed", origin))
                continue
            entries += _entries(_EVENTS[event], groups)
        if entries:
            content: dict[str, JsonValue] = {"root_variable": ROOT_VARIABLE, "hooks": tuple(entries)}
            yield Install(kind="hooks", name=self.name, content=content, files=files())

    def _servers(self, files: Callable[[], tuple[FileSpec, ...]]) -> Iterator[Install]:
        declared = self._declared("mcpServers", ".mcp.json")
        if declared is None or not isinstance(declared[0], Mapping):
            return
        servers = declared[0].get("mcpServers", declared[0])
        for server, value in servers.items() if isinstance(servers, Mapping) else ():
            name = f"plugin:{self.name}:{server}"  # as the program calls it, whose tools are named after it
            content: JsonObject = {"root_variable": ROOT_VARIABLE, "servers": {name: value}}
            yield Install(kind="servers", name=name, content=content, files=files())

    def _files(self) -> tuple[FileSpec, ...]:
        """Return the plugin's files, without the questions and the answers."""
        here = self._root.resolve()
        evals = {
            one.resolve().relative_to(here).as_posix() for one in self._evals if one.resolve().is_relative_to(here)
        }
        return tuple(
            file_spec(self._root / path, path)
            for path in files_of(self._root, tuple(evals))
            if not _NOT_INSTALLED & set(path.split("/")[:-1])
        )


def _entries(event: str, groups: JsonValue) -> Iterator[JsonValue]:
    """Yield the hooks of an event that run a command; a prompt needs a model of its own."""
    for number, group in enumerate(groups if isinstance(groups, tuple) else ()):
        if not isinstance(group, Mapping):
            continue
        hooks = group.get("hooks")
        for at, hook in enumerate(hooks if isinstance(hooks, tuple) else ()):
            if not isinstance(hook, Mapping) or not isinstance(hook.get("command"), str):
                continue
            timeout = hook.get("timeout")
            yield {
                "event": event,
                "group": number,
                "entry": at,
                "matcher": group.get("matcher"),
                "command": hook["command"],
                "timeout_s": float(timeout) if isinstance(timeout, int | float) else _SECONDS,
            }
