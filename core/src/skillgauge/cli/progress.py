"""Say how far a run is: a bar on a terminal where rich is installed, sparse plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from ..reading.environment import host_environment
from ..types.result import TrialResult
from ..types.trial import TrajectoryEvent, Trial
from .streams import shown_streams

INTERVAL_S = 5.0
_STEP_LENGTH = 80


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
        self._say(", ".join(f"{count} {verdict}" for verdict, count in sorted(self._counts.items())))

    def step(self, trial: Trial, event: TrajectoryEvent) -> None:
        """Say now and then what an agent does, since minutes may pass until it has finished."""
        self._say(_step(trial, event))

    def _say(self, text: str) -> None:
        now = time.monotonic()
        if not self._quiet and now - self._last >= INTERVAL_S:
            self._last = now
            sys.stderr.write(f"{sum(self._counts.values())}/{self._total} trials: {text}\n")


class BarProgress:
    """A bar, by rich."""

    def __init__(self, total: int, rich_progress: Any) -> None:
        self._bar = rich_progress
        self._task = rich_progress.add_task("trials", total=total)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(self._bar)  # what others print meanwhile goes to it, by way of streams of its own
        self._stack.enter_context(shown_streams())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def finished(self, result: TrialResult) -> None:
        """Advance the bar."""
        self._bar.advance(self._task)

    def step(self, trial: Trial, event: TrajectoryEvent) -> None:
        """Show what an agent does."""
        self._bar.update(self._task, description=_step(trial, event).replace("[", "("))  # no markup of rich


def _step(trial: Trial, event: TrajectoryEvent) -> str:
    """What an agent does, in a few words that cannot do anything to a terminal."""
    text = f"{trial.case.id} ({trial.arm.name}): {event.kind} {event.name or ''}".strip()
    return "".join(character for character in text if character.isprintable())[:_STEP_LENGTH]


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
            terminal = Console(file=getattr(sys.stderr, "unfiltered", sys.stderr))
            return BarProgress(total, RichProgress(console=terminal, transient=True))
    return PlainProgress(total, quiet=quiet)
