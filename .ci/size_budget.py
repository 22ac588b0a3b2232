"""Count the kernel's lines and find modules and functions that have grown too long.

Counted are physical lines, comments and blank lines too. A function runs from its `def` to its last line.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from members import ROOT

KERNEL_LIMIT = 9700  # docs/adr/0009-kernel-size.md; only ever lowered without a decision there
KERNEL_TARGET = 4_500
MODULE_LIMIT = 400
FUNCTION_LIMIT = 60
APART = ("cli", "stats", "testing")
"""Packages of the core that the kernel's budget leaves out."""


def modules(root: Path = ROOT) -> list[Path]:
    """Every module that ships: the core's, the libraries' and the plugins'."""
    folders = ("core/src", "libraries/*/src", "plugins/*/*/src")
    return sorted(path for folder in folders for path in root.glob(f"{folder}/**/*.py"))


def lines(path: Path) -> int:
    """Physical lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def kernel_lines(root: Path = ROOT) -> int:
    """Lines of the kernel: the core without its command line, its statistics and its test kit."""
    kernel = root / "core/src/skillgauge"
    return sum(lines(path) for path in kernel.rglob("*.py") if path.relative_to(kernel).parts[0] not in APART)


def long_functions(path: Path) -> Iterator[tuple[int, str, int]]:
    """Line, name and length of each function above the limit."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LIMIT:
                yield node.lineno, node.name, length


def problems(root: Path = ROOT) -> list[str]:
    """Everything above its limit, one text each."""
    found = []
    if (count := kernel_lines(root)) > KERNEL_LIMIT:
        found.append(f"core/src/skillgauge: the kernel has {count} lines, the limit is {KERNEL_LIMIT}")
    for path in modules(root):
        place = path.relative_to(root).as_posix()
        if (count := lines(path)) > MODULE_LIMIT:
            found.append(f"{place}: {count} lines, the limit is {MODULE_LIMIT}")
        found += [
            f"{place}:{line}: function {name} has {length} lines, the limit is {FUNCTION_LIMIT}"
            for line, name, length in long_functions(path)
        ]
    return found


def main() -> int:
    """Print the kernel's size and every problem; return 1 if there is one."""
    count, found = kernel_lines(), problems()
    print(f"kernel: {count} lines (target {KERNEL_TARGET}, limit {KERNEL_LIMIT})")
    if KERNEL_TARGET < count <= KERNEL_LIMIT:
        print("warning: the kernel is above its target")
    print("\n".join(found) if found else f"{len(modules())} modules within {MODULE_LIMIT} lines each")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
