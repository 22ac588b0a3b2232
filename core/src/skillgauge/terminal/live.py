"""The live display of a run under way, by rich: imported on terminals only."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..decide.tally import Counting, Tally, clock_text
from ..types.results.trials import Verdict
from .streams import shown_streams

STYLES = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.ERROR: "yellow", Verdict.SKIPPED: "dim"}
_STEPS = 6
"""Trials under way that are shown."""
_LEAST_BAR = 8


class LiveProgress(Counting):
    """A bar, what became of each arm's trials, and what every agent does at the moment.

    Args:
        tally: what is counted.
        terminal: where it is shown.
        color: whether in colours.
    """

    def __init__(self, tally: Tally, terminal: TextIO, *, color: bool = True) -> None:
        super().__init__(tally)
        console = Console(file=getattr(terminal, "unfiltered", terminal), no_color=not color, highlight=False)
        self._live = Live(self, console=console, refresh_per_second=4, transient=True)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(self._live)  # what others print meanwhile goes to it, by way of streams of its own
        self._stack.enter_context(shown_streams())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lines that are as wide as the terminal at most; what does not fit is cut."""
        tally = self._tally
        count = tally.count
        figures = tally.figures()
        row = Table.grid(padding=(0, 1))
        room = options.max_width - len(count) - len(figures) - 2
        cells: list[RenderableType] = [Text(count, style="bold")]
        if room >= _LEAST_BAR:
            cells.append(_bar(tally, min(room, 40)))
        row.add_row(*cells, Text(figures))
        yield row
        for arm, counts in tally.counts():
            line = Text("  ", no_wrap=True, overflow="ellipsis")
            line.append(f"{arm}: " if arm else "")
            line.append_text(Text(", ").join(Text(text, style=STYLES[verdict]) for verdict, text in counts))
            yield line
        steps = tally.steps
        for text, since_s in steps[:_STEPS]:
            yield Text(f"  {clock_text(since_s)} {text}", style="dim", no_wrap=True, overflow="ellipsis")
        if len(steps) > _STEPS:
            yield Text(f"  and {len(steps) - _STEPS} more under way", style="dim", no_wrap=True, overflow="ellipsis")


def _bar(tally: Tally, width: int) -> ProgressBar:
    return ProgressBar(total=max(tally.total, 1), completed=tally.done, width=width)
