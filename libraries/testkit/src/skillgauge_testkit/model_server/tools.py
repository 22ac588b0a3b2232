"""Tool calls that fit the agent at hand: what they do is fixed, its tool for it is found among those it offers."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from .replies import ToolCall, ToolChoice
from .requests import ModelRequest

_SHELLS = ("Bash", "bash", "exec_command", "shell_command", "run_shell_command", "run_command", "run_commands", "shell")
_WRITERS = ("Write", "write_file", "write", "create_file")
_READERS = ("Read", "read_file", "read")
_SKILLS = ("Skill", "activate_skill", "load_skill", "skill", "skills")
_ARGUMENTS = {
    "command": ("command", "cmd", "commands"),
    "path": ("file_path", "path", "filePath", "absolute_path"),
    "content": ("content", "contents"),
    "skill": ("skill", "name"),
}
"""What to say -> names that tools have for it."""
_PATCHED = frozenset({"exec_command", "shell_command"})
"""Shells whose agent takes the command `apply_patch` as a change of files."""
_CODE = "exec"
"""A tool that runs JavaScript, in which other tools are functions."""


def run_shell(command: str) -> ToolChoice:
    """Run a shell command."""
    return lambda request: _shell(request, command)


def write_file(path: str, content: str) -> ToolChoice:
    """Write a text file, by a tool for it or else by the shell; its folder is made if it is missing."""

    def choose(request: ModelRequest) -> ToolCall:
        if name := _first(request, _WRITERS):
            return _filled(request, name, {"path": path, "content": content})
        if (_has_code(request) or _first(request, _SHELLS) in _PATCHED) and content.endswith("\n"):
            return _patch(request, path, content)
        folder = shlex.quote(str(PurePosixPath(path).parent))
        return _shell(request, f"mkdir -p {folder} && printf %s {shlex.quote(content)} > {shlex.quote(path)}")

    return choose


def read_file(path: str) -> ToolChoice:
    """Read a text file, by a tool for it or else by the shell."""

    def choose(request: ModelRequest) -> ToolCall:
        if name := _first(request, _READERS):
            return _filled(request, name, {"path": path})
        return _shell(request, f"cat {shlex.quote(path)}")

    return choose


def use_skill(name: str) -> ToolChoice:
    """Load a skill, by a tool for it or else by reading its SKILL.md where the request says that it lies."""

    def choose(request: ModelRequest) -> ToolCall:
        if tool := _first(request, _SKILLS):
            return _filled(request, tool, {"skill": name})
        if path := request.skills.get(name):
            return read_file(path)(request)
        raise LookupError(f"the request offers no tool for skills and tells no path of {name!r}")

    return choose


def _first(request: ModelRequest, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in request.tools), None)


def _patch(request: ModelRequest, path: str, content: str) -> ToolCall:
    added = "".join(f"+{line}\n" for line in content.splitlines())
    patch = f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch"
    if _has_code(request):
        return _code("apply_patch", patch)
    if "apply_patch" in request.conversation.freeform_tools:
        return ToolCall("apply_patch", {"input": patch})
    return _shell(request, f"apply_patch <<'PATCH'\n{patch}\nPATCH")


def _has_code(request: ModelRequest) -> bool:
    return _CODE in request.conversation.freeform_tools


def _code(function: str, argument: object) -> ToolCall:
    return ToolCall(_CODE, {"input": f"text(JSON.stringify(await tools.{function}({json.dumps(argument)})))"})


def _shell(request: ModelRequest, command: str) -> ToolCall:
    if _has_code(request):
        return _code("exec_command", {"cmd": command})
    if name := _first(request, _SHELLS):
        return _filled(request, name, {"command": command})
    raise LookupError(f"the request offers no shell, only {sorted(request.tools)}")


def _filled(request: ModelRequest, tool: str, values: Mapping[str, str]) -> ToolCall:
    """A call with each value under the name that the tool has for it, and a sentence where it wants a description."""
    schema = request.tools[tool]
    properties = schema.get("properties", {})
    arguments: dict[str, Any] = {}
    for what, value in values.items():
        key = next((name for name in _ARGUMENTS[what] if name in properties), _ARGUMENTS[what][0])
        is_list = properties.get(key, {}).get("type") == "array"
        listed = [value] if key == "commands" else ["bash", "-lc", value]
        arguments[key] = listed if is_list else value
    if "description" in properties:
        arguments["description"] = f"scripted {' and '.join(values)}"
    return ToolCall(tool, arguments)
