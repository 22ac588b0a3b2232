"""Grades a number."""

from __future__ import annotations

from skillgauge.api import Score, ScoreContext

from .plugin import Options


class Tolerance:
    """Passes if the output is a number near enough to the expected one."""

    version = "1"

    def __init__(self, options: Options) -> None:
        self._options = options

    async def score(self, context: ScoreContext) -> Score:
        """Compare the execution's output."""
        output = context.execution.output
        if isinstance(output, bool) or not isinstance(output, int | float):
            return Score.failed(f"{output!r} is not a number")
        off = abs(output - self._options.expected)
        if off <= self._options.tolerance:
            return Score.passed(f"off by {off:g}")
        return Score.failed(f"off by {off:g}, allowed are {self._options.tolerance:g}")
