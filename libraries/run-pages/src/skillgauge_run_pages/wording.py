"""Text from outside and numbers as HTML, which cannot change what the page says or looks like."""

from __future__ import annotations

import sys

from markupsafe import Markup, escape

from skillgauge.api import LINE, cut, plain


def text(value: object, limit: int = LINE) -> Markup:
    """Return text from outside as HTML that keeps its own reading direction to itself and says how much was cut."""
    whole = plain(value, limit=sys.maxsize)
    cut_off = f' <span class="cut">({len(whole):,} characters)</span>' if len(whole) > limit else ""
    # `Markup.format` escapes in Python, and takes ten times as long.
    return Markup(f"<bdi>{escape(cut(whole, limit))}</bdi>{cut_off}")


def dollars(value: float | None) -> str:
    """Return an amount of money with as many digits as small amounts need."""
    if value is None:
        return "–"
    if value == 0:
        return "0 USD"
    return f"{value:.2f} USD" if value >= 1 else f"{value:.4f} USD"
