"""Servers as suites write them: a command, an address, or a file with answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from skillgauge.api import (
    EMPTY,
    FileSpec,
    Install,
    Json,
    JsonObject,
    JsonValue,
    Origin,
    Problem,
    SuiteError,
    read_document,
    text_of,
    thaw,
)
from skillgauge_skill_folders import contained, file_spec, files_of
from skillgauge_validation import validate

from .guards import GuardError, guards_of
from .names import SERVERS

FILES_VARIABLE = "MCP_FILES"
"""Stands in commands and arguments for the folder with the files of a server."""
FILES_FOLDER = "mcp"
"""That folder, within the one that has the files of all installs."""
ROOT_VARIABLE = "INSTALLED_FILES"
OriginOf = Callable[..., Origin]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
_MOST_BYTES = 4 * 1024 * 1024
_ANY_OBJECT: JsonObject = {"type": "object"}


class _Part(BaseModel):
    """Types are exact; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class MockAnswer(_Part):
    """One answer of a tool."""

    when: JsonObject = EMPTY
    """Values that the input must have for this answer to be given."""
    expect: JsonObject = EMPTY
    """Values that the input must have; a call without them ends the session, which has failed then."""
    text: str | None = None
    """What is answered; `{{input.key}}` stands for a value of the input."""
    json_: Annotated[Json, Field(alias="json")] = None
    """The same as JSON, without any replacement."""
    error: bool = False
    """Whether the answer is that the call has failed."""

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if (self.text is None) is ("json_" not in self.model_fields_set):
            raise ValueError("exactly one of text and json must be given")
        return self


class MockTool(_Part):
    """One tool, with its answers in the order in which they are tried."""

    name: Name
    description: str = ""
    input_schema: JsonObject | None = None
    answers: Annotated[tuple[MockAnswer, ...], Field(min_length=1)]


class MockFile(_Part):
    """A server that answers from a file."""

    tools: Annotated[tuple[MockTool, ...], Field(min_length=1)]


class Server(_Part):
    """One server: exactly one of `command`, `url` and `mock`."""

    type: Literal["stdio", "http", "sse"] | None = None
    command: Annotated[str, Field(min_length=1)] | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = Field(default_factory=dict)
    files: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Files and folders beside the suite that the command needs; `${MCP_FILES}` is the folder that they lie in."""
    url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    headers: Mapping[str, str] = Field(default_factory=dict)
    mock: Annotated[str, Field(min_length=1)] | JsonObject | None = None
    """The answers of a stand-in, or the file that has them."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        present = [name for name in ("command", "url", "mock") if getattr(self, name) is not None]
        if len(present) != 1:
            raise ValueError("exactly one of command, url and mock must be given")
        owners = {"args": "command", "env": "command", "files": "command", "headers": "url"}
        for name, owner in owners.items():
            if getattr(self, name) and present != [owner]:
                raise ValueError(f"{name} belongs to a server with a {owner}")
        return self


def read_servers(written: JsonValue, folder: Path, origin_of: OriginOf, problems: list[Problem]) -> tuple[Install, ...]:
    """Read servers by their names; the installs of those that have no fault.

    Args:
        written: names, each with its server.
        folder: that of the suite, below which its files lie.
        origin_of: makes the place of keys below `written`.
        problems: receives everything that is wrong.
    """
    if not isinstance(written, Mapping):
        problems.append(_problem("servers stand by their names in an object", origin_of()))
        return ()
    installs = []
    for name, value in written.items():
        try:
            validate(_Named, {"name": name}, lambda *_keys, name=name: origin_of(name))
            server = validate(Server, value, lambda *keys, name=name: origin_of(name, *keys))
        except SuiteError as error:
            problems += error.problems
            continue
        before = len(problems)
        native, files = _native(server, folder, lambda *keys, name=name: origin_of(name, *keys), problems)
        if len(problems) == before:
            installs.append(servers_install(name, native, files))
    return tuple(installs)


class _Named(_Part):
    name: Name


def servers_install(name: str, native: Mapping[str, JsonValue], files: Sequence[FileSpec] = ()) -> Install:
    """Make the install of one server whose tools the agent may use unasked."""
    content: JsonObject = {"root_variable": ROOT_VARIABLE, "allowed": True, "servers": {name: native}}
    return Install(kind=SERVERS, name=name, content=content, files=tuple(files))


