"""Find suites: show paths to the installed formats, and refuse what two of them claim."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from skillgauge_documents.frozen import JsonObject
from skillgauge_documents.unread import unread

from ..contract.formats import Claim, FormatWithFolders, LoadRequest, SuiteFormat
from ..errors import Origin, Problem, SourceSpan, SuiteError, UsageError
from ..types.suite import Suite

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "dist", "build"})
"""Folders that a search does not enter, as it enters no hidden one that no format names: what they hold was made."""


Found = dict[Path, bool]
"""The paths that one format claims, each with whether it was only found by searching a folder."""


def _add(claims: dict[str, Found], name: str, path: Path, *, searched: bool) -> None:
    """Give a format a path once, however often it is named; to name it goes before finding it."""
    path, mine = Path(os.path.normpath(path)), claims.setdefault(name, {})
    if not searched and mine.get(path):
        del mine[path]  # its place is among the named ones
    mine.setdefault(path, searched)


def discover(
    paths: Sequence[Path],
    formats: Mapping[str, SuiteFormat],
    claims: dict[str, Found],
    *,
    shapes: Sequence[str] = (),
    forced: bool = False,
) -> None:
    """Assign every path to the format that claims it.

    A path that no format claims is searched if it is a folder. A claimed folder is not searched any further,
    except in what its claim leaves open.

    Args:
        paths: what the user named, absolute.
        formats: formats to ask, by name.
        claims: receives the paths, by format.
        shapes: what the files of installed formats are known by, for the message about one that is nearly such a file.
        forced: the user chose the one format given; it gets what it does not claim too, and says what is wrong.

    Raises:
        UsageError: a path does not exist, is claimed by several formats, or holds nothing that any format knows.
    """
    search = _Search(formats, claims)
    for path in paths:
        if not os.path.exists(path):  # noqa: PTH110 - never raises
            hint = "Check the path, or the name of the case."
            search.problems.append(Problem("usage.no-such-path", f"{str(path)!r} does not exist", hint=hint))
        elif search.assigns(path):
            continue
        elif forced:
            _add(claims, next(iter(formats)), path, searched=False)
        else:
            search.problems += _unclaimed(path, formats, shapes)
    UsageError.raise_for(search.problems)


def _unclaimed(path: Path, formats: Mapping[str, SuiteFormat], shapes: Sequence[str]) -> Iterator[Problem]:
    """Yield why no format claims what is at a path."""
    for file, reason in unread(path, formats, shapes):
        span = SourceSpan(file, reason.line, reason.column)
        yield Problem("usage.unknown-format", reason.message, span=span, hint=reason.hint)


def _folders_of(suite_format: SuiteFormat) -> tuple[str, ...]:
    """The hidden folders that a format names, without what is not below the searched folder."""
    if not isinstance(suite_format, FormatWithFolders) or not isinstance(suite_format.searched_folders, tuple | list):
        return ()
    return tuple(filter(_is_hidden_below, suite_format.searched_folders))


def _is_hidden_below(folder: object) -> bool:
    """Tell whether this is the path of a hidden folder that lies below whatever is searched."""
    if not isinstance(folder, str) or not folder.strip("./"):
        return False
    return folder.startswith(".") and ".." not in folder.split("/")


def _is_entered(path: Path) -> bool:
    """Tell whether this is a folder that a search enters."""
    return path.is_dir() and path.name not in SKIPPED_FOLDERS


class _Search:
    """Shows paths to formats, and looks into the folders that none of them claims.

    Args:
        formats: the formats to ask, by name.
        claims: receives the paths, by format.
    """

    def __init__(self, formats: Mapping[str, SuiteFormat], claims: dict[str, Found]) -> None:
        self.problems: list[Problem] = []
        self._formats = formats
        self._claims = claims
        self._hidden = sorted({folder for suite_format in formats.values() for folder in _folders_of(suite_format)})
        self._visited: set[str] = set()
        """Real paths of the folders that were looked into, and of all that is claimed."""
        self._links: list[Path] = []
        """Linked folders that were not followed yet."""

    def assigns(self, path: Path) -> bool:
        """Assign a path that was named, or what lies in it if no format claims it; tell whether anything is claimed.

        Links to folders inside it are followed last and once, so that what they lead to keeps the name of its place.
        """
        hit = self._assign_or_search(path, searched=False)
        root = os.path.realpath(path)
        while self._links:
            link = self._links.pop(0)
            target = os.path.realpath(link)
            is_inside = os.path.commonpath((root, target)) == root
            if is_inside and target not in self._visited:
                hit = self._assign_or_search(link, searched=True) or hit
        return hit

    def _assign_or_search(self, path: Path, *, searched: bool) -> bool:
        return self._assign(path, searched=searched) or self._search(path)

    def _assign(self, path: Path, *, searched: bool) -> bool:
        claims = {name: claim for name, one in self._formats.items() if (claim := one.claim(path)) is not None}
        if len(claims) > 1:
            self.problems.append(_ambiguous(path, claims))
        elif claims:
            ((name, claim),) = claims.items()
            self._visited.add(os.path.realpath(path))
            _add(self._claims, name, path, searched=searched)
            for folder in (one for one in claim.leaves if path in one.parents):
                self._assign_or_search(folder, searched=True)
        return bool(claims)

    def _search(self, folder: Path) -> bool:
        hit = False
        for path in self._children(folder):
            hit = self._assign_or_search(path, searched=True) or hit
        return hit

    def _children(self, folder: Path) -> list[Path]:
        """Return what a search of a folder looks at, links to folders apart; nothing for a file."""
        try:
            paths, folders = self._listed(folder)
        except OSError:  # it is a file, nobody may list it, or what is listed cannot be looked at
            return []
        real = Path(os.path.realpath(folder))
        self._visited.add(str(real))
        linked = {path for path in folders if Path(os.path.realpath(path)) != real / path.relative_to(folder)}
        self._links += sorted(linked)
        return [path for path in paths if path not in linked]

    def _listed(self, folder: Path) -> tuple[list[Path], set[Path]]:
        """Return the files and folders in a folder that a search enters, in order, and which of them are folders."""
        shown = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
        paths = [*shown, *(folder / name for name in self._hidden)]
        folders = set(filter(_is_entered, paths))
        entered = folders.union(path for path in shown if not path.is_dir())
        return [path for path in paths if path in entered], folders


def _ambiguous(path: Path, claims: Mapping[str, Claim]) -> Problem:
    names = "; ".join(f"{name} ({claim.dialect or claim.reason or 'recognised'})" for name, claim in claims.items())
    message, hint = f"several formats claim this path: {names}", f"Choose one with --suite-format {next(iter(claims))}."
    return Problem("usage.ambiguous-format", message, origin=Origin(str(path)), hint=hint)


def load(
    claims: Mapping[str, Found],
    formats: Mapping[str, SuiteFormat],
    *,
    cwd: Path,
    options: JsonObject,
    installed: Mapping[str, tuple[str, ...]],
) -> tuple[tuple[Suite, ...], tuple[Problem, ...]]:
    """Load everything that was found; all problems of all files are collected before anything is raised.

    Args:
        claims: the paths, by format.
        formats: the formats, by name.
        cwd: folder that relative paths in options are relative to.
        options: values of load options.
        installed: names of the plugins that the run may use, by kind.

    Returns:
        The suites, and the bad files that a search passed over.

    Raises:
        SuiteError: a file that was named is bad, or a search found nothing but bad files.
    """
    suites: list[Suite] = []
    passed_over: list[Problem] = []
    fatal: list[Problem] = []
    for name, entry in claims.items():
        try:
            loaded = formats[name].load(_load_request(entry, cwd, options, installed))
        except SuiteError as error:
            fatal.extend(error.problems)
        else:
            suites.extend(loaded.suites)
            passed_over.extend(loaded.problems)
    if fatal or (passed_over and not suites):
        raise SuiteError([*fatal, *passed_over])
    return tuple(suites), tuple(passed_over)


def _load_request(
    found: Found, cwd: Path, options: JsonObject, installed: Mapping[str, tuple[str, ...]]
) -> LoadRequest:
    return LoadRequest(
        paths=tuple(str(path) for path, searched in found.items() if not searched),
        searched=tuple(str(path) for path, searched in found.items() if searched),
        cwd=str(cwd),
        options=options,
        installed=installed,
    )
