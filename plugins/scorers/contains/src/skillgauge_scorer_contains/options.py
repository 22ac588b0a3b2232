"""What a check can say."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from skillgauge.api import Frozen


class Stream(StrEnum):
    """Where keywords are looked for."""

    ANSWER = "answer"
    STDOUT = "stdout"
    STDERR = "stderr"
    BOTH = "both"


class ContainsOptions(Frozen):
    """Options of `contains`."""

    keywords: tuple[str, ...] = Field(description="Texts that the output has to contain, each somewhere.")
    case_sensitive: bool = Field(default=False, description="Whether upper and lower case differ.")
    stream: Stream = Field(
        default=Stream.ANSWER,
        description="Where to look: the answer, or what a process wrote; `both`: stdout and stderr, each by itself.",
    )
    absent: bool = Field(default=False, description="Whether none of the keywords may be there, instead of all.")
