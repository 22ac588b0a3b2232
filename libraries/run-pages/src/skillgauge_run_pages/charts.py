"""Numbers from run to run as geometry, which a template draws as SVG beside a table of the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

WIDTH = 640
HEIGHT = 160
_LEFT = 64
"""Room for the words of the scale."""
_RIGHT = 12
_TOP = 10
_BOTTOM = 14


@dataclass(frozen=True)
class Mark:
    """A number with its bounds; `None` is unknown."""

    value: float | None
    lower: float | None
    upper: float | None
    text: str
    change: str = ""
    """What changed since the mark before, in words."""


@dataclass(frozen=True)
class Point:
    """A mark in the picture."""

    x: float
    y: float
    top: float | None
    bottom: float | None
    text: str


@dataclass(frozen=True)
class Chart:
    """A picture of numbers in their order, the oldest on the left."""

    title: str
    ticks: tuple[tuple[float, str], ...]
    """Height of each line of the scale, and its words."""
    points: tuple[Point, ...]
    lines: tuple[str, ...]
    """Points of the line through neighbours that are both known."""
    summary: str
    """The picture in words."""
    changes: tuple[tuple[float, str], ...] = ()
    """Place between two marks at which something changed, and what, in words."""
    width: int = WIDTH
    height: int = HEIGHT
    scale_start: int = _LEFT
    scale_end: int = WIDTH - _RIGHT


def chart(
    title: str, marks: Sequence[Mark], *, least: float, most: float, shown: Callable[[float | None], str]
) -> Chart:
    """Return the picture of some numbers.

    Args:
        title: what they are.
        marks: the numbers, oldest first.
        least: value at the lower edge.
        most: value at the upper edge.
        shown: a value in words, for the scale.
    """

    def height(value: float) -> float:
        share = (min(max(value, least), most) - least) / (most - least)
        return round(_TOP + (1 - share) * (HEIGHT - _TOP - _BOTTOM), 1)

    room = WIDTH - _LEFT - _RIGHT
    step = room / max(1, len(marks) - 1)
    points = [
        Point(
            x=round(_LEFT + (place * step if len(marks) > 1 else room / 2), 1),
            y=height(mark.value),
            top=None if mark.upper is None else height(mark.upper),
            bottom=None if mark.lower is None else height(mark.lower),
            text=mark.text,
        )
        if mark.value is not None
        else None
        for place, mark in enumerate(marks)
    ]
    middle = (least + most) / 2
    return Chart(
        title=title,
        ticks=tuple((height(value), shown(value)) for value in (most, middle, least)),
        points=tuple(point for point in points if point),
        lines=tuple(_lines(points)),
        summary=_summary(title, marks),
        changes=tuple(
            (round(_LEFT + (place - 0.5) * step, 1), mark.change) for place, mark in enumerate(marks) if mark.change
        ),
    )


def _lines(points: Sequence[Point | None]) -> Iterator[str]:
    part: list[str] = []
    for point in (*points, None):
        if point is not None:
            part.append(f"{point.x},{point.y}")
            continue
        if len(part) > 1:
            yield " ".join(part)
        part = []


def _summary(title: str, marks: Sequence[Mark]) -> str:
    texts = [mark.text for mark in marks if mark.value is not None]
    if not texts:
        return f"{title}: unknown"
    if len(texts) == 1:
        return f"{title}: {texts[0]} in one run"
    return f"{title}: from {texts[0]} to {texts[-1]} over {len(texts)} runs; the table has the numbers"
