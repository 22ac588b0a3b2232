"""The files of a skill's folder that an agent under test must not find: the questions and the answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from skillgauge_documents.immutables import immutable

from .bundles import named_files
from .folders import files_of

LEAKS = ("evals", "eval.yaml", "eval.yml", "EVAL.yaml", "tests", "benchmark*.json", "*.eval.yaml", "expected*.json")
"""What is never installed, by name in the skill's own folder: suites, tests, results and expected results."""
NOISE = (".git", "__pycache__", ".DS_Store")
"""What is not part of a skill. The history of a repository would tell all that is left out."""
_TEXT_BYTES = 1024 * 1024


@immutable
class Leaks:
    """Paths below a skill's folder that are not installed, with forward slashes."""

    always: tuple[str, ...] = ()
    """Left out for their names."""
    of_validators: tuple[str, ...] = ()
    """Left out because commands of validators name them and nothing in the skill does: scripts that grade, and
    answer keys."""

    @property
    def paths(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.always, *self.of_validators)


def leaks_of(root: Path, *, commands: Sequence[str] = (), also: Iterable[str] = (), keep: Sequence[str] = ()) -> Leaks:
    """Return the files of a skill that must not be installed.

    Args:
        root: the skill's folder.
        commands: shell commands of validators.
        also: further paths below the folder, suites with unusual names for example.
        keep: globs of what is installed although it is on the list.
    """

    def is_kept(path: str) -> bool:
        return any(fnmatchcase(path, glob) for glob in keep)

    named = [*_leaks_by_name(root), *_caches(root)]
    always = tuple(path for path in dict.fromkeys((*named, *also)) if not is_kept(path))
    of_validators = tuple(path for path in _only_of_validators(root, commands, always) if not is_kept(path))
    return Leaks(always, of_validators)


def _leaks_by_name(root: Path) -> Iterator[str]:
    """Yield what lies right in the folder under a name that skills do not have."""
    if not root.is_dir():
        return
    for path in sorted(root.iterdir()):
        if any(fnmatchcase(path.name, glob) for glob in (*LEAKS, *NOISE)):
            yield path.name


def _caches(root: Path) -> Iterator[str]:
    """Yield the folders in which Python keeps compiled files."""
    for path in sorted(root.rglob("__pycache__")):
        if path.is_dir():
            yield path.relative_to(root).as_posix()


def _only_of_validators(root: Path, commands: Sequence[str], left_out: Sequence[str]) -> list[str]:
    suspects = [path for path in named_files(root, commands) if not _is_below(path, left_out)]
    if not suspects:
        return []
    texts = {path: _text(root / path) for path in files_of(root, left_out)}
    while True:
        of_the_skill = [text for path, text in texts.items() if path not in suspects]
        innocent = [path for path in suspects if _is_mentioned(path, of_the_skill)]
        if not innocent:
            return suspects  # what only a suspect mentions is the suspect's, and goes with it
        suspects = [path for path in suspects if path not in innocent]


def _is_mentioned(path: str, texts: Iterable[str]) -> bool:
    return any(_mentions(text, path) for text in texts)


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path == one or path.startswith(f"{one}/") for one in folders)


def _mentions(text: str, path: str) -> bool:
    """Tell whether a text names a file, or imports it: the files that the skill itself uses have to be installed."""
    name = path.rpartition("/")[2]
    if name in text:
        return True
    stem, _, suffix = name.rpartition(".")
    return (
        suffix == "py" and re.search(rf"^\s*(?:from|import)\b.*\b{re.escape(stem)}\b", text, re.MULTILINE) is not None
    )


def _text(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return stream.read(_TEXT_BYTES).decode(errors="replace")
    except OSError:
        return ""
