"""Folders `mocks`: servers that answer from files, in place of those of the plugin or beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from skillgauge.api import FileSpec, Install, JsonObject, JsonValue, Origin, SuiteError, read_document
from skillgauge_mcp_servers.guards import GuardError, guards_of
from skillgauge_mcp_servers.names import plain_name
from skillgauge_mcp_servers.written import servers_install, stand_in, tool_of
from skillgauge_skill_folders import Headed, bytes_of, file_spec, files_of, read_headed

from .claiming import evals_around
from .files import Part, Tolerant
from .reading import Findings

MOCKS, ALL_TOOLS, LISTING = "mocks", "_server.md", "_tools.json"
MOST_BYTES = 1 << 20
"""Of a file that an answer is read from, or quotes."""
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_STUB = "TODO: replace with the canned result"
_BY_A_MODEL = "Write what the tool answers as the body of NAME.md, with `expect` for the calls that must not be made."
_QUOTES_FILE = "{{file:"


class MockHead(Part):
    """Front matter of an answer."""

    type: Literal["fixed", "agent"] = "fixed"
    expect: JsonObject | None = None
    error: bool = False
    tools: tuple[str, ...] | None = None
    abort_when: str | None = None


class _Tool(Tolerant):
    name: Annotated[str, Field(min_length=1)]
    description: str = ""
    inputSchema: JsonObject | None = None  # noqa: N815 - as it is saved


class _Listing(Tolerant):
    tools: tuple[_Tool, ...]


@dataclass
class _Server:
    """A folder of answers, with those that lie over it."""

    answers: dict[str, JsonObject] = field(default_factory=dict)
    listed: dict[str, JsonObject] = field(default_factory=dict)
    files: dict[str, FileSpec] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """The texts that it was read from, by their names, to be written again."""
    place: Origin | None = None


@dataclass(frozen=True)
class Mocked:
    """The stand-ins of a case."""

    installs: tuple[Install, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    """The texts that they were read from, by their paths below `mocks`."""
    is_of_plugin: bool = False
    """True if each stands for a server of the plugin, so that the arm without it has none."""


class Mocks:
    """Reads the folders `mocks` of a suite, each once.

    Args:
        root: the plugin's folder.
        servers: names of the servers that the plugin declares, as the program registers them.
        findings: receives what is wrong.
    """

    def __init__(self, root: Path, servers: tuple[str, ...], findings: Findings) -> None:
        self._root, self._servers, self._findings = root.resolve(), servers, findings
        self._read: dict[Path, dict[str, _Server]] = {}
        self._told: set[tuple[str, str]] = set()

    def of(self, case: Path) -> Mocked:
        """Return the stand-ins of a case: those of its own folder lie over those of the folders around it."""
        servers: dict[str, _Server] = {}
        for folder in _layers(case):
            for name, server in self._folder(folder / MOCKS).items():
                below = servers.setdefault(name, _Server())
                below.answers |= server.answers
                below.listed |= server.listed
                below.files |= server.files
                below.texts |= server.texts
                below.place = below.place or server.place
        installs, names = [], []
        for name, server in servers.items():
            if not server.answers:
                continue
            registered = self._registered(name, server)
            names.append(registered)
            listed = [server.listed.get(tool) or tool_of(tool) for tool in server.answers]
            native = {"mock": stand_in(listed, {tool: (answer,) for tool, answer in server.answers.items()})}
            install = servers_install(registered, native, tuple(server.files.values()))
            installs.append(install.model_copy(update={"replaces": registered in self._servers}))
        for name, count in Counter(names).items():
            if count > 1:
                self._refuse(f"two folders stand for server {name!r}", Origin(str(case)), "Keep one of them.")
        texts = {f"{name}/{path}": text for name, server in servers.items() for path, text in server.texts.items()}
        return Mocked(tuple(installs), texts, bool(installs) and all(one.replaces for one in installs))

    def _registered(self, name: str, server: _Server) -> str:
        """Return the name of the plugin's server that a folder stands for, else that of the folder."""
        fitting = [one for one in self._servers if name in (plain_name(one), plain_name(one.rpartition(":")[2]))]
        if len(fitting) > 1 and server.place is not None:
            message = f"folder {name!r} could stand for {' and '.join(fitting)}"
            self._refuse(message, server.place, f"Name it {' or '.join(map(plain_name, fitting))}.")
        return fitting[0] if fitting else name

    def _refuse(self, message: str, origin: Origin, hint: str) -> None:
        if (message, origin.file) not in self._told:
            self._told.add((message, origin.file))
            self._findings.refuse(message, origin, hint)

    def _folder(self, folder: Path) -> dict[str, _Server]:
        if folder not in self._read:
            inner = sorted(folder.iterdir()) if folder.is_dir() else ()
            self._read[folder] = {one.name: self._server(one) for one in inner if one.is_dir() and one.name[0] != "."}
        return self._read[folder]

    def _server(self, folder: Path) -> _Server:
        server = _Server(place=Origin(str(folder)))
        if not _NAME.fullmatch(folder.name) or "__" in folder.name:
            hint = "Call it as the part of the tool's name that stands for the server."
            self._findings.refuse(f"{folder.name!r} is no name of a server", Origin(str(folder)), hint)
            return server
        for path in sorted(folder.iterdir()):
            if path.is_file() and (content := bytes_of(path, MOST_BYTES)) is not None:
                server.texts[path.name] = content.decode("utf-8", "replace")
            if path.name == LISTING:
                server.listed = self._listing(path)
            elif path.suffix == ".md" and path.is_file() and path.name[0] != ".":
                self._add(server, path)
        if not server.answers:
            self._findings.tell(f"nothing is answered for server {folder.name!r}", Origin(str(folder)), once=False)
        if any(_QUOTES_FILE in str(answer["text"]) for answer in server.answers.values()):
            inner = folder.resolve().relative_to(self._root).as_posix()
            server.files = {one: file_spec(folder / one, f"{inner}/{one}") for one in files_of(folder)}
        return server

    def _add(self, server: _Server, path: Path) -> None:
        """Read the answer in a file."""
        try:
            headed = read_headed(path)
        except SuiteError as error:
            self._findings.problems += error.problems
            return
        head = self._findings.read(MockHead, headed.document.value, headed.document)
        if head is None or not self._is_sound(path, head, headed):
            return
        answer: dict[str, JsonValue] = {"text": headed.body, "is_template": True}
        if head.error:
            answer["is_error"] = True
        if head.expect is not None:
            try:
                answer["expect"] = guards_of(head.expect, "expect")
            except GuardError as error:
                origin = headed.document.origin(*error.pointer)
                self._findings.refuse(str(error), origin, "The program refuses to start with it.")
        if _QUOTES_FILE in headed.body:
            answer["folder"] = path.parent.resolve().relative_to(self._root).as_posix()
        server.answers[path.stem] = answer

    def _is_sound(self, path: Path, head: MockHead, headed: Headed) -> bool:
        """Note what an answer cannot be; tell whether there is nothing."""
        origin = headed.document.origin
        faults = (
            (head.type == "agent", "no model plays a server here", origin("type"), _BY_A_MODEL),
            (path.name == ALL_TOOLS, f"{ALL_TOOLS} belongs to a server that a model plays", origin(), _BY_A_MODEL),
            (head.tools is not None, f"tools belongs into {ALL_TOOLS}", origin("tools"), "Take it out."),
            (head.abort_when is not None, "abort_when needs type: agent", origin("abort_when"), "Use expect."),
            (_STUB in headed.body, "the answer is still that of the template", origin(), "Write the answer."),
            (not _NAME.fullmatch(path.stem), f"{path.stem!r} is no name of a tool", origin(), "Call it as the tool."),
        )
        fault = next(((message, place, hint) for is_so, message, place, hint in faults if is_so), None)
        if fault is not None:
            self._findings.refuse(*fault)
        return fault is None

    def _listing(self, path: Path) -> dict[str, JsonObject]:
        """Return the tools of a saved answer to tools/list."""
        try:
            document = read_document(path, kind="json")
        except SuiteError as error:
            self._findings.problems += error.problems
            return {}
        value = document.value
        if isinstance(value, Mapping) and "result" in value:
            listing = self._findings.read(_Listing, value["result"], document, "result")
        else:
            listing = self._findings.read(_Listing, value, document)
        tools = listing.tools if listing is not None else ()
        return {tool.name: tool_of(tool.name, tool.description, tool.inputSchema) for tool in tools}


def _layers(case: Path) -> Iterator[Path]:
    """Yield the folders whose mocks hold for a case, the outermost first."""
    outermost = evals_around(case)
    around = [one for one in case.parents if outermost is not None and one.is_relative_to(outermost)]
    yield from (*reversed(around), case)
