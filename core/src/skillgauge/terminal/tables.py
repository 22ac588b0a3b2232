"""Tables for people, as wide as the terminal at most: cells are wrapped, and what still does not fit is listed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

GAP = "  "
_LEAST = 12
"""Columns that no cell goes below while others are wider."""


def table_lines(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """A table, or where that is too narrow to read, each row as a list of its cells.

    Args:
        heads: titles of the columns.
        rows: the cells; texts without line breaks.
        width: most columns of a line; `None` for as many as it takes.
    """
    lines = [list(heads), *map(list, rows)]
    natural = [max(map(columns, cells)) for cells in zip(*lines, strict=True)]
    widths = _fitted(natural, width)
    if widths is None:
        yield from _listed(heads, rows, width or 0)
        return
    for line in lines:
        wrapped = [wrap(cell, size) for cell, size in zip(line, widths, strict=True)]
        for parts in zip_longest(*wrapped, fillvalue=""):
            yield GAP.join(_padded(part, size) for part, size in zip(parts, widths, strict=True)).rstrip()


def wrap(text: str, width: int, *, whole: bool = False) -> list[str]:
    """A text in lines of a width, broken between words where that is possible; at least one line.

    Args:
        text: one line.
        width: of each line.
        whole: leave a word that is longer as it is, instead of breaking it.
    """
    if columns(text) <= width:
        return [text]
    lines, line = list[str](), ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if columns(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        *pieces, line = [word] if whole else _pieces(word, width)
        lines += pieces
    return [*lines, line] if line or not lines else lines


def _pieces(word: str, width: int) -> list[str]:
    """Break a word into pieces of a width; the last one may be shorter, or empty."""
    pieces = []
    while columns(word) > width:
        head = _beginning(word, width)
        pieces.append(head)
        word = word[len(head) :]
    return [*pieces, word]


def _beginning(word: str, width: int) -> str:
    """As much of a word as fits; wide characters count twice."""
    end = next(end for end in range(len(word), 0, -1) if end == 1 or columns(word[:end]) <= width)
    return word[:end]


def columns(text: str) -> int:
    """Count the columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    import unicodedata  # noqa: PLC0415 - this module is part of every start

    standing = [character for character in text if not unicodedata.combining(character)]
    return len(standing) + sum(unicodedata.east_asian_width(character) in "WF" for character in standing)


def _fitted(natural: Sequence[int], width: int | None) -> list[int] | None:
    """Widths of columns that fit together, the widest made narrower; `None` if that leaves too little."""
    widths = list(natural)
    if width is None:
        return widths
    room = width - len(GAP) * (len(widths) - 1)
    if sum(min(size, _LEAST) for size in natural) > room:
        return None
    while sum(widths) > room:
        widest = max(range(len(widths)), key=widths.__getitem__)
        next_widest = max((size for size in widths if size < widths[widest]), default=_LEAST)
        excess = sum(widths) - room
        widths[widest] = max(_LEAST, min(widths[widest] - 1, max(next_widest, widths[widest] - excess)))
    return widths


def _listed(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    for number, row in enumerate(rows):
        if number:
            yield ""
        for head, cell in zip(heads, row, strict=True):
            if cell:
                first, *more = wrap(f"{head}: {cell}" if head else cell, max(width, 2))
                yield first
                yield from more


def _padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))