def _native(
    server: Server, folder: Path, origin_of: OriginOf, problems: list[Problem]
) -> tuple[JsonObject, tuple[FileSpec, ...]]:
    if server.url is not None:
        headers = {"headers": dict(server.headers)} if server.headers else {}
        return {"type": server.type or "http", "url": server.url, **headers}, ()
    if server.mock is not None:
        return {"mock": _mock(server.mock, folder, origin_of, problems)}, ()
    files = tuple(_files(server.files, folder, origin_of, problems))
    native: dict[str, JsonValue] = {"command": _placed(server.command or "")}
    if server.args:
        native["args"] = tuple(map(_placed, server.args))
    if server.env:
        native["env"] = {name: _placed(value) for name, value in server.env.items()}
    return native, files


def _placed(text: str) -> str:
    return text.replace(f"${{{FILES_VARIABLE}}}", f"${{{ROOT_VARIABLE}}}/{FILES_FOLDER}")


def _files(written: Iterable[str], folder: Path, origin_of: OriginOf, problems: list[Problem]) -> Iterator[FileSpec]:
    for number, text in enumerate(written):
        place = contained(folder, text)
        if place is None or not place.exists():
            message, hint = f"there is no file {text!r} beside the suite", "Paths start at the suite's folder."
            problems.append(_problem(message, origin_of("files", number), hint))
        elif place.is_dir():
            yield from (file_spec(place / path, f"{FILES_FOLDER}/{text}/{path}") for path in files_of(place))
        else:
            yield file_spec(place, f"{FILES_FOLDER}/{text}")


def _mock(written: str | JsonObject, folder: Path, origin_of: OriginOf, problems: list[Problem]) -> JsonObject:
    value: JsonValue = written
    place = lambda *keys: origin_of("mock", *keys)  # noqa: E731 - of the file where there is one
    if isinstance(written, str):
        path = contained(folder, written)
        if path is None or not path.is_file():
            problems.append(_problem(f"there is no file {written!r} beside the suite", origin_of("mock")))
            return EMPTY
        try:
            document = read_document(path, max_bytes=_MOST_BYTES)
        except SuiteError as error:
            problems += error.problems
            return EMPTY
        value, place = document.value, document.origin
    try:
        file = validate(MockFile, value, place)
    except SuiteError as error:
        problems += error.problems
        return EMPTY
    return _stand_in(file, place, problems)


def _stand_in(file: MockFile, place: OriginOf, problems: list[Problem]) -> JsonObject:
    tools: list[JsonObject] = []
    answers: dict[str, list[JsonObject]] = {}
    for number, tool in enumerate(file.tools):
        if tool.name in answers:
            problems.append(_problem(f"there are two tools {tool.name!r}", place("tools", number, "name")))
        tools.append(tool_of(tool.name, tool.description, tool.input_schema))
        answers[tool.name] = []
        for index, answer in enumerate(tool.answers):
            try:
                answers[tool.name].append(_answer(answer))
            except GuardError as error:
                problems.append(_problem(str(error), place("tools", number, "answers", index, *error.pointer)))
    return stand_in(tools, answers)


def tool_of(name: str, description: str = "", input_schema: JsonObject | None = None) -> JsonObject:
    """Return a tool as a stand-in lists it; without a schema it takes any object."""
    return {"name": name, "description": description, "inputSchema": input_schema or _ANY_OBJECT}


def stand_in(tools: Sequence[JsonObject], answers: Mapping[str, Sequence[JsonObject]]) -> JsonObject:
    """Return the content of a stand-in: its tools, and the answers of each in the order in which they are tried."""
    return {"tools": tuple(tools), "answers": {tool: tuple(listed) for tool, listed in answers.items()}}


def _answer(answer: MockAnswer) -> JsonObject:
    record: dict[str, JsonValue] = {"text": text_of(thaw(answer.json_)) if answer.text is None else answer.text}
    if answer.text is not None:
        record["is_template"] = True
    if answer.error:
        record["is_error"] = True
    for name in ("when", "expect"):
        if guards := guards_of(getattr(answer, name), name):
            record[name] = guards
    return record


def _problem(message: str, origin: Origin, hint: str | None = None) -> Problem:
    return Problem("suite.mcp-server", message, origin=origin, hint=hint)
