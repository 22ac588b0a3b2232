"""The input of a case: its commands, and what they get on stdin."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import Frozen


class Step(Frozen):
    """One command of a call."""

    command: str = Field(min_length=1, description="Shell command line.")
    timeout_s: float | None = Field(default=None, gt=0, description="Its own limit; that of the call holds besides.")


class Call(Frozen):
    """The work of one call."""

    steps: tuple[Step, ...] = Field(
        min_length=1, description="Run in order, up to the first that does not exit with 0."
    )
    stdin: str = Field(default="", description="What each of them gets on stdin.")
    cwd: str = Field(default="", description="Where they run, relative to the root; default: the root.")
    root_variable: str | None = Field(
        default=None, min_length=1, description="Variable that holds the absolute path of the root."
    )
