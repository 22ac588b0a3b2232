"""From pointers to lines and columns, when somebody asks for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

from .faults import DocumentError, Fault, Lines, Pointer, Step, place_at
from .json_text import json_nodes
from .reading import MAX_BYTES, read_text
from .yaml_parts.places import PlainText, yaml_nodes, yaml_texts

T = TypeVar("T")
P = TypeVar("P", int, tuple[int, int])
_YAML = (".yaml", ".yml")
_COMMENT = re.compile(r"(?P<blanks>[ \t]+)#(?P<follows>[^\r\n]?)")
_AFTER_TEXT = re.compile(r"\S(?:[ \t]+#\S| #)")
_MOST_SHOWN = 60


class Place(Protocol):
    """A value in a file."""

    @property
    def file(self) -> str:
        """Path of the file."""

    @property
    def pointer(self) -> Pointer:
        """Keys and indices that lead to the value."""


def places(path: Path, pointers: Collection[Pointer]) -> Mapping[Pointer, tuple[int, int] | None]:
    """Line and column of values in a file: of a member at its key, of a list item at its beginning.

    A pointer to something absent gives the deepest container on the way to it; `None` if the file cannot be read, or
    has no structure.
    """
    try:
        text = read_text(path, MAX_BYTES)
    except DocumentError:
        return dict.fromkeys(pointers)
    suffix = path.suffix.lower()
    if suffix == ".json" or (suffix not in _YAML and text.lstrip()[:1] in ("{", "[")):
        offsets = _find(_pointed((depth, step, offset) for depth, step, offset, _ in json_nodes(text)), pointers)
        lines = Lines(text)
        nodes = {pointer: lines.place(offset) for pointer, offset in offsets.items()}
    else:
        nodes = _find(_pointed(yaml_nodes(text)), pointers)
    return {pointer: _deepest(pointer, nodes) for pointer in pointers}


def cut_texts(within: Iterable[Place]) -> Iterator[tuple[str, Fault]]:
    """Texts without quotes in YAML files that end at a comment which was hardly meant as one: `Mentions issue #42`.

    By the usual style a comment begins with `# ` and stands apart from what is before it. So it is doubtful if no blank
    follows the `#`, or if a single one is between it and a sentence.

    Args:
        within: values to look into; those of files that are no YAML are passed over.

    Returns:
        The file, and the place of the `#`.
    """
    pointers: dict[str, set[Pointer]] = {}
    for place in within:
        if place.file.lower().endswith(_YAML):
            pointers.setdefault(place.file, set()).add(place.pointer)
    for file, wanted in pointers.items():
        for fault in _cuts(Path(file), wanted):
            yield file, fault


def _cuts(path: Path, within: Collection[Pointer]) -> Iterator[Fault]:
    try:
        text = read_text(path, MAX_BYTES)
    except DocumentError:
        return
    if not _AFTER_TEXT.search(text):
        return
    for pointer, plain in _pointed(yaml_texts(text)):
        comment = plain and _COMMENT.match(text, plain.end)
        if not plain or not comment or not _is_doubtful(plain, comment):
            continue
        if any(pointer[:length] in within for length in range(len(pointer) + 1)):
            yield _cut(plain.text, *place_at(text, comment.end("blanks")))


def _is_doubtful(plain: PlainText, comment: re.Match[str]) -> bool:
    is_sentence = " " in plain.text and comment["blanks"] == " "
    return bool(comment["follows"].strip()) or is_sentence


def _cut(text: str, line: int, column: int) -> Fault:
    shown = text if len(text) <= _MOST_SHOWN else f"...{text[-_MOST_SHOWN:]}"
    message = "a comment stands in place of a text"
    if text:
        message = f"a comment begins here, so of this text only {shown!r} is read"
    hint = "Put the text in quotes; if the comment is meant as one, give it a line of its own."
    return Fault("cut-text", message, line, column, hint)


def _pointed(nodes: Iterator[tuple[int, Step | None, T]]) -> Iterator[tuple[Pointer, T]]:
    """Return what stands in the nodes with whole pointers."""
    path: list[Step] = []
    for depth, step, content in nodes:
        if depth and step is not None:
            del path[depth - 1 :]
            path.append(step)
        yield tuple(path), content


def _find(nodes: Iterator[tuple[Pointer, P]], pointers: Collection[Pointer]) -> dict[Pointer, P]:
    """The places of the pointers and of everything on the way to them, as far as they exist."""
    prefixes = {pointer[:length] for pointer in pointers for length in range(len(pointer) + 1)}
    found_at: dict[Pointer, P] = {}
    for here, place in nodes:
        if here in prefixes and here not in found_at:
            found_at[here] = place
            if len(found_at) == len(prefixes):
                break
    return found_at


def _deepest(pointer: Pointer, found: Mapping[Pointer, tuple[int, int]]) -> tuple[int, int] | None:
    return next((found[pointer[:n]] for n in range(len(pointer), -1, -1) if pointer[:n] in found), None)
