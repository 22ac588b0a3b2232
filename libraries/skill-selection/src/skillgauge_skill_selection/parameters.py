"""Values of options that several commands take."""

from __future__ import annotations

import math

import click


class RateType(click.FloatRange):
    """A rate from 0 to 1.

    click's own range lets NaN through, with which no comparison holds: a filter would pass nothing, or everything.
    """

    name = "rate"

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; what is none, or outside 0 to 1, is a usage error."""
        rate = float(super().convert(value, param, ctx))
        if math.isnan(rate):
            self.fail(f"{value!r} is not in the range 0<=x<=1.", param, ctx)
        return rate


RATE = RateType()
