"""Text from outside and numbers as HTML, which cannot change what the page says or looks like."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from markupsafe import Markup

from skillgauge.api import LINE, cut, plain, plain_lines

EXCERPT = 2_000
"""Characters of an output that are shown, half from its beginning and half from its end."""


@dataclass(frozen=True)
class Excerpt:
    """Some output, cut if it is long."""

    title: str
    text: str
    note: str
    """What was left out; empty if nothing was."""


def text(value: object, limit: int = LINE) -> Markup:
    """The same as HTML that keeps its own reading direction to itself and says how much was cut."""
    whole = plain(value, limit=sys.maxsize)
    shown = Markup("<bdi>{}</bdi>").format(cut(whole, limit))
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
    return Excerpt(title, plain_lines(shown), "; ".join(notes))
