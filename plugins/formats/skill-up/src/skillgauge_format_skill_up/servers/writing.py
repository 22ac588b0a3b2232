"""From what cases install to `mcp.servers`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from skillgauge.api import Case, Install, thaw
from skillgauge_mcp_servers.names import SERVERS

from .reading import ANY_INPUT, DEFAULT, described

_INPUT = re.compile(r"\{\{input\.([A-Za-z0-9_.$-]+)\}\}")
_PLACES = re.compile(r"\{\{")
_FOLDER = "evals/fixtures/mcp"
Put = Callable[[str, bytes], None]


@dataclass
class WrittenServers:
    """The servers of a suite, and what cannot be said of them."""

    put: Put
    """Takes a file by its path."""
    shared: tuple[Install, ...] = ()
    """Those that every case has."""
    _numbers: dict[str, int] = field(default_factory=dict)

    def of_suite(self) -> list[dict[str, Any]]:
        """Return the entries of eval.yaml."""
        return [entry for install in self.shared if (entry := self._entry(install)) is not None]

    def of_case(self, case: Case) -> list[dict[str, Any]]:
        """Return the entries of a case file: stand-ins, which no other case has."""
        entries = (self._entry(install) for install in case.installs if install not in self.shared)
        return [entry for entry in entries if entry is not None and entry["mode"] == "mocked"]

    def losses(self, case: Case) -> Iterator[str]:
        """Yield what of the installs of a case cannot be written."""
        for install in case.installs:
            entry = self._entry(install)
            if entry is None or (install not in self.shared and entry["mode"] != "mocked"):
                yield f"{install.kind} {install.name!r} cannot be written"

    def _entry(self, install: Install) -> dict[str, Any] | None:
        servers = install.content.get("servers")
        if install.kind != SERVERS or not isinstance(servers, Mapping) or not install.content.get("allowed"):
            return None
        if install.replaces or install.files or tuple(servers) != (install.name,):
            return None
        server: dict[str, Any] = thaw(servers[install.name])
        if "mock" in server:
            responses = _responses(server["mock"])
            return None if responses is None else self._with_config(install, "mocked", {"tool_responses": responses})
        entry = {"name": install.name, "mode": "real"}
        if "url" in server:
            if server.get("type") == "sse":
                return None
            headers = server.get("headers")
            config = {"transport": "http", "endpoint": server["url"], "headers": headers}
            return self._with_config(install, "real", config) if headers else entry | {"endpoint": server["url"]}
        config = {"transport": "stdio", "command": server["command"], "args": server.get("args", [])}
        config |= {"env": server["env"]} if server.get("env") else {}
        return self._with_config(install, "real", config) if "env" in config else entry | config

    def _with_config(self, install: Install, mode: str, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return an entry whose rest stands in a file of its own."""
        number = self._numbers.setdefault(install.digest, len(self._numbers) + 1)
        path = f"{_FOLDER}/{number:03}.yaml"
        self.put(path, yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True, width=120).encode())
        return {"name": install.name, "mode": mode, "config_ref": path}


def shared_installs(cases: list[Case]) -> tuple[Install, ...]:
    """Return the installs that every case has, in the order of the first."""
    return tuple(one for one in (cases[0].installs if cases else ()) if all(one in case.installs for case in cases))


def _responses(mock: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the answers of a stand-in that gives one text for each tool; `None` for any other."""
    responses: dict[str, Any] = {}
    described_tools = {tool["name"]: tool for tool in mock["tools"]}
    for name, answers in mock["answers"].items():
        tool = described_tools.get(name, {})
        is_plain = tool.get("description") == described(name) and tool.get("inputSchema") == thaw(ANY_INPUT)
        if len(answers) != 1 or answers[0].keys() - {"text", "is_template"} or not is_plain:
            return None
        text = str(answers[0]["text"])
        if answers[0].get("is_template"):
            if _PLACES.search(_INPUT.sub("", text)) or not _INPUT.search(text):
                return None
            text = _INPUT.sub(r"{{params.\1}}", text)
        elif _PLACES.search(text):
            return None
        responses[name] = {DEFAULT: text}
    return responses
