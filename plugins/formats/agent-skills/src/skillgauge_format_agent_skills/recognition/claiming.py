"""Recognise suites about skills by what stands in them, and those of other tools that bear the same names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from skillgauge.api import Claim, SuiteError
from skillgauge_skill_folders import SKILL_FILE, skills_of

from .case_folders import case_folders, foreign_file
from .drafts import NAME, has_drafts
from .packages import manifest_of
from .shapes import PACKAGE, QUESTIONS, Foreign, Shape
from .sources import EVALS_FOLDER, could_be_suite, is_named_evals, is_skill_folder, shape_in, suite_files

IsRead = Callable[[str], bool]
"""Whether an installed format announces a shape, and so claims what has it."""


def claim(path: Path, is_read: IsRead) -> Claim | None:
    """Claim a path for this format; never raises."""
    try:
        if path.is_dir():
            return _claim_folder(path) if is_skill_folder(path) else None
        return _claim_file(path, is_read)
    except (OSError, ValueError, RecursionError):
        return None


def _claim_folder(path: Path) -> Claim | None:
    """A skill whose suites are this format's. Where another's is among them, each file is somebody's by itself."""
    shapes = {file.name: shape_in(file) for file in suite_files(path)}
    if any(isinstance(shape, Foreign) for shape in shapes.values()):
        return None
    suites = [name for name, shape in shapes.items() if isinstance(shape, Shape)]
    reason = ", ".join(suites) if suites else _unfinished(path, shapes)
    if not reason:
        return None
    # A repository that is a skill itself may hold others, each with suites of its own.
    inner = tuple(skill for skill in skills_of(path, inner=True) if path in skill.parents and not skill.is_symlink())
    return Claim("skill", f"a skill with {reason}", leaves=(*inner, *case_folders(path)))


def _unfinished(path: Path, names: Iterable[str]) -> str:
    """The beginnings of a suite in a skill without one, in words; empty if there is nothing."""
    own_names = _own_names(path)
    broken = next((name for name in names if name in own_names), "")
    if broken:
        return f"{broken}, which cannot be read"
    return "drafts of evals" if has_drafts(path) else ""


def _own_names(path: Path) -> set[str]:
    return {file.name for file in suite_files(path) if is_named_evals(file)}


def _claim_file(path: Path, is_read: IsRead) -> Claim | None:
    if path.name == NAME and is_skill_folder(path.parent.parent):
        return Claim("drafts", f"named {path.name}, in a skill")
    if path.name == SKILL_FILE:
        return _claim_folder(path.parent)
    foreign = foreign_file(path)
    if foreign is not None and foreign is not PACKAGE:
        return _claim_foreign(path, foreign, is_read)
    if manifest_of(path) is not None:
        return _claim_foreign(path, PACKAGE, is_read)
    if not could_be_suite(path):
        return _claim_unlikely(path)
    return _claim_shape(path, is_read)


def _claim_unlikely(path: Path) -> Claim | None:
    """A file that could be no suite, but is called as this format's are: nobody else would say what is wrong."""
    is_own = is_named_evals(path) and path.is_file() and is_skill_folder(path.parent.parent)
    return Claim("evals", f"named {path.name}, in a skill") if is_own else None


def _claim_shape(path: Path, is_read: IsRead) -> Claim | None:
    match shape_in(path):
        case Shape() as shape:
            return Claim(shape, f"{path.name} is {_described(shape)}")
        case Foreign() as foreign:
            return _claim_foreign(path, foreign, is_read)
        case SuiteError() if _asks_questions(path):
            return _claim_foreign(path, QUESTIONS, is_read)
        case SuiteError():
            return Claim("evals", f"named {path.name}, but cannot be read") if is_named_evals(path) else None
        case _:
            is_own = is_named_evals(path) and _is_beside_skill(path)
            return Claim("evals", f"named {path.name}, of no shape that is known") if is_own else None


def _is_beside_skill(path: Path) -> bool:
    return path.parent.name == EVALS_FOLDER or is_skill_folder(path.parent)


def _asks_questions(path: Path) -> bool:
    """Tell whether a file that cannot be read has the words of `cases` that ask a question, and not `evals`."""
    data = path.read_bytes()
    return b'"cases"' in data and b'"question"' in data and b'"evals"' not in data


def _claim_foreign(path: Path, foreign: Foreign, is_read: IsRead) -> Claim | None:
    return None if is_read(foreign.mark) else Claim("foreign", f"{path.name} is {foreign.what}")


def _described(shape: Shape) -> str:
    match shape:
        case Shape.EVALS:
            return "an object with `evals`"
        case Shape.CASES:
            return "an object with evals under another name"
        case Shape.ONE:
            return "a single eval"
        case Shape.EVAL_LIST:
            return "a list of evals"
        case Shape.TRIGGERS:
            return "a trigger set"
