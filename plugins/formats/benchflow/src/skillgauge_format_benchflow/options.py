"""The options of loading."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen, LoadOption


class Compat(StrEnum):
    """The program whose grading decides where ours differs."""

    SKILLGAUGE = "skillgauge"
    BENCHFLOW = "benchflow"


class BenchflowOptions(Frozen):
    """Options of the format."""

    compat: Annotated[Compat, LoadOption("--compat", metavar="NAME")] = Field(
        default=Compat.SKILLGAUGE,
        description="benchflow: match ground_truth as BenchFlow does, which never finds a text that ends with "
        "punctuation, and finds one that stands in the question.",
        json_schema_extra=HARMLESS,
    )
    export_gepa: Annotated[bool, LoadOption("--export-gepa")] = Field(
        default=False, description="Old spelling of --format gepa, which it names.", json_schema_extra=HARMLESS
    )
    requirements: Annotated[str, Field(pattern="^(refuse|ignore)$")] = Field(
        default="refuse",
        description="refuse, or ignore: what becomes of evals/requirements.txt where no evals/Dockerfile installs it.",
        json_schema_extra=HARMLESS,
    )
    image: Annotated[str, Field(pattern="^(use|ignore)$")] = Field(
        default="use",
        description="use, or ignore: what becomes of evals/Dockerfile; a sandbox that runs no images refuses it.",
        json_schema_extra=HARMLESS,
    )
