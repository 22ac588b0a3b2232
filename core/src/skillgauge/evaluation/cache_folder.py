"""Where sessions are kept that later runs use again."""

from __future__ import annotations

from pathlib import Path

from ..environment import host_environment
from .invocation import Invocation


def cache_folder(call: Invocation) -> Path | None:
    """What the configuration names, else `skillgauge` in the user's folder for caches; `None` without a home."""
    environ = host_environment()
    if named := call.config.get("cacheDir"):
        return call.cwd / Path(named).expanduser()
    if place := environ.get("XDG_CACHE_HOME"):
        return Path(place).absolute() / "skillgauge"
    return Path(home) / ".cache/skillgauge" if (home := environ.get("HOME")) else None
