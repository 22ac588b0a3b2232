"""Parts of a plugin beside its skills: rules, which hold in every session, and documents, which an agent may read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import Install, JsonValue
from skillgauge_skill_folders import bytes_of, contained, file_spec, files_of

from .reading import Reading, text_of

RULE, DOCUMENTS = "rule", "documents"
"""Kinds of installs."""
RULE_KEYS = ("rules", "steering")
"""Keys of a manifest that list rules."""
DOCS_KEY = "docs"
FURTHER_KEYS = ("commands", "agents", "hooks", "nativeHooks", "mcpServers")
"""Keys of parts that are not installed."""
RULES_FOLDER = "rules"
_LINK = re.compile(r"\]\(<?([^)\s#?>]+)")
_MARKDOWN = ".md"
_MOST_FILES = 2_000
_MOST_BYTES = 4 * 1024 * 1024
"""Of a document whose links are followed."""
_NONE_THERE = "Correct the path, or take it out."


@dataclass(frozen=True)
class Parts:
    """The parts of a plugin beside its skills."""

    reading: Reading
    """Of the manifest; receives what is wrong, and what is not installed."""
    folder: Path
    """That of the plugin."""
    evals: Path
    """The folder of scenarios, which no agent may find."""

    def installs(self, about: str, *, has_usual: bool) -> tuple[Install, ...]:
        """Return what an agent gets.

        Args:
            about: what the plugin says of itself.
            has_usual: whether rules lie in the usual folder where the manifest lists none.
        """
        manifest = self._manifest
        for key in FURTHER_KEYS:
            if key in manifest:
                self.reading.tell(f"{key} of the plugin are not installed", key)
        rules = tuple(self._rules())
        usual = self.folder / RULES_FOLDER
        if has_usual and usual.is_dir() and not any(key in manifest for key in RULE_KEYS):
            rules = tuple(self._rules_at(usual))
        return (*rules, *self._documents(about))

    @property
    def _manifest(self) -> Mapping[str, JsonValue]:
        value = self.reading.document.value
        return value if isinstance(value, Mapping) else {}

    def _rules(self) -> Iterator[Install]:
        for key in RULE_KEYS:
            for pointer, name, written in _listed(self._manifest.get(key)):
                place = contained(self.folder, written)
                rules = [] if place is None else list(self._rules_at(place, name))
                if not rules:
                    self.reading.refuse(f"there is no rule at {written!r}", key, *pointer, hint=_NONE_THERE)
                yield from rules

    def _rules_at(self, place: Path, name: str | None = None) -> Iterator[Install]:
        """Yield the rule in a file, or those in a folder, each with its whole text: it says itself when it holds."""
        files = self._below(place) if place.is_dir() else [place] if place.is_file() else []
        for file in files:
            if file.suffix == _MARKDOWN and (text := text_of(file, self.reading.problems)):
                yield Install(kind=RULE, name=name or file.stem, content={"text": text})

    def _documents(self, about: str) -> Iterator[Install]:
        written = self._manifest.get(DOCS_KEY)
        if written is None:
            return
        root = self.folder.resolve()
        entry = contained(root, written) if isinstance(written, str) else None
        if entry is None or not entry.is_file():
            self.reading.refuse(f"there is no document at {written!r}", DOCS_KEY, hint=_NONE_THERE)
            return
        # A folder of documents is installed whole; of the plugin's own folder that is only what links lead to.
        files = self._linked(entry, root) if entry.parent == root else self._below(entry.parent)
        if len(files) > _MOST_FILES:
            message = f"there are more than {_MOST_FILES:,} files around {written!r}"
            self.reading.refuse(message, DOCS_KEY, hint="Put the documents into a folder of their own.")
            return
        specs = tuple(file_spec(file, _placed(file.relative_to(root).as_posix())) for file in sorted(files))
        content: dict[str, JsonValue] = {"entry": _placed(entry.relative_to(root).as_posix()), "about": about}
        yield Install(kind=DOCUMENTS, name=DOCUMENTS, content=content, files=specs)

    def _below(self, folder: Path) -> list[Path]:
        """Return the files of a folder, without the scenarios."""
        here, evals = folder.resolve(), self.evals.resolve()
        inner = (evals.relative_to(here).as_posix(),) if evals.is_relative_to(here) else ()
        return [here / path for path in files_of(here, inner)]

    def _linked(self, entry: Path, root: Path) -> list[Path]:
        """Return a document, and the documents of the plugin that its links lead to."""
        evals, waiting, visited = self.evals.resolve(), [entry], dict[Path, None]()
        while waiting and len(visited) <= _MOST_FILES:
            file = waiting.pop()
            if file in visited:
                continue
            visited[file] = None
            for link in _LINK.findall((bytes_of(file, _MOST_BYTES) or b"").decode("utf-8", "replace")):
                path = os.path.normpath(file.parent.relative_to(root) / link)
                place = contained(root, path) if ":" not in link else None
                is_document = place is not None and place.suffix == _MARKDOWN and place.is_file()
                if place is not None and is_document and not place.is_relative_to(evals):
                    waiting.append(place)
        return list(visited)


def _listed(value: JsonValue) -> Iterator[tuple[tuple[str | int, ...], str | None, str]]:
    """Yield each path that a manifest gives: where it stands, the name that it has there, and the path."""
    if isinstance(value, str):
        yield (), None, value
    elif isinstance(value, tuple):
        yield from (((number,), None, str(path)) for number, path in enumerate(value))
    elif isinstance(value, Mapping):
        for name, entry in value.items():
            if isinstance(entry, Mapping):
                paths = ((key, path) for key, path in entry.items() if isinstance(path, str))
                yield from (((name, key), name, path) for key, path in paths)
            else:
                yield (name,), name, str(entry)


def _placed(path: str) -> str:
    """Return where a document lies among the files of all installs."""
    return f"{DOCUMENTS}/{path}"
