"""Providers of promptfoo as engines, models and direct calls."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from skillgauge.api import JsonObject, JsonValue, thaw
from skillgauge_assertions import Node, Reading, as_text

AGENT = "anthropic:claude-agent-sdk"
"""Stands in a suite about an agent that names no engine."""
ENGINES: Mapping[str, str] = {
    AGENT: "claude-code",
    "anthropic:claude-code": "claude-code",
    "openai:codex-sdk": "codex",
    "openai:codex": "codex",
    "openai:codex-app-server": "codex",
}
_MODELS = ("openai:chat:", "openai:responses:", "openai:", "anthropic:messages:", "anthropic:", "google:")
_MODEL = "api"
COMMAND, ECHO = "exec:", "echo"
_KNOWN = ("model", "apiKey", "max_turns")


@dataclass(frozen=True)
class Asked:
    """The engine or adapter that answers the prompts."""

    engine: str | None = None
    model: str | None = None
    max_turns: int | None = None
    command: str | None = None
    """Of a direct call; empty: what is asked is the answer."""
    config: JsonValue = None

    def call(self, prompt: str, values: Mapping[str, JsonValue]) -> JsonObject:
        """The input of a direct call, as the adapter `command` takes it."""
        if not self.command:
            return {"steps": ({"command": "cat"},), "stdin": prompt}
        context = json.dumps({"vars": thaw(dict(values))}, ensure_ascii=False)
        options = json.dumps({"config": thaw(self.config) or {}}, ensure_ascii=False)
        words = " ".join(shlex.quote(word) for word in (prompt, options, context))
        return {"steps": ({"command": f"{self.command} {words}"},)}


def asked(reading: Reading, node: Node) -> Asked:
    """The first provider that somebody here can be; the others are told, since who answers is the user's choice."""
    nodes = list(node.items()) if isinstance(node.value, tuple) else [node] if node.value is not None else []
    provider: Asked | None = None
    for item in nodes:
        provider_of_node = _provider(reading, item)
        if provider_of_node is not None and provider is not None:
            reading.warn(item, "one provider of a suite is asked, the first", "Name several by --engine and --model.")
        provider = provider or provider_of_node
    return provider or Asked()


def _provider(reading: Reading, node: Node) -> Asked | None:
    name, config = _named(node)
    if name is None:
        reading.refuse(node, "a provider is a text, or an object with `id`", code="suite.wrong-type")
        return None
    _keep_unknown(reading, config)
    if name == ECHO:
        return Asked(command="")
    if name.startswith(COMMAND):
        return Asked(command=name.removeprefix(COMMAND).strip(), config=config.value)
    if name in ENGINES:
        return Asked(ENGINES[name], as_text(config.at("model").value) or None, _turns(config.at("max_turns").value))
    model = _model(name)
    if model is not None:
        return Asked(_MODEL, model)
    reading.warn(node, f"nobody here is the provider {name!r}", "Name an engine by --engine.")
    return None


def _keep_unknown(reading: Reading, config: Node) -> None:
    """Tell of the settings of a provider that have no effect here."""
    if not isinstance(config.value, Mapping):
        return
    for key in config.names():
        if key not in _KNOWN:
            reading.keep(config.at(key), f"`{key}` of a provider", "set what the engine knows by --set")


def _turns(value: JsonValue) -> int | None:
    """A limit of turns; `None` for everything that is none."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if value > 0 else None


def _model(name: str) -> str | None:
    """The model in the name of a provider, if it is one of a plain model of a service."""
    for start in _MODELS:
        plain = name.removeprefix(start)
        if name.startswith(start) and plain and ":" not in plain:
            return plain
    return None


def _named(node: Node) -> tuple[str | None, Node]:
    """Id and settings: a text, an object with `id`, or an object with the id as its one key."""
    value, nothing = node.value, Node(None, node.origin)
    if isinstance(value, str) and value:
        return value, nothing
    if not isinstance(value, Mapping):
        return None, nothing
    name = value.get("id")
    if isinstance(name, str) and name:
        return name, node.at("config")
    if len(value) == 1:
        only = next(iter(value))
        return only, node.at(only).at("config")
    return None, nothing
