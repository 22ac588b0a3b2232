"""What a check can say."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skillgauge.api import Frozen


class CommandOptions(Frozen):
    """Options of `command`."""

    command: str = Field(min_length=1, description="Run by `sh` in the workspace.")
    expect_exit_code: int = Field(default=0, ge=0, le=255, description="Exit code that passes.")
    fail_codes: tuple[int, ...] | Literal["any"] = Field(
        default=(0, 1),
        description="Other exit codes that are a verdict; any that is not listed is none. "
        "`any`: all but 126 and 127, which say that there is no such command.",
    )
    needs: tuple[str, ...] = Field(
        default=(),
        description="Files that the command looks at: where they are missing, no code means a broken command.",
    )
    label: str = Field(default="", description="What it is called in reasons; default: the command.")
    timeout_s: float = Field(default=30.0, gt=0, le=3600, description="Seconds after which it is killed.")
