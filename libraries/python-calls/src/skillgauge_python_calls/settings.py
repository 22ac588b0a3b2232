"""The settings that a target's configuration may have, and the interpreter that follows from it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from pydantic import Field

from skillgauge.api import Frozen, host_environment


class CallSettings(Frozen):
    """Settings of every adapter that calls Python code; a subclass adds its own."""

    python: str | None = Field(
        default=None,
        min_length=1,
        description="Command that starts Python, in the skill's folder; default: the one that runs skillgauge.",
    )


def interpreter(settings: CallSettings) -> tuple[str, ...]:
    """The words that start Python.

    Raises:
        ValueError: a quotation is not closed, or there is no word.
    """
    if settings.python is None:
        return (sys.executable,)
    words = tuple(shlex.split(settings.python))
    if not words:
        raise ValueError("it is empty")
    return words


def require_program(program: str, root: Path) -> None:
    """Check that a program is on the search path, or that its path leads to one from a target's folder.

    Raises:
        ValueError: it is not.
    """
    search = host_environment().get("PATH")
    exists = (root / program).exists() if os.sep in program else shutil.which(program, path=search)
    if not exists:
        raise ValueError(f"program {program!r} is not there")
