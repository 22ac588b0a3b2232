"""Text from outside and numbers as HTML, which cannot change what the page says or looks like."""

from __future__ import annotations

import sys

from markupsafe import Markup

from skillgauge.api import LINE, cut, plain


def text(value: object, limit: int = LINE) -> Markup:
    """Return text from outside as HTML that keeps its own reading direction to itself and says how much was cut."""
    whole = plain(value, limit=sys.maxsize)
    shown = Markup("<bdi>{}</bdi>").format(cut(whole, limit))
    if len(whole) > limit:
        shown += Markup(' <span class="cut">({:,} characters)</span>').format(len(whole))
    return shown


def dollars(value: float | None) -> str:
    """Return an amount of money with as many digits as small amounts need."""
    if value is None:
        return "–"
    if value == 0:
        return "0 USD"
    return f"{value:.2f} USD" if value >= 1 else f"{value:.4f} USD"
