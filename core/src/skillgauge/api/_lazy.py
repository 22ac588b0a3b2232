"""Modules that hold names of other modules and import each of them when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple


class Door(NamedTuple):
    """Names under which other modules' values can be imported from one place."""

    homes: dict[str, str]
    """The module of each name."""
    get: Callable[[str], object]
    """The `__getattr__` of the module: it raises `AttributeError` for a name that is not among them."""


def door_of(module: str, file: str) -> Door:
    """Build the door that the stub beside a module lists.

    A module that announces a plugin pays for what it uses: a name costs the import of its home, and no other.

    Args:
        module: the `__name__` of the module that is the door.
        file: its `__file__`.
    """
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    imports = re.findall(r"^from ([\w.]+) import \(\n(.*?)^\)", stub, flags=re.DOTALL | re.MULTILINE)
    homes = {name: home for home, names in imports for name in re.findall(r" as (\w+),", names)}

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(homes[name], "skillgauge.api"), name)

    return Door(homes, get)
