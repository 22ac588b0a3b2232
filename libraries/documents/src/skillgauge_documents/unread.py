"""Files that are named like suites and are read by nobody: where, what is wrong, and which known shape is nearest.

A shape is named after the list of a document and a key of its items, as in `cases.question`; `list` stands for a
document that is a list itself.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from .faults import DocumentError, Fault
from .locating import places
from .reading import read
from .values import JsonValue

LIST = "list"
MOST = 5
"""Files that are told."""
_SUFFIXES = (".json", ".yaml", ".yml")
_NAME = re.compile(r"(^|[._-])(evals?|tests?|tasks?|benchmark|triggers?|queries|skill)([._-]|$)")
_RESULTS = re.compile(r"(^|[._-])(results?|reports?|config|schema)([._-]|$)")
_LOOKED_INTO = 200
_DEEPEST = 3
_SHOWN = 6
_LEAST_ALIKE = 0.5
_MISSPELT = 0.9
"""So alike are keys of items with their list that one is likely the other with a letter missing or wrong."""
SKILL_FILE = "SKILL.md"


def unread(path: Path, readers: Iterable[str], shapes: Collection[str]) -> list[tuple[str, Fault]]:
    """Say why a path holds no suite: for each file that is named like one, or for the path itself if there is none.

    Args:
        path: a file, or a folder to look into.
        readers: names of those who were asked.
        shapes: those that can be read.
    """
    shapes = sorted(set(shapes))
    reasons: list[tuple[str, Fault]] = []
    closed: list[tuple[str, Fault]] = []
    for file in (path,) if path.is_file() else _named_like_suites(path, closed):
        reasons += [(str(file), fault) for fault in _faults(file, shapes)]
        if len(reasons) >= MOST:
            break
    reasons += closed
    reasons += [] if reasons else [(str(file), _without_evals(file)) for file in _skills(path)]
    names = ", ".join(sorted(readers)) or "none"
    message = f"{str(path)!r} holds nothing that an installed format knows (installed: {names})"
    hint = "Name a suite, or install the format that reads it; `skillgauge plugins list` shows what is there."
    if path.suffix == ".py":
        hint = "A test in Python is run by Python: it can call `skillgauge.evaluate()`, or use the plugin for pytest."
    return reasons[:MOST] or [(str(path), Fault("nothing", message, hint=hint))]


def _skills(path: Path) -> Iterator[Path]:
    """Return the signs of skills near a path: they could have evals."""
    for pattern in (SKILL_FILE, f"*/{SKILL_FILE}", f"*/*/{SKILL_FILE}"):
        yield from sorted(path.glob(pattern))


def _without_evals(skill: Path) -> Fault:
    hint = f"Propose some from its headings: skillgauge init --dir {shlex.quote(str(skill.parent))}"
    return Fault("no-evals", "this skill has no evals", 1, 1, hint)


def _named_like_suites(folder: Path, closed: list[tuple[str, Fault]]) -> Iterator[Path]:
    """Those of a folder, nearest first; a folder with very many is looked through in part.

    Args:
        folder: where to look.
        closed: gets the folders that cannot be looked into.
    """
    level = [folder]
    looked = 0
    for _ in range(_DEEPEST):
        below: list[Path] = []
        for file in level:
            try:
                inner = sorted(path for path in file.iterdir() if not path.name.startswith("."))
            except OSError as error:
                hint = "Let this account read it, or name what is to be evaluated."
                closed.append(
                    (str(file), Fault("unreadable", f"this folder cannot be read: {error.strerror}", hint=hint))
                )
                continue
            below += [path for path in inner if path.is_dir() and not path.is_symlink()]
            named = [path for path in inner if path.is_file() and _is_named_like_suite(path.name.lower())]
            yield from named
            looked += len(inner)
            if looked > _LOOKED_INTO:
                return
        level = below


def _is_named_like_suite(name: str) -> bool:
    is_named = name.endswith(_SUFFIXES) and _NAME.search(name) is not None
    return is_named and _RESULTS.search(name) is None


def _faults(file: Path, shapes: Collection[str]) -> list[Fault]:
    if file.suffix not in _SUFFIXES:
        return []
    try:
        value = read(file)
    except DocumentError as error:
        return [
            Fault(fault.code, f"{file.name} cannot be read: {fault.message}", fault.line, fault.column, fault.hint)
            for fault in error.faults
        ]
    held = next((shape for shape in shapes if _holds(value, shape)), None)
    if held is not None:
        return [_of_another_name(file, held)]
    key, nearest = _nearest(_marks(value), shapes)
    pointer = (key,) if isinstance(value, Mapping) and key in value else ()
    place = places(file, {pointer})[pointer] or (1, 1)
    hint = f"The nearest shape that is read: {_described(nearest)}." if nearest else f"Known shapes: {_listed(shapes)}."
    return [Fault("shape", f"{file.name} is no suite that an installed format knows: {_shown(value)}", *place, hint)]


def _nearest(marks: Sequence[str], shapes: Collection[str]) -> tuple[str, Sequence[str]]:
    """Return the key of a document that looks like that of a suite, and the shapes it could be meant to have.

    A list that is named as in some shapes lacks what its items should have, whatever other lists are called. Which of
    these keys was meant shows where one is nearly there; otherwise each may be.
    """
    pairs = [(shape, mark) for shape in shapes for mark in marks]
    same_list = [(shape, mark) for shape, mark in pairs if mark.startswith(f"{_list_of(shape)}.")]
    shape, mark = max(same_list or pairs, key=_alike, default=("", ""))
    likeness = _alike((shape, mark))
    if same_list and likeness < _MISSPELT:
        return _list_of(shape), sorted({one for one, _ in same_list if _list_of(one) == _list_of(shape)})
    return (_list_of(mark), [shape]) if shape and likeness >= _LEAST_ALIKE else ("", [])


def _list_of(shape: str) -> str:
    return shape.partition(".")[0]


def _of_another_name(file: Path, shape: str) -> Fault:
    """Return what is wrong with a file that has all that a format is known by."""
    keys = shape.split(".")
    pointer = (keys[0],)
    place = places(file, {pointer})[pointer] or (1, 1)
    message = f"{file.name} has the shape of a suite, and no name under which an installed format reads it"
    what = " and ".join(map(repr, keys))
    hint = f"It has {what}: name the format of that, with --suite-format NAME, or give the file its usual name."
    return Fault("shape", message, *place, hint)


def _marks(value: JsonValue) -> list[str]:
    """Return the marks by which a document could be recognised, in the words of the shapes."""
    lists = value if isinstance(value, Mapping) else {LIST: value}
    keys = []
    for key, items in lists.items():
        first = items[0] if isinstance(items, tuple) and items else items
        keys += [f"{key}.{inner}" for inner in first] if isinstance(first, Mapping) else [key]
    return keys


def _holds(value: JsonValue, shape: str) -> bool:
    """Tell whether a document has what a format is known by, its second key in the first or beside it."""
    key, _, inner = shape.partition(".")
    if not isinstance(value, Mapping) or key not in value:
        return False
    return not inner or shape in _marks(value) or (inner in value and not isinstance(value[key], tuple))


def _alike(pair: tuple[str, str]) -> float:
    from difflib import SequenceMatcher  # noqa: PLC0415 - slow, and wanted only where nothing is found

    return SequenceMatcher(None, *pair).ratio()


def _described(shapes: Sequence[str]) -> str:
    """Return what shapes of one list have in common, and what its items have in each."""
    key = _list_of(shapes[0])
    if shapes[0] == key:
        return f"an object with {key!r}"
    *others, last = [repr(shape.partition(".")[2]) for shape in shapes]
    items = f"{', '.join(others)} or {last}" if others else last
    return f"a list of items with {items}" if key == LIST else f"an object with a list {key!r} of items with {items}"


def _listed(shapes: Collection[str]) -> str:
    return ", ".join(shapes) or "none"


def _shown(value: JsonValue) -> str:
    if not isinstance(value, Mapping):
        return "a list" if isinstance(value, tuple) else "no object and no list"
    more = f" and {len(value) - _SHOWN} more" if len(value) > _SHOWN else ""
    return f"an object with {', '.join(map(repr, list(value)[:_SHOWN])) or 'no key'}{more}"
