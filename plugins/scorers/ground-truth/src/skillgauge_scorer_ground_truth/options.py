"""The options of a check."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen


class Matching(StrEnum):
    """The place where the text is looked for, and the rule by which it stands by itself."""

    ANSWER = "answer"
    """In what the agent said and in the files that it made or changed; ends that are no letters or digits are fine."""
    BENCHFLOW = "benchflow"
    """As BenchFlow does it: in everything that was logged, the question included, and in every file of the workspace;
    between two word boundaries, so that a text that begins or ends with punctuation is never found."""


class GroundTruthOptions(Frozen):
    """Options of `ground-truth`."""

    text: str = Field(
        default="",
        description="What has to be found; white space around it is dropped. Nothing is never found.",
        json_schema_extra=HARMLESS,
    )
    matching: Matching = Field(
        default=Matching.ANSWER,
        description="Where it is looked for, and what counts as standing by itself.",
        json_schema_extra=HARMLESS,
    )
