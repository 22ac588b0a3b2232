"""Numbers of the command line that click has no type for."""

from __future__ import annotations

import math
from typing import Any

import click

from ..config.configuration import MOST_RUNS
from ..evaluation.arguments import Detect


class Runs(click.ParamType[int | Detect]):
    """A number of repeats, or the word `auto`, with the points of lift that are to be shown or without."""

    name = "runs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | Detect:
        """Read it."""
        word, _, points = str(value).partition(":")
        if word != "auto":
            return int(click.IntRange(1, MOST_RUNS).convert(value, param, ctx))
        try:
            wanted = float(points or 50)
        except ValueError:
            wanted = math.nan
        if not 0 < wanted <= 100:
            self.fail(f"{value!r} is neither a number nor auto:POINTS with points from 1 to 100.", param, ctx)
        return Detect(wanted / 100)


class Number(click.FloatRange):
    """A number in a range; what no comparison holds for is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse NaN and infinity, which click takes for numbers."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number
