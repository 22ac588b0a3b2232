"""The options of a check."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from skillgauge.api import HARMLESS, Frozen


def _valid(pattern: str) -> str:
    from skillgauge_patterns import compiled  # noqa: PLC0415 - announcing stays cheap

    compiled(pattern)
    return pattern


def _some(patterns: tuple[str, ...]) -> tuple[str, ...]:
    # Not `min_length`: pydantic would say that there is none, too, where the only one is not valid.
    if not patterns:
        raise ValueError("at least one pattern is needed")
    return patterns


class RegexOptions(Frozen):
    """Options of `regex`."""

    patterns: Annotated[tuple[Annotated[str, AfterValidator(_valid)], ...], AfterValidator(_some)] = Field(
        description="Patterns that have to be found in the output, each somewhere.",
        json_schema_extra={"minItems": 1} | HARMLESS,
    )
    case_sensitive: bool = Field(
        default=True, description="Whether upper and lower case differ.", json_schema_extra=HARMLESS
    )
    timeout_s: float = Field(
        default=1.0, gt=0, le=60, description="Seconds for one pattern.", json_schema_extra=HARMLESS
    )
    absent: bool = Field(
        default=False,
        description="Whether none of the patterns may be found, instead of all.",
        json_schema_extra=HARMLESS,
    )
