"""The keys of `config` of a grader, by its type."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from skillgauge.api import Json

from .files import Duration, Scalar, Share, StrictPart, Text, Texts

Limit = Annotated[int, Field(ge=0)]


class NoConfig(StrictPart):
    """Nothing, for graders that ask for one thing only."""


class PatternConfig(StrictPart):
    """A pattern in what an agent says."""

    pattern: Text
    negate: bool = False


class SubstringConfig(StrictPart):
    """A text in what an agent says."""

    substring: Text
    case_sensitive: bool = False
    negate: bool = False


class PromptConfig(StrictPart):
    """A question to a judge."""

    prompt: Text | None = None
    model: Text | None = None
    scoring: Literal["binary", "scale_1_5", "scale_1_10"] = "scale_1_5"
    threshold: Share = 0.5


class PairwiseConfig(StrictPart):
    """A question to the judge of `vally compare`, who sees two runs."""

    prompt: Text | None = None
    model: Text | None = None
    threshold: Share = 0.5


class FileConfig(StrictPart):
    """A file that has to be there, or may not be there."""

    path: Text
    negate: bool = False


class FileTextConfig(FileConfig):
    """A text in a file."""

    value: Text


class FilePatternConfig(FileConfig):
    """A pattern in a file."""

    pattern: Text


class CommandConfig(StrictPart):
    """A command in the workspace."""

    command: Text
    args: tuple[str, ...] | None = None
    expected_exit_code: Annotated[int, Field(ge=0, le=255)] = 0
    timeout: Duration | None = None
    stdout_contains: Text | None = None
    stderr_contains: Text | None = None
    stdout_matches: Text | None = None
    stdout_not_matches: Text | None = None
    sub_path: Text | None = None
    env: dict[str, Scalar] = Field(default_factory=dict)


class SkillsConfig(StrictPart):
    """Skills that have to fire, or may not."""

    required: Texts = ()
    disallowed: Texts = ()


class CallConfig(StrictPart):
    """A call of a tool."""

    name: Text | None = None
    command: Text | None = None
    path: Text | None = None
    args: dict[str, Text] = Field(default_factory=dict)
    result: Json = None
    pattern: Json = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("a tool or something of its arguments must be given")
        return self


class CallsConfig(StrictPart):
    """Calls of tools that there have to be, or may not be."""

    required: tuple[Text | CallConfig, ...] = ()
    disallowed: tuple[Text | CallConfig, ...] = ()
    sequence: tuple[Text | CallConfig, ...] = ()


class MostConfig(StrictPart):
    """The most of something that is counted."""

    max: Limit


class MostCallsConfig(MostConfig):
    """The most calls, perhaps of certain tools."""

    tools: Json = None


class MostTimeConfig(StrictPart):
    """The longest time."""

    max: Duration
