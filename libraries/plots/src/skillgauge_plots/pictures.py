"""Pictures: what a plot function returns, in the style that all of them share.

No state of matplotlib is changed: figures are made without `pyplot`, and the style holds for one picture.
"""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skillgauge.api import plain

INK, FAINT, GRID = "#1f2328", "#59636e", "#d8dee4"
COLOURS = ("#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#57606a")
"""Of series, in their order; each has its own mark, too, so that no reader depends on colours."""
MARKS = "osD^vP"
BETTER, WORSE, OPEN = "#1a7f37", "#cf222e", "#57606a"

_STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 10,
    "svg.fonttype": "none",  # text stays text, which can be searched, read aloud and set in the font of a paper
    "svg.hashsalt": "skillgauge",  # the same picture has the same bytes
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
}
NAME = 48
"""Characters of a name."""


@dataclass(frozen=True)
class Picture:
    """A plot. A notebook shows it as SVG."""

    figure: Figure
    """The figure of matplotlib, to be changed at will."""
    title: str
    description: str
    """The same in words, for those who cannot see it."""

    def svg(self) -> str:
        """Return it as an SVG document."""
        with mpl.rc_context(_STYLE), warnings.catch_warnings(), io.StringIO() as written:
            # The reader's program draws the text, in whatever fonts it has; here its width alone is estimated.
            warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")
            self.figure.savefig(written, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
            document = written.getvalue()
        words = f"<title>{escape(self.title)}</title><desc>{escape(self.description)}</desc>"
        start, begin, rest = document.partition("<svg ")
        attributes, close, content = rest.partition(">")
        return f'{start}{begin}role="img" aria-label={quoteattr(self.title)} {attributes}{close}{words}{content}'

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file, in the form of its ending: svg, pdf, png, ...; return the path."""
        target = Path(path)
        if target.suffix == ".svg":
            target.write_text(self.svg(), encoding="utf-8")
        else:
            with mpl.rc_context(_STYLE):
                self.figure.savefig(target, bbox_inches="tight", dpi=200)
        return target

    def _repr_svg_(self) -> str:
        """Return the picture alone, as it stands in a page."""
        return re.sub(r"\A.*?(?=<svg\b)", "", self.svg(), flags=re.DOTALL)


def picture(draw: Callable[[Axes], None], *, size: tuple[float, float], title: str, description: str) -> Picture:
    """Draw a picture.

    Args:
        draw: draws on the axes.
        size: inches.
        title: what it shows.
        description: the same in words.
    """
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=size)
        draw(figure.subplots())
    return Picture(figure, title, description)


def named(name: str | None) -> str:
    """Return a name from outside as one short line."""
    return plain(name or "", NAME)


def labelled(axes: Axes, along: str, upwards: str = "") -> None:
    """Name the axes and draw a light grid."""
    axes.set_xlabel(along)
    if upwards:
        axes.set_ylabel(upwards)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
