"""Everything that a plugin imports; whatever is not here may change without notice.

`api.pyi`, which type checkers and editors read, is the list. Each name is looked up when it is first asked for, so that
a module which announces a plugin pays for what it uses.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path


def _homes() -> dict[str, str]:
    """The module of each name in the stub."""
    stub = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    imports = re.findall(r"^from ([\w.]+) import \(\n(.*?)^\)", stub, flags=re.DOTALL | re.MULTILINE)
    return {name: module for module, names in imports for name in re.findall(r" as (\w+),", names)}


_HOMES = _homes()

__all__ = tuple(sorted(_HOMES))


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name], __package__), name)
    return value


def __dir__() -> list[str]:
    return [*__all__]
