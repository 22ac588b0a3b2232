"""Count docstrings that open with a relative word, and names that say nothing, and let neither number rise.

A docstring says what something is or does: "Return the rows", "The tasks that failed". One that opens with "What" or
"Whether" makes its reader turn the sentence around. A name like `found` or `one` says that there is something, and not
what; in a scope of three lines or less it does no harm. `CONTRIBUTING.md` has the words and what to write instead.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from members import ROOT

RELATIVE = frozenset(
    (
        *("how", "however", "that", "what", "whatever", "when", "whenever", "where", "wherever", "whether"),
        *("which", "whichever", "who", "whoever", "whom", "whose", "why"),
    )
)
VAGUE = frozenset(
    (
        *("asked", "back", "both", "found", "given", "heard", "it", "known", "left", "made", "meant", "one"),
        *("other", "said", "seen", "so", "taken", "them", "there", "told", "wanted", "what"),
    )
)
SHORT_SCOPE = 3
"""Lines of a scope in which any name is clear."""
MOST_RELATIVE = 0.0025
"""Share of docstrings; it is only ever lowered."""
MOST_VAGUE = 0.0067
"""Share of the names that are bound in a scope of more than `SHORT_SCOPE` lines; it is only ever lowered."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Scope = ast.Module | Definition | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Place(NamedTuple):
    """A docstring or a name that is counted, and where it stands."""

    path: Path
    line: int
    text: str


def docstrings(path: Path, tree: ast.Module) -> Iterator[Place]:
    """The docstrings of a module, its classes and its functions."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, *DEFINITIONS)) and (text := ast.get_docstring(node)):
            yield Place(path, node.body[0].lineno, text)


def opens_relative(place: Place) -> bool:
    """Tell whether the first word of a docstring is a relative one."""
    words = place.text.split(maxsplit=1)
    return words[0].strip("*`,.:").lower() in RELATIVE


def names(path: Path, tree: ast.Module) -> Iterator[Place]:
    """The names that are bound in scopes of more than `SHORT_SCOPE` lines."""
    pending: list[Scope] = [tree]
    while pending:
        scope = pending.pop()
        is_long = isinstance(scope, ast.Module) or (scope.end_lineno or 0) - scope.lineno >= SHORT_SCOPE
        for node in own_nodes(scope, pending):
            name = bound_name(node)
            if name and is_long:
                yield Place(path, getattr(node, "lineno", 1), name)


def own_nodes(scope: Scope, pending: list[Scope]) -> Iterator[ast.AST]:
    """The nodes of a scope without those of scopes inside it, which are added to `pending`."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (*DEFINITIONS, *SCOPES)):
            pending.append(node)
        else:
            waiting.extend(ast.iter_child_nodes(node))


def bound_name(node: ast.AST) -> str:
    """The name that a node binds, or an empty text."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.ExceptHandler):
        return node.name or ""
    if isinstance(node, DEFINITIONS):
        return node.name
    return ""


def is_vague(name: str) -> bool:
    """Tell whether a name, private or not, says nothing of what it stands for."""
    return not name.startswith("__") and name.strip("_") in VAGUE


def sources() -> list[Path]:
    """Every module of the core, the libraries and the plugins; tests are not counted."""
    patterns = ("core/src/**/*.py", "libraries/*/src/**/*.py", "plugins/*/*/src/**/*.py")
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def shares(paths: list[Path]) -> tuple[list[Place], int, list[Place], int]:
    """The docstrings with a relative opening, all docstrings, the vague names, and all names."""
    all_docstrings: list[Place] = []
    all_names: list[Place] = []
    for path in paths:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        all_docstrings += docstrings(path, tree)
        all_names += names(path, tree)
    relative = [place for place in all_docstrings if opens_relative(place)]
    vague = [place for place in all_names if is_vague(place.text)]
    return relative, len(all_docstrings), vague, len(all_names)


def main(arguments: list[str]) -> int:
    """Print both shares and, with `--list`, each place; return 1 if a share is above its limit."""
    paths = [Path(argument).resolve() for argument in arguments if argument != "--list"] or sources()
    relative, docstring_count, vague, name_count = shares(paths)
    if "--list" in arguments:
        for place in relative + vague:
            print(f"{place.path.relative_to(ROOT)}:{place.line}: {place.text.splitlines()[0]}")
    share_relative, share_vague = len(relative) / docstring_count, len(vague) / name_count
    print(f"docstrings that open with a relative word: {len(relative)} of {docstring_count}, {share_relative:.1%}")
    print(f"vague names: {len(vague)} of {name_count}, {share_vague:.1%}")
    if share_relative > MOST_RELATIVE or share_vague > MOST_VAGUE:
        limits = f"{MOST_RELATIVE:.1%} and {MOST_VAGUE:.1%}"
        print(f"words: at most {limits}; see the word list in CONTRIBUTING.md", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
