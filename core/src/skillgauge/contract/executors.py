"""The obligations of an executor, which decides where trials run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Protocol

from skillgauge_documents.immutables import immutable

from ..types.kept import KeptExecution
from ..types.results.trials import GivenUp, TrialResult
from ..types.trajectory import TrajectoryEvent
from ..types.trial import Failure, Trial

RunTrial = Callable[[Trial], Awaitable[TrialResult]]


class Keeper(Protocol):
    """Keeps executions that were paid for and came to their end, until the trial has its result.

    The first process has one. Who makes attempts elsewhere gives its workers another that asks it, over whatever
    connects them: both values are JSON (`model_dump_json`).
    """

    async def keep(self, kept: KeptExecution) -> None:
        """Keep an execution, in place of an earlier one of its trial; it survives this process when this returns.

        It may come from an attempt that an earlier process of the run began, once its trial is drawn again and before
        another attempt is made.
        """

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """Return what is kept for a trial, so that it is graded and not executed again; `None` if there is nothing."""


@immutable
class RunFiles:
    """The files and folders of a run, for workers that have no folder in common with the first process.

    Places are relative to the folder where the run began, or begin with `~/`, as in its recipe.
    """

    roots: Mapping[str, Path]
    """Files and folders that a worker needs, with all below them, by place."""
    folders: tuple[str, ...] = ()
    """Places of folders that have to be there, whatever is in them."""


class PortableRunTrial(Keeper, Protocol):
    """The kernel's `run_trial`, as far as it is more than a `RunTrial`: other processes may make its attempts.

    An executor that hands what a worker keeps to `keep`, and answers the worker when that has returned, and that gives
    the worker what `kept` gives for the trial, has nothing executed twice that was finished.
    """

    concurrency: int
    """Trials that may be under way at once."""
    recipe: bytes
    """What `skillgauge.api.run.worker` makes the attempts from in another process: a `Recipe`, as JSON in UTF-8. Empty
    if the run was not made from options, as in tests. It names secrets that the run knows, and holds no value of one.
    """
    run_id: str
    """Of the run, also when another process goes on with it; no other run has it. What a worker finished when the first
    process was gone may wait under this id, for `keep` of the one that goes on.
    """

    def files(self) -> RunFiles:
        """Return what a worker needs that has no folder in common; `skillgauge-run-content` lays it down there."""

    def elsewhere(self, attempt: Callable[[Trial], Awaitable[TrialResult | Failure]]) -> RunTrial:
        """Return a function that runs trials in this process, with each attempt made by another.

        Events, retries, the budget and the care for engines' services stay here.

        Args:
            attempt: makes one attempt and gives what the worker made of it, or why there is nothing. Cancelled, it
                ends when the attempt has stopped.
        """

    def spent(self, trial_id: str, attempt: GivenUp) -> None:
        """Tell what an attempt that is made elsewhere has used so far, in case it does not come to its end."""

    def step(self, trial: Trial, event: TrajectoryEvent) -> None:
        """Tell what the agent of an attempt that is made elsewhere has just done, for who watches the run."""


class Results(Protocol):
    """Results of the trials of a run, as they come."""

    @property
    def complete(self) -> bool:
        """Once the iteration has ended: whether every trial gave a result."""

    def __aiter__(self) -> AsyncIterator[TrialResult]:
        """Each result once, in the order in which they come."""

    def stop(self) -> None:
        """Start no more trials and cancel those under way; the iteration ends after what had finished."""

    async def aclose(self) -> None:
        """Cancel what is under way and wait until it has stopped."""


class Executor(Protocol):
    """Decide where trials run. The kernel brings the one for this process."""

    def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> Results:
        """Run every trial once. An exception of `run_trial` ends the iteration: it is nobody's trial.

        Args:
            trials: drawn only as fast as they are run, because each is claimed when it is drawn.
            run_trial: runs one in this process; the kernel's is a `PortableRunTrial`, too.
        """
