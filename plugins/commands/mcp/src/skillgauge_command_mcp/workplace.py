"""The folders that an agent may name, and the words that it may use. Everything else is refused with the way out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,99}")
_WORD = re.compile(r"[^\s-][^\r\n\0]{0,199}")


class RefusedError(Exception):
    """An argument that is not followed; the text says why and what to do."""


@dataclass(frozen=True)
class Workplace:
    """The folders of a server."""

    roots: tuple[Path, ...]
    """Absolute, without links."""
    cwd: Path

    @property
    def shown(self) -> str:
        """The folders, for people and agents."""
        return ", ".join(map(str, self.roots))

    def path(self, text: str) -> str:
        """Return an absolute path within the folders; relative ones begin in a folder, or where the server started.

        Raises:
            RefusedError: it leads elsewhere, by a link too, or nothing is there.
        """
        if "\0" in text:
            raise RefusedError("a path has no null character")
        candidates = [self.cwd / text, *(root / text for root in self.roots)]
        held = [path for path in (candidate.resolve() for candidate in candidates) if self._holds(path)]
        if not held:
            raise RefusedError(
                f"{text!r} lies outside of the folders of this server ({self.shown}); name a path in them"
            )
        existing = next((path for path in held if path.exists()), None)
        if existing is None:
            raise RefusedError(f"there is nothing at {text!r}; call list_evals to see what is there")
        return str(existing)

    def run(self, text: str) -> str:
        """Return the reference of a run: an id, `latest`, `latest~1`, a baseline, or a report within the folders.

        Raises:
            RefusedError: it is none of these.
        """
        if _RUN.fullmatch(text) and not Path(text).suffix and not (self.cwd / text).exists():
            return text
        return self.path(text)

    def words(self, texts: Sequence[str], what: str) -> tuple[str, ...]:
        """Return words that can be no option.

        Raises:
            RefusedError: one of them is none.
        """
        for text in texts:
            if not _WORD.fullmatch(text):
                raise RefusedError(f"{text!r} is no {what}; a name of at most 200 characters that begins with no '-'")
        return tuple(texts)

    def _holds(self, path: Path) -> bool:
        return any(path == root or root in path.parents for root in self.roots)
