"""Numbers as people read them, and text from outside that cannot change what the page says or looks like."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup, escape

from skillgauge.api import Figure

LINE = 200
"""Characters of an id, a name or a reason that are shown."""
EXCERPT = 2_000
"""Characters of an output that are shown, half from its beginning and half from its end."""

# Controls, direction overrides and marks, blanks of no width, tag characters, halves of surrogate pairs. What joins
# letters (U+200C, U+200D) stays: names in some scripts need it.
_LOOKS = (
    "\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_UNSEEN = re.compile(f"[\x00-\x1f{_LOOKS}]")
_UNSEEN_IN_LINES = re.compile(f"[\x00-\x08\x0b-\x1f{_LOOKS}]")
_ACCENTS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_TOWER = re.compile(f"([{_ACCENTS}]{{4}})[{_ACCENTS}]+")


@dataclass(frozen=True)
class Excerpt:
    """Some output, cut if it is long."""

    title: str
    text: str
    note: str
    """What was left out; empty if nothing was."""


def plain(value: object, limit: int = LINE) -> str:
    """Text from outside as one line without invisible characters, cut if it is long; not yet escaped."""
    return _cut(_one_line(str(value)), limit)


def text(value: object, limit: int = LINE) -> Markup:
    """The same as HTML that keeps its own reading direction to itself and says how much was cut."""
    whole = _one_line(str(value))
    shown = Markup("<bdi>{}</bdi>").format(_cut(whole, limit))
    if len(whole) > limit:
        shown += Markup(' <span class="cut">({:,} characters)</span>').format(len(whole))
    return shown


def excerpt(title: str, value: str, *, stream_was_cut: bool = False) -> Excerpt:
    """The beginning and the end of an output, line breaks kept."""
    notes = ["cut at its limit when it was read"] if stream_was_cut else []
    shown = value
    if len(value) > EXCERPT:
        half = EXCERPT // 2
        left_out = len(value) - EXCERPT
        shown = f"{value[:half]}\n[… {left_out:,} characters left out …]\n{value[-half:]}"
        notes.append(f"{left_out:,} of {len(value):,} characters left out in the middle")
    shown = _UNSEEN_IN_LINES.sub("\N{REPLACEMENT CHARACTER}", shown.replace("\r\n", "\n"))
    return Excerpt(title, _TOWER.sub(r"\1", shown), "; ".join(notes))


def percent(value: float | None) -> str:
    """A share as percent with one decimal; a dash if unknown."""
    return "–" if value is None else f"{value * 100:.1f}%"


def duration(seconds: float | None) -> str:
    """Milliseconds below a second, else seconds with one decimal; a dash if unknown."""
    if seconds is None:
        return "–"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def counted(count: int, what: str) -> str:
    """A number of things."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def number(value: float | None) -> str:
    """A number with two decimals; a dash if unknown."""
    return "–" if value is None else f"{value:.2f}"


def figure(value: Figure | None) -> Markup:
    """A number of the format's own; a dash if unknown."""
    if value is None or value.value is None:
        return Markup("–")
    match value.unit:
        case "ratio":
            return escape(percent(value.value))
        case "ms":
            return escape(duration(value.value / 1000))
        case "score":
            return escape(f"{value.value:.3f}")
        case _:
            return Markup("{:g} {}").format(value.value, text(value.unit)) if value.unit else escape(f"{value.value:g}")


def _one_line(value: str) -> str:
    line = _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", re.sub(r"[\t\n\r]+", " ", value)).strip()
    return _TOWER.sub(r"\1", line)


def _cut(value: str, limit: int) -> str:
    return value if len(value) <= limit else f"{value[: limit - 1]}…"
