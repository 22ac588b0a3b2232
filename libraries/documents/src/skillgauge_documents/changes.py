"""Changes of single texts in files: what the files would be, and the difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class Change(NamedTuple):
    """A change of one text in a file: the first place at or after a place where it stands."""

    file: str
    line: int
    column: int
    before: str
    after: str


def changed_texts(changes: Iterable[Change]) -> dict[Path, tuple[str, str]]:
    """The files that changes would make other ones: what is in each now, and what would be."""
    by_file: dict[str, set[Change]] = {}
    for change in changes:
        by_file.setdefault(change.file, set()).add(change)
    texts = {}
    for name, own in sorted(by_file.items()):
        text = Path(name).read_bytes().decode("utf-8")
        after = _changed(text, own)
        if after != text:
            texts[Path(name)] = (text, after)
    return texts


def _changed(text: str, changes: Iterable[Change]) -> str:
    """The text with every change, from the last place to the first so that no place moves another."""
    placed = {(_place_of(text, change), change.before, change.after) for change in changes}
    end = len(text)
    for place, before, after in sorted(placed, key=lambda one: -one[0]):
        if place >= 0 and place + len(before) <= end:  # two that overlap are one after the other
            text = text[:place] + after + text[place + len(before) :]
            end = place
    return text


def _place_of(text: str, change: Change) -> int:
    lines = text.splitlines(keepends=True)[: change.line - 1]
    return text.find(change.before, sum(map(len, lines)) + change.column - 1)


def differences(texts: Mapping[Path, tuple[str, str]]) -> Iterator[str]:
    """A unified diff of all that `changed_texts` gives."""
    from difflib import unified_diff  # noqa: PLC0415 - slow, and seldom wanted

    for path, (before, after) in texts.items():
        sides = (before.splitlines(), after.splitlines())
        yield from unified_diff(*sides, f"{path} (now)", f"{path} (fixed)", lineterm="")
