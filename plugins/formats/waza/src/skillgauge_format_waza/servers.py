"""MCP servers of a suite: those that are started, and those that are mocked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from skillgauge.api import Install, JsonObject, JsonValue, canonical_json
from skillgauge_mcp_servers.guards import GuardError, guards_of
from skillgauge_mcp_servers.written import read_servers, servers_install, stand_in, tool_of

from .files import EvalFile, MockResponseFile
from .reading import Reading

_KNOWN = ("type", "command", "args", "env", "url", "headers")
"""Keys of a server that have an effect here; others are those of its executor."""


def servers_of(reading: Reading, read: EvalFile) -> tuple[Install, ...]:
    """Return the servers that every task has in both arms; a mock is in the place of a server of its name."""
    written = {name: _plain(reading, name, value) for name, value in (read.config.mcp_servers or {}).items()}
    place = partial(reading.document.origin, "config", "mcp_servers")
    mocked = tuple(_mocks(reading, read))
    names = {install.name for install in mocked}
    started = {name: value for name, value in written.items() if name not in names}
    return (*read_servers(started, reading.folder, place, reading.problems), *mocked)


def _plain(reading: Reading, name: str, value: JsonValue) -> JsonValue:
    """Return a server with the keys that are known here."""
    if not isinstance(value, Mapping):
        return value
    server = dict(value)
    for key in server.keys() - set(_KNOWN):
        reading.tell(f"{key!r} of a server has no effect: it is for waza's own executor", "config", "mcp_servers", name)
        del server[key]
    if server.get("type") in ("local", "stdio"):
        del server["type"]
    return server


def _mocks(reading: Reading, read: EvalFile) -> Iterator[Install]:
    for number, mock in enumerate(read.mcp_mocks):
        tools, answers = [], {}
        for tool, stub in mock.tools.items():
            tools.append(tool_of(tool, stub.description, stub.input_schema))
            place = ("mcp_mocks", number, "tools", tool, "responses")
            answers[tool] = tuple(_answer(reading, response, *place, at) for at, response in enumerate(stub.responses))
        yield servers_install(mock.name, {"mock": stand_in(tools, answers)})


def _answer(reading: Reading, response: MockResponseFile, *place: str | int) -> JsonObject:
    """Return an answer as a stand-in gives it: to the input that is the same, or fits its patterns, else to all."""
    if response.match_schema is not None:
        hint = "Use match, or match_regex."
        reading.refuse("no schema decides which answer is given", *place, "match_schema", hint=hint)
    is_error = response.error is not None
    answer: dict[str, JsonValue] = {"text": response.error or canonical_json(response.return_)}
    answer |= {"is_error": True} if is_error else {}
    if response.match:
        answer["equals"] = response.match
    try:
        patterns = {name: f"/{pattern}/" for name, pattern in (response.match_regex or {}).items()}
        answer |= {"when": guards_of(patterns, "match_regex")} if patterns else {}
    except GuardError as error:
        reading.refuse(str(error), *place, *error.pointer)
    return answer
