"""The options of a check."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from skillgauge.api import RUN_PLACE, Frozen, Json, host_environment

JAVASCRIPT = (".js", ".mjs", ".cjs")
_NAMED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def is_named(path: str) -> bool:
    """True if it is `module:function` and not a file."""
    return _NAMED.fullmatch(path) is not None


def node() -> str | None:
    """Return the path of node; `None` if it is not installed."""
    return shutil.which("node", path=host_environment().get("PATH"))


def location(path: str) -> tuple[str, ...]:
    """Return the folder that a process must be able to read to load the scorer: its own, or its package's."""
    if not is_named(path):
        return (str(Path(path).parent),)
    spec = find_spec(path.partition(":")[0].partition(".")[0])
    if spec is None or not spec.has_location:
        return ()
    return tuple(spec.submodule_search_locations or (str(spec.origin),))


def _runnable(path: str) -> str:
    if is_named(path):
        module = path.partition(":")[0].partition(".")[0]
        if find_spec(module) is None:
            raise ValueError(f"module {module!r} of {path!r} is not installed here")
        return path
    file = Path(path).absolute()
    if file.suffix not in (".py", *JAVASCRIPT):
        raise ValueError(f"{path!r} is no scorer: it must be a .py, .js, .mjs or .cjs file, or `module:function`")
    if not file.is_file():
        raise ValueError(f"{path!r} is not there, or is no file")
    if file.suffix in JAVASCRIPT and node() is None:
        raise ValueError(
            f"{path!r} is written in JavaScript, and node is not installed here. Install Node.js, or port it: a file "
            f"{file.stem}.py with a function `score(output, expected)` that returns true or false, a number from 0 to "
            "1, or a dict with `passed` and, if you like, `score` and `reason`"
        )
    return str(file)


class CustomOptions(Frozen):
    """Options of `custom`."""

    path: Annotated[str, AfterValidator(_runnable)] = Field(
        description="A file .py with `score(output, expected)`, one .js, .mjs or .cjs with a default export, or "
        "`module:function`.",
        json_schema_extra=RUN_PLACE,
    )
    expected: Json = Field(
        default=None, description="Second argument of the function; default: `expectedOutput` of the case."
    )
    timeout_s: float = Field(default=5.0, gt=0, le=3600, description="Seconds for one call.")
    memory_mb: int = Field(default=1024, ge=64, description="Memory that it may use, in MiB.")
