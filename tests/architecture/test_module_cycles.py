"""Modules of a plugin or library import each other in one direction only, imports inside functions included."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from members import ROOT

SOURCES = [path for pattern in ("plugins/*/*/src", "libraries/*/src") for path in sorted(ROOT.glob(pattern))]


def module_names(source: Path) -> dict[str, Path]:
    """Return the modules below a folder by their full names; a package has the name of its folder."""
    names = {}
    for file in sorted(source.rglob("*.py")):
        parts = file.relative_to(source).with_suffix("").parts
        names[".".join(parts[:-1] if file.name == "__init__.py" else parts)] = file
    return names


def imported(file: Path, package: tuple[str, ...], modules: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules of the same source that a file imports anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        above = package[: len(package) - node.level + 1] if node.level else ()
        base = ".".join((*above, *([node.module] if node.module else [])))
        for alias in node.names:
            submodule = f"{base}.{alias.name}"
            target = submodule if submodule in modules else base
            if target in modules:
                yield target


def cyclic(source: Path) -> list[str]:
    """Return the modules below a folder that import themselves by way of others."""
    modules = module_names(source)
    targets = {}
    for name, file in modules.items():
        package = file.parent.relative_to(source).parts
        targets[name] = set(imported(file, package, modules)) - {name}
    return [name for name in modules if name in reachable(name, targets)]


def reachable(start: str, targets: Mapping[str, set[str]]) -> set[str]:
    """Return all modules that a module leads to."""
    reached: set[str] = set()
    pending = [start]
    while pending:
        new = targets[pending.pop()] - reached
        reached |= new
        pending.extend(new)
    return reached


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.parent.relative_to(ROOT).as_posix())
def test_no_module_leads_back_to_itself(source: Path) -> None:
    """A reader can begin with the modules that import no other, and never meets one that needs what uses it."""
    assert cyclic(source) == []


def test_a_cycle_by_a_late_import_is_found(tmp_path: Path) -> None:
    """An import inside a function closes a cycle as one at the top does; a submodule of a package alone does not."""
    package = tmp_path / "acme"
    package.mkdir()
    (package / "__init__.py").write_text("from .first import run\n")
    (package / "first.py").write_text("from . import third\nfrom .second import name\n")
    (package / "second.py").write_text("name = 'x'\n\n\ndef late():\n    from .first import run\n")
    (package / "third.py").write_text("")
    assert cyclic(tmp_path) == ["acme.first", "acme.second"]
