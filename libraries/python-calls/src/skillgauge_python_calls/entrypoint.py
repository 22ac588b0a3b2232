"""The object that an entrypoint names, and the facts about it that are known without running any of it."""

from __future__ import annotations

import ast
import posixpath
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from skillgauge.api import did_you_mean

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_BY_OTHER_MEANS = frozenset({"exec", "eval", "globals", "locals", "setattr", "vars", "__dict__", "modules"})
"""Names whose use means that a module may bind what no statement of it shows."""


class EntrypointError(ValueError):
    """An entrypoint cannot work; the text says why."""

    def __init__(self, message: str, hint: str) -> None:
        self.hint = hint
        super().__init__(message)


@dataclass(frozen=True)
class Entrypoint:
    """An object in a module or file of Python."""

    name: str
    """Its name there; dots lead on to attributes."""
    module: str | None = None
    file: str | None = None
    """Relative to the target's folder, with forward slashes; either this or `module` is set."""


def read_entrypoint(text: str, default_name: str) -> Entrypoint:
    """The object that `module:name`, `file.py:name` or `file.py` means.

    Args:
        text: the entrypoint of a target.
        default_name: what is meant in a file if no name is given.

    Raises:
        EntrypointError: it is none of these, or the file lies elsewhere than in the target's folder.
    """
    place, _, name = (part.strip() for part in text.partition(":"))
    hint = f"Write module:name or file.py:name; file.py alone means file.py:{default_name}."
    is_file = place.endswith(".py")
    if not name and (":" in text or not is_file):
        raise EntrypointError(f"entrypoint {text!r} names no object", hint)
    if not _DOTTED.fullmatch(name or default_name) or not (is_file or _DOTTED.fullmatch(place)):
        raise EntrypointError(f"entrypoint {text!r} is neither module:name nor file.py:name", hint)
    if not is_file:
        return Entrypoint(name, module=place)
    return Entrypoint(name or default_name, file=_file_below(place))


def _file_below(place: str) -> str:
    """Return a path below the target's folder in its shortest form."""
    path = posixpath.normpath(place)
    if posixpath.isabs(path) or path.split("/")[0] == "..":
        raise EntrypointError(
            f"{place!r} leads out of the skill's folder", "Keep the file in the folder, and name it relative to that."
        )
    return path


def examine(entrypoint: Entrypoint, root: Path, *, is_ours: bool) -> None:
    """Look for the object as far as that is possible without importing anything.

    Args:
        entrypoint: what to look for.
        root: the target's folder.
        is_ours: whether the interpreter of this process will run it, so that what is installed here counts, and what
            this Python cannot read is wrong.

    Raises:
        EntrypointError: it certainly is not there, or the file cannot be read as Python.
    """
    source = root / entrypoint.file if entrypoint.file else _source_of(entrypoint.module or "", root, is_ours)
    if source is None:
        return
    if not source.is_file():
        raise EntrypointError(
            f"there is no file {entrypoint.file!r} in the skill's folder", "Write the file, or correct its name."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are for whoever writes the file
            names = bound_names(ast.parse(source.read_bytes(), str(source)))
    except SyntaxError as error:
        if is_ours:
            line = f", line {error.lineno}" if error.lineno else ""
            raise EntrypointError(
                f"{source.name}{line}: {error.msg}",
                "Correct the file; if it is for another Python, name that in `python` of adapter.config.json.",
            ) from error
        return
    except (ValueError, RecursionError, MemoryError, OSError) as error:
        raise EntrypointError(f"{source.name} cannot be read as Python: {error}", "Correct the file.") from error
    first = entrypoint.name.partition(".")[0]
    if names is not None and first not in names:
        near = did_you_mean(first, sorted(names))
        raise EntrypointError(
            f"{source.name} has no {first!r}{near}", f"Define {first!r} there, or name another object after the colon."
        )


def bound_names(tree: ast.Module) -> frozenset[str] | None:
    """Return the names that a module binds, and perhaps some more; `None` if it may bind others than it shows."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if _binds_by_other_means(node):
            return None
        if isinstance(node, ast.Global):
            names.update(node.names)
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        names.update(_names_bound_by(node))
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            pending.extend(ast.iter_child_nodes(node))
    return None if "__getattr__" in names else frozenset(names)


def _binds_by_other_means(node: ast.AST) -> bool:
    """Return whether a node may bind names that no statement shows."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _BY_OTHER_MEANS
        case ast.ImportFrom(names=[ast.alias(name="*"), *_]):
            return True
    return False


def _names_bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node itself binds; what the body of a function or class binds is its own."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=imported) | ast.ImportFrom(names=imported):
            for alias in imported:
                yield alias.asname or alias.name.partition(".")[0]
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def _source_of(module: str, root: Path, is_ours: bool) -> Path | None:
    """The file of a module in the target's folder; `None` if it is elsewhere, or no source."""
    place = root.joinpath(*module.split("."))
    for source in (place / "__init__.py", place.parent / f"{place.name}.py"):
        if source.is_file():
            return source
    top = module.partition(".")[0]
    is_package_here = (root / top / "__init__.py").is_file()
    is_compiled = place.is_dir() or any(place.parent.glob(f"{place.name}.*"))
    if is_compiled or (not is_package_here and not (is_ours and not _is_installed(top))):
        return None
    hint = "Write the module, correct its name, or install it; another interpreter is named by `python`."
    if is_package_here:
        raise EntrypointError(f"package {top!r} in the skill's folder has no module {module!r}", hint)
    raise EntrypointError(f"module {module!r} is neither in the skill's folder nor installed", hint)


def _is_installed(top: str) -> bool:
    try:
        return find_spec(top) is not None
    except ValueError:  # a module in memory that does not say where it came from
        return True
