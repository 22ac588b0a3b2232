"""The options of agents that the user describes himself."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from pydantic import Field, field_validator, model_validator

from skillgauge.api import EMPTY, MACHINE_PLACE, FileSpec, JsonObject, did_you_mean

from ..agents import AGENTS
from ..options import AcpOptions
from .presets import PRESETS
from .usage import COUNTS, KeptUsage

ENGINE = "acp"
PAGE = "docs/other-agents.md"


class UsageRule(StrEnum):
    """The place where an agent reports its tokens."""

    NONE = "none"
    """Nowhere: tokens are those that a relay counted, or unknown."""
    FINAL = "final"
    """In the answer to the prompt, for the whole session."""
    MESSAGES = "messages"
    """In `_meta.usage` of messages, for one call of the model each."""
    FILES = "files"
    """In files of its home, which `usage_files` and `usage_keys` describe."""


class ConfiguredOptions(AcpOptions):
    """Options of an agent. What they do not describe is unknown."""

    agents: JsonObject = Field(
        default=EMPTY, description="Agents by name, each with the options below.", json_schema_extra=MACHINE_PLACE
    )
    agent: str | None = Field(default=None, min_length=1, description="The agent; `acp:NAME` sets it.")
    argv: tuple[str, ...] = Field(
        min_length=1, description="Program and arguments: a list, or one text.", json_schema_extra=MACHINE_PLACE
    )
    version_argv: tuple[str, ...] = Field(
        default=(),
        description="Command line that makes the program tell its version; default: `argv[0] --version`.",
        json_schema_extra=MACHINE_PLACE,
    )
    agent_name: str | None = Field(
        default=None,
        min_length=1,
        description="Name that the program must give in its answer to `initialize`; another one is an error.",
    )
    needs: tuple[str, ...] = Field(default=(), description="Further programs that the agent needs in PATH.")
    skill_folder: str | None = Field(
        default=None, description="Where the agent looks for skills, relative to its working folder."
    )
    skill_tool: tuple[str, ...] = Field(
        default=(),
        description="Names or titles of the tool by which the agent loads a skill. Without it nobody knows that none "
        "was used.",
    )
    own_words: tuple[str, ...] = Field(
        default=(),
        description="Beginnings of messages in which the program itself tells of trouble with its model. A session "
        "that ends with one has failed.",
    )
    usage: UsageRule = Field(default=UsageRule.NONE, description="Where the agent reports its tokens.")
    usage_files: str | None = Field(
        default=None, description="Files of its home that tell tokens, relative to it, with wildcards."
    )
    usage_table: str | None = Field(
        default=None,
        min_length=1,
        description="Table of these files, SQLite databases then; without it they are JSON, whole or by line.",
    )
    usage_keys: JsonObject = Field(
        default=EMPTY,
        description=f"Keys of the counts in these files: {', '.join(COUNTS)} to a key, with dots for deeper ones. The "
        "objects or rows that tell any are added up.",
    )
    usage_where: JsonObject = Field(
        default=EMPTY,
        description="Fields of the objects that count for `usage_keys`, key to value; default: all of them.",
    )
    key_variable: str | None = Field(
        default=None, min_length=1, description="Environment variable with the key of the model API."
    )
    env: JsonObject = Field(
        default=EMPTY, description="Variables that the program sees, name to value, with placeholders."
    )
    files: JsonObject = Field(
        default=EMPTY,
        description="Files in its home, path to text or to what becomes JSON, with placeholders.",
    )
    hosts: tuple[str, ...] = Field(
        default=(), description="Hosts that a sandbox without network lets it reach, `name` or `name:port`."
    )

    @model_validator(mode="before")
    @classmethod
    def _described(cls, values: object) -> object:
        """Take the description of the agent that is named."""
        if not isinstance(values, Mapping):
            return values
        agents, name = values.get("agents") or {}, values.get("agent")
        if not isinstance(agents, Mapping):
            return values
        names = tuple(agent.name for agent in AGENTS)
        if doubles := [agent for agent in agents if agent in names]:
            raise ValueError(
                f"{doubles[0]} is known: set its options as engines.{doubles[0]}.KEY, or take another name"
            )
        if name is None and "argv" in values:
            return values
        preset, description = PRESETS.get(str(name)), agents.get(name)
        if preset is None and not isinstance(description, Mapping):
            raise ValueError(_unknown(name, tuple(dict.fromkeys((*agents, *names, *PRESETS)))))
        return {**(preset.description if preset else {}), **(description or {}), **values}

    @field_validator("argv", "version_argv", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        """A command line in one text is split as a shell would."""
        return shlex.split(value) if isinstance(value, str) else value

    @field_validator("skill_tool", "own_words", mode="before")
    @classmethod
    def _several(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("skill_folder")
    @classmethod
    def _inside(cls, folder: str | None) -> str | None:
        return folder if folder is None else FileSpec(path=folder, text="").path.rstrip("/")

    @field_validator("usage_files")
    @classmethod
    def _of_the_home(cls, pattern: str | None) -> str | None:
        return pattern if pattern is None else FileSpec(path=pattern, text="").path

    @field_validator("usage_keys")
    @classmethod
    def _known_counts(cls, keys: JsonObject) -> JsonObject:
        for name, key in keys.items():
            if name not in COUNTS:
                raise ValueError(f"no count {name!r}{did_you_mean(name, COUNTS)}; there are {', '.join(COUNTS)}")
            if not isinstance(key, str) or not key:
                raise ValueError(f"{name}: must be a key, with dots for deeper ones")
        return keys

    @field_validator("env")
    @classmethod
    def _texts(cls, env: JsonObject) -> JsonObject:
        wrong = [name for name, value in env.items() if not isinstance(value, str)]
        if wrong:
            raise ValueError(f"the value of {', '.join(wrong)} must be text; quote it")
        return env

    @field_validator("files")
    @classmethod
    def _below_the_home(cls, files: JsonObject) -> JsonObject:
        for path in files:
            FileSpec(path=path, text="")
        return files

    @model_validator(mode="after")
    def _says_which_files(self) -> Self:
        if self.usage is UsageRule.FILES and (self.usage_files is None or not self.usage_keys):
            raise ValueError("usage is files, so say where: usage_files and usage_keys")
        return self

    @property
    def kept_usage(self) -> KeptUsage | None:
        """The files of the home that tell tokens, if any do."""
        if self.usage is not UsageRule.FILES or self.usage_files is None:
            return None
        return KeptUsage(self.usage_files, self.usage_table, self.usage_keys, self.usage_where)


def _unknown(name: object, names: tuple[str, ...]) -> str:
    near = did_you_mean(str(name), names) if name else ""
    named = f"no agent {name!r} is described{near}" if name else "no agent is named"
    return (
        f"{named}; known are {', '.join(names)}. Name one as --engine {ENGINE}:NAME, or describe yours under "
        f"engines.{ENGINE}.agents.NAME: see {PAGE}"
    )
