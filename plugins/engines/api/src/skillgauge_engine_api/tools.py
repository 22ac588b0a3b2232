"""The tools of the model in the workspace. One that fails answers with an error; it never ends the session."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import Field, ValidationError

from skillgauge.api import Command, FileSpec, Finished, FiredSkill, Frozen, LaunchError, Workspace
from skillgauge_agent_programs.skills import INVOKED, READ, Firing, came_back

from .dialect import ToolCall, ToolResult, ToolSpec
from .skills import Skill

RESULT_CHARACTERS = 30_000
"""Of output and files that the model sees at once; the middle of a longer text is left out."""
_FILE_BYTES = 4 * 1024 * 1024
_OUTPUT_BYTES = 256 * 1024
_LINES = 2000


class ToolError(Exception):
    """The model is to read this message instead of a result."""


class Bash(Frozen):
    """Arguments of `bash`."""

    command: str = Field(min_length=1, description="Shell command; it runs in the working folder.")


class Read(Frozen):
    """Arguments of `read`."""

    path: str = Field(min_length=1)
    offset: int = Field(default=1, ge=1, description="First line to read, counted from 1.")
    limit: int = Field(default=_LINES, ge=1, description="How many lines.")


class Write(Frozen):
    """Arguments of `write`."""

    path: str = Field(min_length=1)
    content: str


class Edit(Frozen):
    """Arguments of `edit`."""

    path: str = Field(min_length=1)
    old_text: str = Field(min_length=1, description="Text to replace; it must occur exactly once.")
    new_text: str
    replace_all: bool = Field(default=False, description="Replace every occurrence.")


class LoadSkill(Frozen):
    """Arguments of `load_skill`."""

    name: str = Field(min_length=1)


@dataclass(frozen=True)
class _Tool:
    arguments: type[Frozen]
    description: str
    use: Callable[[Any], Awaitable[str]]


class Toolbox:
    """The tools of one session.

    Args:
        workspace: where they work.
        skills: what can be loaded; without any there is no tool for it.
        command_timeout_s: longest time of one command.
    """

    def __init__(self, workspace: Workspace, skills: Sequence[Skill], command_timeout_s: float) -> None:
        self._workspace = workspace
        self._skills = {skill.name: skill for skill in skills}
        self._command_timeout_s = command_timeout_s
        self._shell = "bash"
        self.fired: list[FiredSkill] = []
        """Skills that were loaded, each once, in order."""
        self._tools = {
            "bash": _Tool(Bash, "Run a shell command and get its output and exit code.", self._bash),
            "read": _Tool(Read, "Read a text file.", self._read),
            "write": _Tool(Write, "Write a text file; folders are made, an old file is replaced.", self._write),
            "edit": _Tool(Edit, "Replace text in a file.", self._edit),
        }
        if skills:
            self._tools["load_skill"] = _Tool(LoadSkill, "Load the instructions of a skill.", self._load_skill)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the description of the tools for the model."""
        return tuple(ToolSpec(name, tool.description, _schema(tool.arguments)) for name, tool in self._tools.items())

    async def use(self, call: ToolCall) -> ToolResult:
        """Do what a call asks for."""
        tool = self._tools.get(call.name)
        try:
            if tool is None:
                raise ToolError(f"there is no tool {call.name!r}, only {', '.join(self._tools)}")
            if call.arguments is None:
                raise ToolError("the arguments are no JSON object")
            text = await tool.use(_checked(tool.arguments, call.arguments))
            self._note_reads(text)
            return ToolResult(call, text)
        except ToolError as error:
            self._note_reads(str(error))
            return ToolResult(call, f"Error: {error}", is_error=True)
        except (OSError, ValueError) as error:
            # The system's own text names a path outside of the workspace, which means nothing to the model.
            why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
            return ToolResult(call, f"Error: {why}", is_error=True)

    async def _bash(self, arguments: Bash) -> str:
        finished = await self._run(arguments.command)
        output = (finished.stdout + finished.stderr).decode("utf-8", "replace")
        output = output if output.endswith("\n") or not output else f"{output}\n"
        if finished.timed_out:
            raise ToolError(
                f"the command took longer than {self._command_timeout_s:g} s and was ended\n{_shortened(output)}"
            )
        ended = f"signal {finished.signal}" if finished.exit_code is None else f"exit code {finished.exit_code}"
        return f"{_shortened(output)}[{ended}]"

    async def _run(self, line: str) -> Finished:
        """By bash, which models write for, or by sh where there is none."""
        while True:
            command = Command(
                argv=(self._shell, "-c", line), timeout_s=self._command_timeout_s, output_bytes=_OUTPUT_BYTES
            )
            try:
                return await (await self._workspace.start(command)).wait()
            except LaunchError:
                if self._shell == "sh":
                    raise
                self._shell = "sh"

    async def _read(self, arguments: Read) -> str:
        path = self._relative(arguments.path)
        text = await self._text(path)
        lines = text.splitlines(keepends=True)
        first = arguments.offset - 1
        remaining = len(lines) - first - arguments.limit
        rest = f"\n[{remaining} more lines]" if remaining > 0 else ""
        return _shortened("".join(lines[first : first + arguments.limit])) + rest

    async def _write(self, arguments: Write) -> str:
        path = self._relative(arguments.path)
        await self._put(path, arguments.content)
        return f"wrote {path}"

    async def _edit(self, arguments: Edit) -> str:
        path = self._relative(arguments.path)
        text = await self._text(path)
        count = text.count(arguments.old_text)
        if count == 0:
            raise ToolError(f"old_text does not occur in {path}")
        if count > 1 and not arguments.replace_all:
            raise ToolError(f"old_text occurs {count} times in {path}; give more of its surroundings, or replace_all")
        await self._put(path, text.replace(arguments.old_text, arguments.new_text))
        return f"replaced {count} in {path}"

    async def _load_skill(self, arguments: LoadSkill) -> str:
        skill = self._skills.get(arguments.name)
        if skill is None:
            raise ToolError(f"there is no skill {arguments.name!r}, only {', '.join(self._skills)}")
        self._note(skill.name, INVOKED)
        return skill.instructions

    def _note_reads(self, text: str) -> None:
        for name, skill in self._skills.items():
            if came_back(skill.body, text):
                self._note(name, READ)

    def _note(self, name: str, how: Firing) -> None:
        if all(fired.name != name for fired in self.fired):
            self.fired.append(FiredSkill(name=name, how=how))

    def _relative(self, path: str) -> str:
        """A path of the model's as the workspace knows it."""
        root = f"{self._workspace.root}/"
        path = path.removeprefix(root)
        if path.startswith("/") or ".." in path.split("/"):
            raise ToolError(f"{path} is outside of the working folder")
        return "/".join(part for part in path.split("/") if part not in ("", "."))

    async def _text(self, path: str) -> str:
        content = await self._workspace.collect(path, _FILE_BYTES + 1)
        if len(content) > _FILE_BYTES:
            raise ToolError(f"{path} is larger than {_FILE_BYTES} bytes; look into it with bash")
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise ToolError(f"{path} is no text; look into it with bash") from None

    async def _put(self, path: str, text: str) -> None:
        """Write a file; one that could be executed still can be."""
        test = Command(argv=("test", "-f", path, "-a", "-x", path), timeout_s=self._command_timeout_s)
        executable = (await (await self._workspace.start(test)).wait()).exit_code == 0
        await self._workspace.put([FileSpec(path=path, text=text, executable=executable)])


def _checked(model: type[Frozen], arguments: object) -> Frozen:
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in error.errors()]
        raise ToolError("; ".join(faults)) from None


@cache
def _schema(model: type[Frozen]) -> dict[str, Any]:
    """JSON Schema of arguments, without titles and docstrings, which the model has no use for."""
    schema = model.model_json_schema()
    properties = {name: {k: v for k, v in one.items() if k != "title"} for name, one in schema["properties"].items()}
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def _shortened(text: str) -> str:
    left_out = len(text) - RESULT_CHARACTERS
    if left_out <= 0:
        return text
    half = RESULT_CHARACTERS // 2
    return f"{text[:half]}\n[... {left_out} characters left out ...]\n{text[-half:]}"
