"""The keys of the files of deterministic tests, and of hooks.json, which their cases are about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from skillgauge.api import Json, JsonObject

from .parts import CaseName, OpenPart, Part, SafePath, Text


class Event(StrEnum):
    """Events that a hook can be for."""

    PRE_TOOL_USE = "pre-tool-use"
    PERMISSION_REQUEST = "permission-request"
    POST_TOOL_USE = "post-tool-use"
    PRE_PROMPT = "pre-prompt"
    SESSION_START = "session-start"
    SESSION_END = "session-end"
    STOP = "stop"
    SUB_AGENT_END = "sub-agent-end"
    PRE_COMPACT = "pre-compact"
    NOTIFICATION = "notification"


def _structure(value: object) -> object:
    if not isinstance(value, Mapping | tuple):
        raise ValueError("must be an object or a list")
    return value


def _pattern(value: str) -> str:
    if value == "*":  # as agents' programs write "any tool"
        return ""
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from error
    return value


class RunnerConfig(Part):
    """`tests/test-config.json` of a skill or of the hooks."""

    version: Literal[1]
    timeout: Annotated[float, Field(gt=0)] = 30
    """Seconds of one case."""
    env: Mapping[str, str] = Field(default_factory=dict)


class SkillInput(Part):
    """The input of a skill's command."""

    command: Text
    stdin: str | None = None
    files: tuple[SafePath, ...] = ()


class Expected(Part):
    """The behaviour that a command must show."""

    exit_code: int | None = None
    stdout_contains: tuple[Text, ...] = ()
    stderr_contains: tuple[Text, ...] = ()
    not_contains: tuple[Text, ...] = ()
    stdout_json: Annotated[Json, AfterValidator(_structure)] = None


class SkillCase(OpenPart):
    """`skills/NAME/tests/cases/*.yaml`."""

    name: CaseName
    description: str | None = None
    input: SkillInput
    expected: Expected = Expected()


class HookInput(Part):
    """The payload that a hook gets."""

    fixture: SafePath | None = None
    overrides: JsonObject = Field(default_factory=dict)


class HookCase(OpenPart):
    """`hooks/tests/cases/*.yaml`."""

    name: CaseName
    description: str | None = None
    event: Annotated[Event, Field(strict=False)]
    hook_index: Annotated[int, Field(ge=0)] = 0
    input: HookInput = HookInput()
    expected: Expected = Expected()


class HookEntry(BaseModel):
    """One hook of a group."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")

    type: Literal["command", "prompt"]
    command: Text | None = None
    prompt: Text | None = None
    timeout: Annotated[float, Field(ge=1, le=300)] = 30

    @model_validator(mode="after")
    def _has_its_own(self) -> Self:
        if getattr(self, self.type) is None:
            raise ValueError(f"a hook of type {self.type!r} must have {self.type!r}")
        return self


class HookGroup(BaseModel):
    """Hooks of an event that share a matcher."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")

    matcher: Annotated[str, AfterValidator(_pattern)] | None = None
    hooks: Annotated[tuple[HookEntry, ...], Field(min_length=1)]


class HooksFile(BaseModel):
    """`hooks/hooks.json`."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")

    version: Literal[1]
    hooks: Mapping[str, tuple[HookGroup, ...]]
