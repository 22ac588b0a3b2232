"""Variables of the processes in a workspace."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from skillgauge.api import JsonValue


def strings(env: Mapping[str, JsonValue]) -> dict[str, str]:
    for name, value in env.items():
        if not isinstance(value, str):
            raise ValueError(f"environment variable {name} must be a string, not {value!r}; quote it")
    return {name: value for name, value in env.items() if isinstance(value, str)}


@cache
def absolute(path: str) -> str:
    """The search path without relative places: these would be ones in the workspace."""
    return os.pathsep.join(one for one in path.split(os.pathsep) if Path(one).is_absolute())


@cache
def with_python(path: str) -> str:
    """The search path, at its end with our own interpreter's folder where `python` or `python3` is missing."""
    if not sys.executable or all(shutil.which(name, path=path) for name in ("python3", "python")):
        return path
    return f"{path}{os.pathsep}{Path(sys.executable).parent}"
