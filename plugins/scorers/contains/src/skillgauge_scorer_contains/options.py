"""The options of a check."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen


class Stream(StrEnum):
    """The stream in which keywords are looked for."""

    ANSWER = "answer"
    STDOUT = "stdout"
    STDERR = "stderr"
    BOTH = "both"
    MESSAGES = "messages"


class ContainsOptions(Frozen):
    """Options of `contains`."""

    keywords: tuple[str, ...] = Field(
        description="Texts that the output has to contain, each somewhere.", json_schema_extra=HARMLESS
    )
    case_sensitive: bool = Field(
        default=False, description="Whether upper and lower case differ.", json_schema_extra=HARMLESS
    )
    stream: Stream = Field(
        default=Stream.ANSWER,
        description=(
            "Where to look: the answer, or what a process wrote; `both`: stdout and stderr, each by itself; "
            "`messages`: all that an agent said, its final answer included."
        ),
        json_schema_extra=HARMLESS,
    )
    absent: bool = Field(
        default=False,
        description="Whether none of the keywords may be there, instead of all.",
        json_schema_extra=HARMLESS,
    )
