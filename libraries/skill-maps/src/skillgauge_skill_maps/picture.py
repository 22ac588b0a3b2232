"""The map as pictures: a matrix of who fires for whose queries, and a graph of the pairs. SVG, without a script."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from skillgauge.api import cut, plain
from skillgauge.api.report import counted

from .documents import MapDocument
from .model import NONE, PROVEN, MatrixRow, PairRow, Relation

_CELL = 22
_ROOM = 190
"""Room for names at the left and at the top of the matrix."""
_NAME = 24
"""Characters of a name that are drawn."""
_RADIUS = 230
_MARGIN = 190
_MOST = 60
"""Skills that are drawn; the tables have all."""
_SHOWN = (*PROVEN, Relation.UNDECIDED, Relation.FIRES_TOO)
_KINDS = {
    Relation.SUBSUMES: "proven",
    Relation.SHADOWS: "proven",
    Relation.UNDECIDED: "open",
    Relation.FIRES_TOO: "seen",
}


def matrix(document: MapDocument) -> Iterator[str]:
    """Yield the matrix as SVG: a row for each skill's queries, a column for each skill that fired.

    Skills are in the order of the rows, so what fires for its own queries lies on the diagonal.
    """
    rows = _drawn(document)
    columns = [*(row.query_of for row in rows)]
    columns += [name for name in _others(rows) if name not in columns][: max(0, _MOST - len(columns))]
    columns.append(NONE)
    width, height = _ROOM + _CELL * len(columns) + _ROOM // 2, _ROOM + _CELL * len(rows) + 8
    label = f"Matrix: whose queries, {len(rows)} rows, and which skills fired, {len(columns)} columns; see the tables"
    yield f'<svg class="matrix" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
    yield f'aria-label="{label}">'
    for place, name in enumerate(columns):
        x, y = _ROOM + _CELL * place + _CELL / 2 + 4, _ROOM - 8
        yield f'<text class="name" transform="translate({x:g} {y}) rotate(-60)">{_name(name)}</text>'
    for line, row in enumerate(rows):
        top = _ROOM + _CELL * line
        yield f'<text class="name end" x="{_ROOM - 8}" y="{top + _CELL / 2 + 4:g}">{_name(row.query_of)}</text>'
        yield f'<rect class="row" x="{_ROOM}" y="{top}" width="{_CELL * len(columns)}" height="{_CELL}"/>'
        for place, name in enumerate(columns):
            if count := row.fired.get(name, 0):
                yield _cell(row, name, count, _ROOM + _CELL * place, top)
    yield "</svg>"


def _drawn(document: MapDocument) -> list[MatrixRow]:
    """Return the rows that are drawn: all, or those with a pair first where there are too many."""
    if len(document.matrix) <= _MOST:
        return list(document.matrix)
    involved = {name for pair in document.pairs for name in (pair.skill, pair.query_of)}
    ordered = sorted(document.matrix, key=lambda row: row.query_of not in involved)[:_MOST]
    return sorted(ordered, key=document.matrix.index)


def _others(rows: Sequence[MatrixRow]) -> list[str]:
    return sorted({name for row in rows for name in row.fired} - {NONE})


def _cell(row: MatrixRow, name: str, count: int, x: int, y: int) -> str:
    kind = "own" if name == row.query_of else "none" if name == NONE else "other"
    opacity = 0.25 + 0.75 * count / row.sessions
    subject = "no skill fired" if name == NONE else f"{plain(name)} fired"
    title = escape(f"{subject} in {count} of {counted(row.sessions, 'session')} of {plain(row.query_of)}'s queries")
    box = f'x="{x + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_CELL - 2}"'
    return f'<rect class="{kind}" {box} fill-opacity="{opacity:.2f}"><title>{title}</title></rect>'


def graph(document: MapDocument) -> Iterator[str]:
    """Yield the pairs as SVG: an arrow from the skill that fires to the one whose queries it fires for."""
    pairs = [pair for pair in document.pairs if pair.relation in _SHOWN][:_MOST]
    names = sorted({name for pair in pairs for name in (pair.skill, pair.query_of)})
    if not names:
        return
    size = 2 * (_RADIUS + _MARGIN)
    places = {name: _place(number, len(names)) for number, name in enumerate(names)}
    label = f"Graph: {counted(len(pairs), 'pair')} of {counted(len(names), 'skill')}; the table of pairs has the same"
    yield f'<svg class="graph" width="{size}" height="{size}" viewBox="0 0 {size} {size}" role="img" '
    yield f'aria-label="{label}">'
    for kind in dict.fromkeys(_KINDS.values()):
        yield f'<marker id="head-{kind}" viewBox="0 0 8 8" refX="12" refY="4" markerWidth="9" markerHeight="9" '
        yield f'markerUnits="userSpaceOnUse" orient="auto"><path class="head {kind}" d="M0 0 8 4 0 8z"/></marker>'
    for pair in reversed(pairs):
        yield _arrow(pair, places)
    for name in names:
        yield from _node(name, places[name])
    yield "</svg>"


def _place(number: int, total: int) -> tuple[float, float]:
    angle = 2 * math.pi * number / total - math.pi / 2
    centre = _RADIUS + _MARGIN
    return centre + _RADIUS * math.cos(angle), centre + _RADIUS * math.sin(angle)


def _arrow(pair: PairRow, places: dict[str, tuple[float, float]]) -> str:
    (x1, y1), (x2, y2) = places[pair.skill], places[pair.query_of]
    centre = _RADIUS + _MARGIN
    # Arrows bend towards the middle, and the two directions of a pair bend differently.
    bend = 0.35 if pair.skill < pair.query_of else 0.55
    middle = [(a + b) / 2 + (centre - (a + b) / 2) * bend for a, b in ((x1, x2), (y1, y2))]
    kind = _KINDS[pair.relation]
    width = 1 + 3 * pair.instead / max(1, pair.sessions)
    title = escape(f"{plain(pair.skill)} {pair.relation} {plain(pair.query_of)}")
    path = f"M{x1:.1f} {y1:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {x2:.1f} {y2:.1f}"
    marker = f'marker-end="url(#head-{kind})"'
    return f'<path class="edge {kind}" d="{path}" stroke-width="{width:.1f}" {marker}><title>{title}</title></path>'


def _node(name: str, place: tuple[float, float]) -> Iterator[str]:
    x, y = place
    centre = _RADIUS + _MARGIN
    yield f'<circle class="node" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
    angle = math.degrees(math.atan2(y - centre, x - centre))
    is_left = abs(angle) > 90
    turn = angle + 180 if is_left else angle
    shift, side = (-10, " end") if is_left else (10, "")
    where = f"translate({x:.1f} {y:.1f}) rotate({turn:.1f})"
    yield f'<text class="name{side}" transform="{where}" x="{shift}" y="4">{_name(name)}</text>'


def _name(name: str) -> str:
    return escape(plain(cut(name, _NAME)))
