"""Count the decisions of each function and the modules of each folder, and find what is above its limit.

A decision is whatever a reader has to follow in two directions: a statement that branches or repeats, a conditional
expression, each further operand of `and` and `or`, each `for` and `if` of a comprehension. Expressions count because a
limit on statements alone is met by packing several decisions into one line.

Functions and folders above a limit that are still to be mended stand in `decisions.toml` beside this file, with their
count. That list may only shrink: an entry whose count fell, or that names nothing any more, is a problem, too.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import size
from members import ROOT

DECISION_LIMIT = 15
"""Decisions of one function, with the functions defined inside it."""
FILE_LIMIT = 16
"""Python modules of one folder, `__init__.py` not counted."""
EXCEPTIONS = ".ci/decisions.toml"

_BRANCHES = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.Assert,
    ast.comprehension,
    ast.match_case,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


def decisions(function: Function) -> int:
    """Return the number of decisions of a function; one without any counts 1, as in cyclomatic complexity."""
    return 1 + sum(_weight(node) for node in ast.walk(function))


def _weight(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    return int(isinstance(node, _BRANCHES))


def sources(root: Path = ROOT) -> list[Path]:
    """Return every module that is held to the limits: all that ships, and the programs of CI."""
    return [*size.modules(root), *sorted(root.glob(".ci/**/*.py"))]


def function_counts(root: Path = ROOT) -> dict[str, int]:
    """Return the decisions of each function, by `path:qualified name`; the most, where a name is defined twice."""
    counts: dict[str, int] = {}
    for path in sources(root):
        place = path.relative_to(root).as_posix()
        for name, function in _functions(ast.parse(path.read_bytes()), ""):
            key = f"{place}:{name}"
            counts[key] = max(counts.get(key, 0), decisions(function))
    return counts


def _functions(node: ast.AST, prefix: str) -> list[tuple[str, Function]]:
    functions: list[tuple[str, Function]] = []
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Function | ast.ClassDef):
            functions += _functions(child, prefix)
            continue
        name = prefix + child.name
        if isinstance(child, Function):
            functions.append((name, child))
        functions += _functions(child, f"{name}.")
    return functions


def file_counts(root: Path = ROOT) -> dict[str, int]:
    """Return the number of modules of each folder beside its `__init__.py`."""
    counts: dict[str, int] = {}
    for path in sources(root):
        if path.name == "__init__.py":
            continue
        folder = path.parent.relative_to(root).as_posix()
        counts[folder] = counts.get(folder, 0) + 1
    return counts


def problems(root: Path = ROOT) -> list[str]:
    """Return everything above its limit and every exception that no longer fits, one text each."""
    exceptions = tomllib.loads((root / EXCEPTIONS).read_text(encoding="utf-8"))
    return [
        *_compared(function_counts(root), exceptions.get("decisions", {}), DECISION_LIMIT, _decisions_of),
        *_compared(file_counts(root), exceptions.get("files", {}), FILE_LIMIT, _files_of),
    ]


def _decisions_of(function: str, count: int) -> str:
    return f"{function} has {count} decisions"


def _files_of(folder: str, count: int) -> str:
    return f"{folder} has {count} modules"


def _compared(
    counts: Mapping[str, int], exceptions: Mapping[str, int], limit: int, sentence: Callable[[str, int], str]
) -> list[str]:
    texts = []
    for name, count in counts.items():
        if count > exceptions.get(name, limit):
            texts.append(f"{sentence(name, count)}, the limit is {exceptions.get(name, limit)}")
    for name, listed in exceptions.items():
        if name not in counts:
            texts.append(f"{EXCEPTIONS}: {name} is gone: remove its line")
        elif counts[name] <= limit:
            texts.append(f"{EXCEPTIONS}: {sentence(name, counts[name])}, within the limit of {limit}: remove its line")
        elif counts[name] < listed:
            texts.append(f"{EXCEPTIONS}: {sentence(name, counts[name])}, not {listed} any more: lower its number")
    return texts


def main() -> int:
    """Print the mean number of decisions and every problem; return 1 if there is one."""
    counts, texts = function_counts(), problems()
    mean = sum(counts.values()) / len(counts)
    print(f"{len(counts)} functions with {mean:.2f} decisions each on average, at most {DECISION_LIMIT}")
    print("\n".join(texts) if texts else f"{len(file_counts())} folders of at most {FILE_LIMIT} modules each")
    return 1 if texts else 0


if __name__ == "__main__":
    sys.exit(main())
