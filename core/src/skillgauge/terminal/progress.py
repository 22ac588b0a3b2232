"""Say how far a run is: a live display on a terminal where rich is installed, sparse plain lines elsewhere."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from skillgauge_documents.characters import plain
from skillgauge_documents.phrases import duration

from ..decide.tally import STEP, Clock, Counting, Tally, clock_text, step_text, trial_name
from ..report.wording import reason_of
from ..types.results.trials import TrialResult, Verdict
from ..types.trajectory import TrajectoryEvent
from ..types.trial import Trial
from .terminal import is_live, takes_color

if TYPE_CHECKING:
    from .live import LiveProgress

FIRST_S = 1.0
"""Seconds until the first line: a shorter run needs none."""
INTERVAL_S = 5.0
"""Seconds between two lines, at least; the longer a run takes, the fewer it prints."""
MOST_S = 60.0
_SHARE = 10
"""A line is due when a run has taken a tenth longer."""
_REASON = 200


class PlainProgress(Counting):
    """A line on stderr now and then; nothing at all for a short run.

    Args:
        total: trials of the run.
        clock: seconds since some moment.
        at_most: whether the run may end before all of them.
    """

    def __init__(self, total: int, clock: Clock = time.monotonic, *, at_most: bool = False) -> None:
        super().__init__(Tally(total, clock, at_most=at_most))
        self._due_s = FIRST_S
        self._timer: asyncio.TimerHandle | None = None
        self._printed: int | None = None
        """Trials that were done when the last line was printed."""

    def __enter__(self) -> Self:
        self._wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Say what it came to in the end, if anything was said before and more was done since."""
        if self._timer:
            self._timer.cancel()
        if self._printed not in (None, self._tally.done):
            self._print(self._tally.line())

    def tick(self) -> None:
        """Print a line if one is due, though nothing has happened since the last one."""
        elapsed = self._tally.elapsed_s
        if elapsed >= self._due_s:
            self._due_s = elapsed + min(max(INTERVAL_S, elapsed / _SHARE), MOST_S)
            self._print(self._tally.line())
            self._printed = self._tally.done

    def _wait(self) -> None:
        with suppress(RuntimeError):  # without a loop nothing runs that takes long
            self._timer = asyncio.get_running_loop().call_later(FIRST_S, self._again)

    def _again(self) -> None:
        self.tick()
        self._wait()

    def _print(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")


class Narration(PlainProgress):
    """Every step of every agent and the end of every trial, in a line each."""

    def started(self, trial: Trial) -> None:
        """Say that a trial begins."""
        super().started(trial)
        self._say(f"{trial_name(trial)} begins")

    def step(self, trial: Trial, event: TrajectoryEvent) -> None:
        """Say what an agent does."""
        super().step(trial, event)
        self._say(f"{trial_name(trial)} {step_text(event, 3 * STEP)}")

    def finished(self, result: TrialResult) -> None:
        """Say what became of a trial, and why."""
        name = self._tally.name(result)
        super().finished(result)
        parts = [f"{name} {result.verdict} in {duration(result.execution.duration_s)}"]
        if result.verdict is not Verdict.PASS:
            parts.append(plain(reason_of(result).strip().partition("\n")[0], _REASON))
        self._say(": ".join(filter(None, parts)))

    def _say(self, text: str) -> None:
        self._print(f"{clock_text(self._tally.elapsed_s)}  {text}")


class Silence(PlainProgress):
    """Nothing."""

    def _print(self, text: str) -> None:
        """Say nothing."""


def make_progress(
    total: int, *, at_most: bool = False, quiet: bool, verbose: bool = False, no_color: bool = False
) -> PlainProgress | LiveProgress:
    """The progress display that fits where stderr goes, and what the user wants to hear."""
    if quiet:
        return Silence(total, at_most=at_most)
    if verbose:
        return Narration(total, at_most=at_most)
    if is_live(sys.stderr):
        with suppress(ImportError):
            from .live import LiveProgress  # noqa: PLC0415 - rich is optional, and slow to import

            tally = Tally(total, at_most=at_most)
            return LiveProgress(tally, sys.stderr, color=takes_color(sys.stderr, no_color=no_color))
    return PlainProgress(total, at_most=at_most)
