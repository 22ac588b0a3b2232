"""The options of a check."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from skillgauge.api import Frozen


class Reads(StrEnum):
    """The part of a command that is its verdict."""

    EXIT_CODE = "exit-code"
    SCORE = "score"
    """A number from 0 to 1, or a JSON object with one under `score`, on stdout."""


class CommandOptions(Frozen):
    """Options of `command`."""

    command: str = Field(min_length=1, description="Run by `sh` in the workspace.")
    expect_exit_code: int = Field(default=0, ge=0, le=255, description="Exit code that passes.")
    fail_codes: tuple[int, ...] | Literal["any"] = Field(
        default=(0, 1),
        description="Other exit codes that are a verdict; any that is not listed is none. "
        "`any`: all but 126 and 127, which say that there is no such command.",
    )
    reads: Reads = Field(
        default=Reads.EXIT_CODE,
        description="What decides: the exit code, or `score`: what it prints, which is a number from 0 to 1 or a JSON "
        "object with one under `score`.",
    )
    threshold: float = Field(default=1.0, ge=0, le=1, description="For `score`: the least that passes.")
    needs: tuple[str, ...] = Field(
        default=(),
        description="Files that the command looks at: where they are missing, no code means a broken command.",
    )
    label: str = Field(default="", description="What it is called in reasons; default: the command.")
    timeout_s: float = Field(default=30.0, gt=0, le=3600, description="Seconds after which it is killed.")
