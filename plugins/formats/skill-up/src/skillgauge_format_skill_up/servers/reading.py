"""From `mcp.servers` to what a case installs: real servers, and stand-ins for mocked ones."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import FrozenDict, Install, JsonObject, JsonValue, SuiteError, read_document, thaw
from skillgauge_mcp_servers.written import FILES_VARIABLE, read_servers, servers_install, stand_in, tool_of
from skillgauge_skill_folders import contained

from ..files import ServerConfigFile, ServerEntry
from ..reading import Reading

BUILT_IN = "filesystem"
"""The mocked server that skill-up brings itself."""
ANY_INPUT: JsonObject = {"type": "object", "additionalProperties": True}
DEFAULT = "default"
PLACE = ("mcp", "servers")
_PARAMETER = re.compile(r"\{\{\s*params\.([A-Za-z0-9_.$-]+)(\s*\|\s*default:\s*['\"][^'\"]*['\"])?\s*\}\}")
_OF_STAND_INS = re.compile(r"\{\{\s*(input\.|file:)")
_WHOLE = re.compile(r"\$([A-Za-z_]\w*)")
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*\}")


def described(tool: str) -> str:
    """Return the description that a mocked tool has."""
    return f"Mocked MCP tool {tool}"


@dataclass(frozen=True)
class Servers:
    """The servers of a suite, or of one of its cases, with the file that they stand in."""

    reading: Reading
    entries: tuple[ServerEntry, ...]

    def installs(self, *, is_of_case: bool = False) -> dict[str, Install]:
        """Return the installs by the names of their servers; what is wrong with others is noted.

        Args:
            is_of_case: whether they belong to a single case, which can have mocked ones alone.
        """
        installs: dict[str, Install] = {}
        names: set[str] = set()
        for number, entry in enumerate(self.entries):
            place = (*PLACE, number)
            if entry.name in names:
                self.reading.refuse(f"two servers are called {entry.name!r}", *place, "name", hint="Rename one.")
            names.add(entry.name)
            if is_of_case and entry.mode != "mocked":
                hint = "Name it in eval.yaml, where all cases get it."
                self.reading.refuse("a server of a single case is a mocked one", *place, "mode", hint=hint)
                continue
            config = self._config(entry, number)
            if config is None:
                continue
            make = self._mocked if entry.mode == "mocked" else self._real
            if (install := make(entry, config, number)) is not None:
                installs[entry.name] = install
        return installs

    def _config(self, entry: ServerEntry, number: int) -> ServerConfigFile | None:
        """Return the file that an entry names; an empty one if it names none."""
        if not entry.config_ref.strip():
            return ServerConfigFile()
        path = self.reading.place(entry.config_ref.strip(), *PLACE, number, "config_ref")
        if path is None:
            return None
        try:
            inner = self.reading.of(read_document(path))
        except SuiteError as error:
            self.reading.problems += error.problems
            return None
        return inner.part(ServerConfigFile, inner.document.value)

    def _real(self, entry: ServerEntry, config: ServerConfigFile, number: int) -> Install | None:
        command = entry.command.strip() or config.command.strip()
        transport = entry.transport or config.transport or ("stdio" if command else "http")
        if transport == "stdio":
            args = config.args if entry.args is None else entry.args
            written, values = self._started(command, args, number), _env(config)
            key = "env"
        else:
            endpoint = entry.endpoint.strip() or config.endpoint.strip()
            if not self._is_address(entry.name, endpoint, number):
                return None
            written, values = {"url": endpoint}, {name: _variables(text) for name, text in config.headers.items()}
            key = "headers"
        if values:
            written[key] = FrozenDict(values)
        if any(map(_VARIABLE.search, values.values())):
            message = "variables of servers are passed on by you: --set engines.NAME.pass_env='[\"VARIABLE\"]'"
            self.reading.tell(message, *PLACE, number)
        origin = self.reading.document.origin(*PLACE, number)
        installs = read_servers({entry.name: written}, self.reading.root, lambda *_keys: origin, self.reading.problems)
        return installs[0] if installs else None

    def _is_address(self, name: str, endpoint: str, number: int) -> bool:
        """Tell whether a server can be reached there, after noting why not."""
        if not endpoint:
            self.reading.refuse(f"server {name!r} has no endpoint", *PLACE, number, hint="Give it, or a command.")
        elif _VARIABLE.search(_variables(endpoint)):
            hint = "Send the value as a header, and name the variable there."
            self.reading.refuse("an endpoint with a variable in it would stand in files", *PLACE, number, hint=hint)
        else:
            return True
        return False

    def _started(self, command: str, args: tuple[str, ...], number: int) -> dict[str, JsonValue]:
        """Return a server that is started, with the files of the skill that its arguments name."""
        files = [text for text in args if _is_file(self.reading.root, text)]
        placed = tuple(f"${{{FILES_VARIABLE}}}/{text}" if text in files else text for text in args)
        if files:
            self.reading.tell("files that arguments of a server name lie beside it, in no workspace", *PLACE, number)
        more: dict[str, JsonValue] = {"args": placed} if placed else {}
        return {"command": command} | more | ({"files": tuple(dict.fromkeys(files))} if files else {})

    def _mocked(self, entry: ServerEntry, config: ServerConfigFile, number: int) -> Install | None:
        settings = {
            "transport": entry.transport or config.transport,
            "endpoint": entry.endpoint or config.endpoint,
            "command": entry.command or config.command or entry.args or config.args,
        }
        for key, value in settings.items():
            if value and value != "stdio":
                hint = "Take it out: a stand-in answers, and nothing else is started."
                self.reading.refuse(f"a mocked server has no {key}", *PLACE, number, hint=hint)
                return None
        if not config.tool_responses:
            what = (
                f"the mocked {BUILT_IN!r} of skill-up is not here" if entry.name == BUILT_IN else "nothing is answered"
            )
            hint = "Write the answers: config_ref names a file with tool_responses."
            self.reading.refuse(f"{what}: server {entry.name!r}", *PLACE, number, hint=hint)
            return None
        tools, answers = [], {}
        for tool, response in config.tool_responses.items():
            answer = self._answer(response, tool, number)
            if answer is None:
                return None
            tools.append(tool_of(tool, described(tool), ANY_INPUT))
            answers[tool] = (answer,)
        return servers_install(entry.name, {"mock": stand_in(tools, answers)})

    def _answer(self, response: JsonValue, tool: str, number: int) -> JsonObject | None:
        """Return the answer of a tool; `None` after noting that its text would be another one."""
        value = response
        if isinstance(response, Mapping) and DEFAULT in response:
            value = response[DEFAULT]
            if len(response) > 1:
                message = "answers beside `default` are never given by skill-up, and have no effect"
                self.reading.tell(message, *PLACE, number)
        text = value if isinstance(value, str) else compact(value)
        parameters = list(_PARAMETER.finditer(text))
        if not parameters:
            return {"text": text}
        if any(parameter[2] for parameter in parameters) or _OF_STAND_INS.search(text):
            hint = "Use {{params.NAME}} alone."
            message = f"the answer of {tool!r} has a default for a parameter, or places of another kind"
            self.reading.refuse(message, *PLACE, number, hint=hint)
            return None
        return {"text": _PARAMETER.sub(r"{{input.\1}}", text), "is_template": True}


def compact(value: JsonValue) -> str:
    """Return a value as JavaScript writes it."""
    return json.dumps(thaw(value), ensure_ascii=False, separators=(",", ":"))


def joined(of_suite: Mapping[str, Install], of_case: Mapping[str, Install]) -> tuple[Install, ...]:
    """Return the servers of a case: its own take the place of those of the suite with their names."""
    return tuple({**of_suite, **of_case}.values())


def _variables(text: str) -> str:
    """Return a text whose variables are written in braces."""
    whole = _WHOLE.fullmatch(text)
    return f"${{{whole[1]}}}" if whole else text


def _env(config: ServerConfigFile) -> dict[str, str]:
    """Return the variables of a server, those of the user by their names."""
    named = {name: f"${{{name}}}" for name in config.required_env}
    return {name: _variables(text) for name, text in config.env.items()} | named


def _is_file(root: Path, text: str) -> bool:
    place = contained(root, text) if text.strip() and "\n" not in text else None
    return place is not None and place.is_file()
