"""Count the code of the core, folder by folder, and find modules and functions that have grown too long.

A line of code holds at least one token that is neither a comment nor part of a docstring, that of a field included:
nobody should save on explanations. Modules and functions are limited in physical lines, as a reader meets them; a
function runs from its `def` to its last line.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path

from members import ROOT

CORE = ROOT / "core/src/skillgauge"

APART = "stats"
"""The room that no alarm counts: pure mathematics, which grows with the questions that are answered."""
CORE_ALARM = 19_050
"""Lines of code of the other rooms of the core together. Above it a feature has probably gone into the core that
belongs into a plugin; see docs/adr/0097-where-the-kernel-ends.md."""
MODULE_LIMIT = 400
FUNCTION_LIMIT = 60

_NO_CODE = (
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
)


def modules(root: Path = ROOT) -> list[Path]:
    """Every module that ships: the core's, the libraries' and the plugins'."""
    folders = ("core/src", "libraries/*/src", "plugins/*/*/src")
    return sorted(path for folder in folders for path in root.glob(f"{folder}/**/*.py"))


def code_lines(source: str) -> int:
    """Lines that hold code."""
    texts = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            found.update(range(token.start[0], token.end[0] + 1))
    return len(found - texts)


def rooms(core: Path = CORE) -> dict[str, int]:
    """Lines of code of each room of the core; those of the modules beside them under an empty name."""
    counts: dict[str, int] = {}
    for path in sorted(core.rglob("*.py")):
        *folders, _name = path.relative_to(core).parts
        room = folders[0] if folders else ""
        counts[room] = counts.get(room, 0) + code_lines(path.read_text(encoding="utf-8"))
    return counts


def alarming(counts: Mapping[str, int]) -> int:
    """Return the lines that the alarm is about: mathematics decides nothing about the shape of the program."""
    return sum(count for room, count in counts.items() if room != APART)


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
    if (total := alarming(rooms(root / "core/src/skillgauge"))) > CORE_ALARM:
        found.append(f"core/src/skillgauge: {total} lines of code without {APART}, the alarm is at {CORE_ALARM}")
    for path in modules(root):
        place = path.relative_to(root).as_posix()
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > MODULE_LIMIT:
            found.append(f"{place}: {count} lines, the limit is {MODULE_LIMIT}")
        found += [
            f"{place}:{line}: function {name} has {length} lines, the limit is {FUNCTION_LIMIT}"
            for line, name, length in long_functions(path)
        ]
    return found


def main() -> int:
    """Print the size of each room and every problem; return 1 if there is one."""
    counts, found = rooms(), problems()
    for room, count in sorted(counts.items()):
        print(f"{room or 'beside the rooms'}: {count} lines of code")
    print(f"together, without {APART}: {alarming(counts)} lines of code (alarm at {CORE_ALARM})")
    print("\n".join(found) if found else f"{len(modules())} modules within {MODULE_LIMIT} lines each")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
