"""Say how far a run is: a bar on a terminal where rich is installed, sparse plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from types import TracebackType
from typing import Any, Self

from ..reading.environment import host_environment
from ..types.result import TrialResult

INTERVAL_S = 5.0


class PlainProgress:
    """A line on stderr every few seconds; nothing at all for a short run."""

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self._total = total
        self._quiet = quiet
        self._counts: Counter[str] = Counter()
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to end."""

    def finished(self, result: TrialResult) -> None:
        """Count, and print now and then."""
        self._counts[result.verdict] += 1
        now = time.monotonic()
        if not self._quiet and now - self._last >= INTERVAL_S:
            self._last = now
            done = sum(self._counts.values())
            counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(self._counts.items()))
            sys.stderr.write(f"{done}/{self._total} trials: {counts}\n")


class BarProgress:
    """A bar, by rich."""

    def __init__(self, total: int, rich_progress: Any) -> None:
        self._bar = rich_progress
        self._task = rich_progress.add_task("trials", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def finished(self, result: TrialResult) -> None:
        """Advance the bar."""
        self._bar.advance(self._task)


def make_progress(total: int, *, quiet: bool) -> PlainProgress | BarProgress:
    """The progress display that fits where stderr goes."""
    environ = host_environment()
    plain = quiet or not sys.stderr.isatty() or environ.get("TERM") == "dumb" or environ.get("CI")
    if not plain:
        try:
            from rich.console import Console  # noqa: PLC0415 - optional, and slow to import
            from rich.progress import Progress as RichProgress  # noqa: PLC0415
        except ImportError:
            pass
        else:
            return BarProgress(total, RichProgress(console=Console(stderr=True), transient=True))
    return PlainProgress(total, quiet=quiet)
