"""From pointers to lines and columns, when somebody asks for them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from .faults import DocumentError, Lines, Pointer, Step
from .json_text import json_nodes
from .reading import MAX_BYTES, read_text
from .yaml_text import yaml_nodes

P = TypeVar("P", int, tuple[int, int])


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
    if suffix == ".json" or (suffix not in (".yaml", ".yml") and text.lstrip()[:1] in ("{", "[")):
        offsets = _find(((depth, step, offset) for depth, step, offset, _ in json_nodes(text)), pointers)
        lines = Lines(text)
        nodes = {pointer: lines.place(offset) for pointer, offset in offsets.items()}
    else:
        nodes = _find(yaml_nodes(text), pointers)
    return {pointer: _deepest(pointer, nodes) for pointer in pointers}


def _find(nodes: Iterator[tuple[int, Step | None, P]], pointers: Collection[Pointer]) -> dict[Pointer, P]:
    """The places of the pointers and of everything on the way to them, as far as they exist."""
    prefixes = {pointer[:length] for pointer in pointers for length in range(len(pointer) + 1)}
    found_at: dict[Pointer, P] = {}
    path: list[Step] = []
    for depth, step, place in nodes:
        if depth and step is not None:
            del path[depth - 1 :]
            path.append(step)
        here = tuple(path)
        if here in prefixes and here not in found_at:
            found_at[here] = place
            if len(found_at) == len(prefixes):
                break
    return found_at


def _deepest(pointer: Pointer, found: Mapping[Pointer, tuple[int, int]]) -> tuple[int, int] | None:
    return next((found[pointer[:n]] for n in range(len(pointer), -1, -1) if pointer[:n] in found), None)
