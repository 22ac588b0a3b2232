"""Find modules of the core that import each other in a circle.

Imports inside functions count: they only move the moment at which a circle is met. Imports for type checkers alone do
not, since none of them happens. What the import contract of the rooms leaves out is left out here as well.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from members import ROOT, read

PACKAGE = "core/src/skillgauge"


def module_paths(root: Path = ROOT) -> dict[str, Path]:
    """Return the file of each module of the core, by the module's full name."""
    source = (root / PACKAGE).parent
    return {_name(path.relative_to(source)): path for path in sorted((root / PACKAGE).rglob("*.py"))}


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts)


def import_graph(root: Path = ROOT, ignored: Iterable[str] = ()) -> dict[str, set[str]]:
    """Return the modules of the core that each of them imports; `ignored` holds texts `importer -> imported`."""
    paths = module_paths(root)
    graph = {}
    for module, path in paths.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        targets = set()
        for statement in _statements(ast.parse(path.read_bytes())):
            targets.update(_targets(statement, package, paths))
        graph[module] = {target for target in targets - {module} if f"{module} -> {target}" not in ignored}
    return graph


def _statements(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        children = node.orelse
    for child in children:
        yield from _statements(child)


def _targets(statement: ast.Import | ast.ImportFrom, package: str, modules: Iterable[str]) -> Iterator[str]:
    """Yield the modules that a statement imports: `from .a import b` is about `a.b` where that is a module."""
    if isinstance(statement, ast.Import):
        names = [alias.name for alias in statement.names]
        yield from (name for name in names if name in modules)
        return
    source = _source(statement, package)
    for alias in statement.names:
        submodule = f"{source}.{alias.name}"
        if submodule in modules:
            yield submodule
        elif source in modules:
            yield source


def _source(statement: ast.ImportFrom, package: str) -> str:
    if not statement.level:
        return statement.module or ""
    parts = package.split(".")
    parents = parts[: len(parts) - statement.level + 1]
    return ".".join([*parents, statement.module] if statement.module else parents)


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of one circle, the first of them again at its end; an empty list if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        modules: list[str] = error.args[1]
        return modules[::-1]
    return []


def ignored_imports() -> list[str]:
    """Return what the contract of layers in the root `pyproject.toml` leaves out."""
    contracts = read(ROOT).pyproject["tool"]["importlinter"]["contracts"]
    return [text for contract in contracts if contract["type"] == "layers" for text in contract["ignore_imports"]]


def main() -> int:
    """Print a circle of imports, if there is one, and return 1 for it."""
    graph = import_graph(ignored=ignored_imports())
    circle = cycle(graph)
    if circle:
        print("modules import each other: " + " -> ".join(circle))
    else:
        print(f"{len(graph)} modules of the core without a circle of imports")
    return 1 if circle else 0


if __name__ == "__main__":
    sys.exit(main())
