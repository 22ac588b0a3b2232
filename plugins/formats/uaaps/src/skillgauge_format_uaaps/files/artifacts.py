"""The keys of the files of agents, commands, rules and servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from skillgauge.api import EMPTY, JsonObject

from .parts import SafePath, Text


class _File(BaseModel):
    """Unknown keys are no mistake."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")


class AgentFile(_File):
    """`agents/NAME/agent.yaml`."""

    name: Text
    description: Text
    system_prompt: SafePath
    version: str | None = None
    skills: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    parameters: JsonObject = EMPTY


class CommandHead(_File):
    """Front matter of `commands/NAME.md`."""

    name: Text
    description: str = ""
    variables: tuple[JsonObject, ...] = ()


class RuleApply(_File):
    """The condition under which a rule holds."""

    mode: str = "always"
    globs: tuple[str, ...] = ()


class RuleHead(_File):
    """Front matter of `rules/NAME/RULE.md`."""

    name: str | None = None
    description: str = ""
    apply: RuleApply = RuleApply()
    globs: tuple[str, ...] | str | None = None
    always_apply: Annotated[bool | None, Field(alias="alwaysApply")] = None

    @property
    def is_always(self) -> bool:
        """True if it holds in every session; the older keys count where the newer one is absent."""
        if "apply" in self.model_fields_set:
            return self.apply.mode == "always"
        return self.always_apply if self.always_apply is not None else not self.globs


def _kind(value: str) -> str:
    if value not in ("stdio", "http", "sse"):
        raise ValueError("must be 'stdio', 'http' or 'sse'")
    return value


class Server(_File):
    """One of `servers`."""

    type: Annotated[str, AfterValidator(_kind)] | None = None
    command: Text | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = Field(default_factory=dict)
    url: Text | None = None
    headers: Mapping[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.command is None) is (self.url is None):
            raise ValueError("a server has either a command or a url")
        return self


class ServersFile(_File):
    """`mcp/servers.json`."""

    servers: Mapping[str, Server]
