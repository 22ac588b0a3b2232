"""The options of the engine: the start of the agent, and the reading of its output."""

from __future__ import annotations

import shlex
from string import Formatter
from typing import Self

from pydantic import Field, field_validator, model_validator

from skillgauge.api import (
    EMPTY,
    HARMLESS,
    MACHINE_PLACE,
    FailureClass,
    FileSpec,
    Frozen,
    JsonObject,
    Usage,
    did_you_mean,
)

from .records import INPUT_WITH_CACHE, OUTPUT_WITHOUT_REASONING

PLACEHOLDERS = ("prompt", "prompt_file", "model", "workspace", "skill_folder", "max_turns")
SKILL_FILE = "skill_file"
"""The placeholder of `skill_argv`."""
_LATER = frozenset({"skill_argv", "skill_tool", "answer_where", "usage_keys", "usage_where"})
_COUNTS = (*(name for name in Usage.model_fields if name != "cost_basis"), INPUT_WITH_CACHE, OUTPUT_WITHOUT_REASONING)
COMPLETED = "completed"
"""Meaning of an exit code that is no failure."""
FAILED = "failed"
"""Meaning of an exit code by which the agent itself says that it could not do the task."""


class CommandOptions(Frozen):
    """Options of `command`."""

    argv: tuple[str, ...] = Field(
        min_length=1,
        description="Program and arguments, with placeholders: a list, or one text.",
        json_schema_extra=MACHINE_PLACE,
    )
    stdin: str = Field(default="", description="What the program reads, with placeholders.")
    env: JsonObject = Field(default=EMPTY, description="Variables that it sees, name to value.")
    pass_env: tuple[str, ...] = Field(
        default=(), description="Names of variables that it gets from your environment; their values are kept secret."
    )
    model: str | None = Field(
        default=None, min_length=1, description="Model where nobody names one.", json_schema_extra=HARMLESS
    )
    skill_folder: str | None = Field(
        default=None, description="Where the agent looks for skills, relative to its working folder."
    )
    skill_argv: tuple[str, ...] = Field(
        default=(),
        description=f"Arguments for each installed skill, after all others, with {{{SKILL_FILE}}} for its SKILL.md; "
        "for an agent that knows no skills and reads files that it is given.",
    )
    skill_tool: tuple[str, ...] = Field(
        default=(),
        description="Names of the tool by which the agent loads a skill, in lines of stdout that are JSON objects. "
        "Without it nobody knows that none was used.",
        json_schema_extra=HARMLESS,
    )
    answer_key: str | None = Field(
        default=None,
        min_length=1,
        description="Key of the answer in the last line of stdout that is a JSON object, with dots for deeper ones; "
        "without it all of stdout is the answer.",
        json_schema_extra=HARMLESS,
    )
    answer_where: JsonObject = Field(
        default=EMPTY,
        description="Fields of the line with the answer, key to value; the last such line counts.",
        json_schema_extra=HARMLESS,
    )
    usage_keys: JsonObject = Field(
        default=EMPTY,
        description=f"Keys of what a session has used, in lines of stdout that are JSON objects: {', '.join(_COUNTS)} "
        "to a key, with dots for deeper ones. The lines that tell any are added up.",
        json_schema_extra=HARMLESS,
    )
    usage_where: JsonObject = Field(
        default=EMPTY,
        description="Fields of the lines that count for `usage_keys`, key to value; default: all lines.",
        json_schema_extra=HARMLESS,
    )
    exit_codes: JsonObject = Field(
        default=EMPTY,
        description=f"Meaning of exit codes: `{COMPLETED}`, `{FAILED}` (the case has failed) or a class of error. A "
        f"signal counts as 128 plus its number. Default: 0 is `{COMPLETED}`; every other ending is an error.",
    )
    hosts: tuple[str, ...] = Field(
        default=(), description="Hosts that a sandbox without network lets it reach, `name` or `name:port`."
    )
    paid: bool = Field(default=True, description="Whether a session costs money.")

    @field_validator("argv", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        """A command line in one text is split as a shell would."""
        return shlex.split(value) if isinstance(value, str) else value

    @field_validator("skill_argv", "skill_tool", mode="before")
    @classmethod
    def _several(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("skill_argv")
    @classmethod
    def _names_the_file(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        for word in words:
            placeholders(word, (SKILL_FILE,))
        return words

    @field_validator("usage_keys")
    @classmethod
    def _known_counts(cls, keys: JsonObject) -> JsonObject:
        for name, key in keys.items():
            if name not in _COUNTS:
                raise ValueError(f"no count {name!r}{did_you_mean(name, _COUNTS)}; there are {', '.join(_COUNTS)}")
            if not isinstance(key, str) or not key:
                raise ValueError(f"{name}: must be a key, with dots for deeper ones")
        return keys

    @field_validator("argv", "stdin")
    @classmethod
    def _known_placeholders(cls, value: tuple[str, ...] | str) -> tuple[str, ...] | str:
        for template in (value,) if isinstance(value, str) else value:
            placeholders(template)
        return value

    @field_validator("env")
    @classmethod
    def _texts(cls, env: JsonObject) -> JsonObject:
        wrong = [name for name, value in env.items() if not isinstance(value, str)]
        if wrong:
            raise ValueError(f"the value of {', '.join(wrong)} must be text; quote it")
        return env

    @field_validator("skill_folder")
    @classmethod
    def _inside(cls, folder: str | None) -> str | None:
        return folder if folder is None else FileSpec(path=folder, text="").path.rstrip("/")

    @field_validator("exit_codes")
    @classmethod
    def _meanings(cls, codes: JsonObject) -> JsonObject:
        words = (COMPLETED, FAILED, *FailureClass)
        for code, meaning in codes.items():
            if not code.isdecimal() or int(code) > 255:
                raise ValueError(f"{code!r} is no exit code")
            if meaning not in words:
                raise ValueError(f"exit code {code}: {meaning!r} is none of {', '.join(words)}")
        return codes

    @model_validator(mode="after")
    def _has_a_skill_folder(self) -> Self:
        if self.skill_folder is None and self.uses("skill_folder"):
            raise ValueError("{skill_folder} is used, but the option skill_folder is not set")
        if self.skill_folder is None and self.skill_argv:
            raise ValueError("skill_argv is set, but the option skill_folder is not")
        if self.answer_where and self.answer_key is None:
            raise ValueError("answer_where is set, but the option answer_key is not")
        if self.usage_where and not self.usage_keys:
            raise ValueError("usage_where is set, but the option usage_keys is not")
        return self

    @property
    def said(self) -> JsonObject:
        """What a session depends on.

        An option that came later is left out where it is not used: recordings of earlier versions stay what they were.
        """
        said = self.model_dump(mode="json", exclude={"paid", "hosts", "model"})
        return {name: value for name, value in said.items() if value or name not in _LATER}

    def uses(self, placeholder: str) -> bool:
        """Tell whether a placeholder is anywhere."""
        return any(placeholder in placeholders(template) for template in (*self.argv, self.stdin))


def placeholders(template: str, allowed: tuple[str, ...] = PLACEHOLDERS) -> frozenset[str]:
    """Placeholders of a template. Raises `ValueError` for one that is not allowed; a brace itself is written twice."""
    try:
        parts = [part[1:] for part in Formatter().parse(template) if part[1] is not None]
    except ValueError as error:
        raise ValueError(f"{template!r}: {error}; write {{{{ and }}}} for braces") from error
    for name, form, conversion in parts:
        if name not in allowed or form or conversion:
            near = did_you_mean(str(name), allowed)
            raise ValueError(f"{template!r}: no placeholder {{{name}}}{near}; there are {', '.join(allowed)}")
    return frozenset(str(name) for name, *_ in parts)
