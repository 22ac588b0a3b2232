"""What an executor must do: decide where trials run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol

from ..types.result import TrialResult
from ..types.trial import Trial

RunTrial = Callable[[Trial], Awaitable[TrialResult]]


class Results(Protocol):
    """Results of the trials of a run, as they come."""

    complete: bool
    """Once the iteration has ended: whether every trial gave a result."""

    def __aiter__(self) -> AsyncIterator[TrialResult]: ...

    async def __anext__(self) -> TrialResult: ...

    def stop(self) -> None:
        """Start no more trials and cancel those under way; the iteration ends after what had finished."""

    async def aclose(self) -> None:
        """Cancel what is under way and wait until it has stopped."""


class Executor(Protocol):
    """Decide where trials run. The kernel brings the one for this process."""

    def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> Results:
        """Run every trial once. An exception of `run_trial` ends the iteration: it is nobody's trial."""
