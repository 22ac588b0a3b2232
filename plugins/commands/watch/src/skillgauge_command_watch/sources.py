"""The files that are watched: those that a command line names, the folders of its suites, and the configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from watchfiles import Change, DefaultFilter, watch

from skillgauge.api import PluginError, Problem, SkillgaugeError
from skillgauge.api.report import counted
from skillgauge.api.run import Invocation

_WAIT_MS = 100
"""How long one look waits for a change."""
_CONFIGURATION = ("skillgauge.config.yaml", "pyproject.toml")


def places(
    call: Invocation, paths: Sequence[str], words: Iterable[str], left_out: frozenset[Path]
) -> tuple[set[Path], set[Path]]:
    """The folders and the single files to watch.

    Args:
        call: the command line.
        paths: what is evaluated; those that do not exist are names of cases.
        words: the command line, word by word: whatever is a path here counts.
        left_out: what runs write.
    """
    named = [path for path in (call.cwd / word for word in paths) if path.exists()] or [call.cwd]
    roots = {*named, *_roots(call, named)}
    for word in words:
        roots.update(_paths(word, call.cwd))
    watched = {Path(os.path.normpath(path)) for path in roots} - left_out
    folders = {path for path in watched if path.is_dir()}
    files = watched - folders
    files.update(call.cwd / name for name in _CONFIGURATION)
    return _not_below(folders, folders), _not_below(files, folders)


def _not_below(paths: set[Path], folders: set[Path]) -> set[Path]:
    """Return the paths that lie below none of the folders."""
    return {path for path in paths if folders.isdisjoint(path.parents)}


def _roots(call: Invocation, named: Sequence[Path]) -> Iterator[Path]:
    """Return the folders of suites and of what they test; a part that cannot be read now is left out."""
    try:
        suites = call.suites(*named).suites
    except SkillgaugeError:
        return
    for suite in suites:
        yield call.cwd / suite.root
        yield from (call.cwd / target.root for target in suite.targets if target.root)


def _paths(word: str, cwd: Path) -> Iterator[Path]:
    """`PATH`, `--option=PATH`, `key=PATH`, `PATH,PATH`."""
    parts = (word, *word.partition("=")[2].split(","), *word.split(","))
    # Not asked of a path: that raises at a word which is too long for one.
    return (cwd / part for part in parts if part and os.path.exists(cwd / part))  # noqa: PTH110


class Sources:
    """Tells of changes from the moment it is made.

    Args:
        folders: watched with all below them.
        files: watched alone; they need not be there yet.
        left_out: files and folders whose changes say nothing.
        cwd: paths are told from here.

    Raises:
        PluginError: the system does not let that much be watched.
    """

    def __init__(self, folders: set[Path], files: set[Path], left_out: frozenset[Path], cwd: Path) -> None:
        self._files, self._left_out, self._cwd = files, left_out, cwd
        self._usual = DefaultFilter()
        beside = {file.parent for file in files if file.parent.is_dir()}
        self._changes = [
            watch(
                *map(str, sorted(watched)),
                watch_filter=recursive_set,
                recursive=recursive,
                rust_timeout=_WAIT_MS,
                yield_on_timeout=True,
            )
            for watched, recursive_set, recursive in ((folders, self._below, True), (beside, self._alone, False))
            if watched
        ]
        self.told = ", ".join(self._short(path) for path in sorted(folders)[:3]) or "the configuration"
        if len(folders) > 3:
            self.told += f" and {counted(len(folders) - 3, 'folder')} more"
        try:
            self.pending()  # the watching begins when one first asks
        except OSError as error:
            hint = "Name fewer folders, raise the system's limit of watches, or set WATCHFILES_FORCE_POLLING=1."
            raise PluginError(Problem("watch.refused", f"files cannot be watched: {error}", hint=hint)) from error

    def pending(self) -> set[str]:
        """Return the changes since the last call."""
        return {self._short(Path(path)) for source in self._changes for _, path in next(source)}

    def wait(self) -> set[str]:
        """Wait for the next change and return it.

        Raises:
            KeyboardInterrupt: the user has seen enough.
        """
        while not (changes := self.pending()):
            pass
        return changes

    def _below(self, change: Change, path: str) -> bool:
        return self._usual(change, path) and self._left_out.isdisjoint({Path(path), *Path(path).parents})

    def _alone(self, change: Change, path: str) -> bool:
        return Path(path) in self._files

    def _short(self, path: Path) -> str:
        return str(path.relative_to(self._cwd)) if path.is_relative_to(self._cwd) else str(path)
