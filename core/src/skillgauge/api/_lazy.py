"""Modules that hold names of other modules and import each of them when it is first asked for."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path


class Door:
    """Names under which other modules' values can be imported from one place: those that the stub beside it lists.

    A module that announces a plugin pays for what it uses: a name costs the import of its home, and no other.

    Args:
        module: the `__name__` of the module that is the door.
        file: its `__file__`.
    """

    def __init__(self, module: str, file: str) -> None:
        stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
        imports = re.findall(r"^from ([\w.]+) import \(\n(.*?)^\)", stub, flags=re.DOTALL | re.MULTILINE)
        self._module = module
        self.homes = {name: home for home, names in imports for name in re.findall(r" as (\w+),", names)}
        """The module of each name."""

    def get(self, name: str) -> object:
        """Import a name; the `__getattr__` of the module, which has the name from then on.

        Raises:
            AttributeError: it is not among them.
        """
        if name not in self.homes:
            raise AttributeError(f"module {self._module!r} has no attribute {name!r}")
        value = getattr(import_module(self.homes[name], "skillgauge.api"), name)
        setattr(sys.modules[self._module], name, value)
        return value

    def names(self) -> list[str]:
        """Return the names in order; the `__dir__` of the module."""
        return sorted(self.homes)
