"""Keeping runs, telling of them, and deciding where their trials run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Protocol, runtime_checkable

from pydantic import Field, StringConstraints

from skillgauge_documents.frozen import Frozen
from skillgauge_documents.immutables import immutable

from ..types.kept import KeptExecution
from ..types.results.runs import RunInfo, RunSource, RunState, RunView
from ..types.results.trials import GivenUp, TrialResult, Unfinished
from ..types.trial import CaseHead, PlanHead, Trial
from ..types.usage import BudgetShare, BudgetStanding, ServiceShare, ServiceStanding, SharedBudget, SharedService

if TYPE_CHECKING:
    from ..types.results.summaries import Summary

_Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,59}$")]
_Value = Annotated[str, StringConstraints(min_length=1, max_length=200)]


@immutable
class Claimed:
    """Answer to a claim."""

    done: frozenset[str]
    """Trial ids that already have a committed result in this run."""
    attempts: Mapping[str, int]
    """For the other ids: how often each has now been claimed, this time included."""
    cut_off: Mapping[str, tuple[GivenUp, ...]] = field(default_factory=dict)
    """For those of the other ids that `RunLog.spend` was told of: the attempts of their earlier claims, in order."""


class RunLog(RunSource, Protocol):
    """The ledger of one run, which its results are read from, too."""

    @property
    def info(self) -> RunInfo:
        """Run id, start, and whether this run resumes an unfinished one."""

    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        """Record that these trials are about to start, and in the same step keep what reports tell of their cases.

        A case comes with the first of its trials, and may come again.
        """

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        """Keep results; they survive the death of the process when this returns. `paid`: power loss too.

        A result that was committed before is replaced, so that a caller who was cancelled may commit again.
        """

    async def spend(self, unfinished: Sequence[Unfinished]) -> None:
        """Keep what trials without a result have used so far; it survives the death of the process when this returns.

        What was kept for the same claim of a trial is replaced. Once a result of the trial is committed, it counts
        alone, since it names these attempts as well.
        """

    def unfinished(self) -> Iterator[Unfinished]:
        """Yield the usage that `spend` kept of trials without a result, in plan order, then by claim. Blocks."""

    async def finish(self, state: RunState, summary: Summary | None) -> RunInfo:
        """End the run. A run that is not `finished` can be resumed."""


@runtime_checkable
class KeepingLog(Protocol):
    """A `RunLog` that also keeps what was executed and is not graded yet.

    With one that does not, such executions are kept in memory: they survive a worker, and not the process.
    """

    async def keep(self, kept: KeptExecution) -> None:
        """Keep an execution in place of an earlier one of its trial; it survives a loss of power when this returns.

        It goes with the result of its trial: `RunLog.commit` of a paid one drops it in the same step. A run that has
        finished, or was given up for a fresh one, has none.
        """

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """Return what is kept for a trial of this run, to the letter."""


class RunQuery(Frozen):
    """A selection of stored runs; empty fields match all."""

    run_ids: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()
    """Ids of runs to leave out, for a caller that looks again and has read them."""
    suite_id: str | None = None
    target_id: str | None = None
    plan_id: str | None = None
    limit: int | None = None
    """Newest first."""

    def names(self, run_id: str) -> bool:
        """Tell whether a run of this id may be among the selected ones; a store asks it before it reads the run."""
        return (not self.run_ids or run_id in self.run_ids) and run_id not in self.without


class Store(Protocol):
    """Keep runs."""

    @property
    def durable(self) -> bool:
        """False if nothing outlives this process, so that nothing can be resumed."""

    async def begin(self, head: PlanHead, *, fresh: bool) -> RunLog:
        """Start a run, or resume the newest unfinished run of the same plan and signer that no process owns.

        With `fresh`, unfinished runs of that plan and signer that no process owns are given up: no later call resumes
        them. Runs of another signer (`PlanHead.signer`) are left as they are. Signatures in the head, in cases, results
        and the summary are kept like the rest of them; what they prove is not the store's business.

        Raises:
            StoreError: the store cannot be opened or belongs to another program.
        """

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        """Stored runs, newest first. Blocks; call it from a worker thread."""

    async def close(self) -> None:
        """Flush and close."""


class RunNotes(Frozen):
    """The words of people about a run. They find it again and never change what it means: no digest contains them."""

    name: Annotated[str, Field(max_length=200)] = ""
    note: Annotated[str, Field(max_length=10_000)] = ""
    labels: Annotated[tuple[tuple[_Key, _Value], ...], Field(max_length=50)] = ()
    """Keys and values, sorted by their keys, which are all different."""

    def has(self, labels: Mapping[str, str]) -> bool:
        """Tell whether the run bears all of these labels."""
        return labels.items() <= dict(self.labels).items()

    def changed(self, name: str | None, note: str | None, labels: Mapping[str, str]) -> RunNotes:
        """The same with another name and note, where one is given, and with labels set; an empty one is taken away.

        Raises:
            ValueError: one of them is too long, or a key has other characters than letters, digits and `._/-`.
        """
        remaining = {**dict(self.labels), **labels}
        return RunNotes(
            name=self.name if name is None else name,
            note=self.note if note is None else note,
            labels=tuple(sorted((key, value) for key, value in remaining.items() if value)),
        )


@runtime_checkable
class NotedStore(Protocol):
    """A store that also keeps what people say of its runs: of finished ones, and of those that go on."""

    def notes(self) -> Mapping[str, RunNotes]:
        """Return the words about runs, by their ids; runs of which nothing is said are left out. Blocks.

        Nobody signs it: it is the word of whoever can write the store, for looking at and for finding runs.
        """

    async def annotate(self, run_id: str, notes: RunNotes) -> bool:
        """Say this of a run in place of what was said; it survives the death of the process when this returns.

        Any process may, whoever owns the run. Returns false if the store has no such run.
        """


class TrialNotes(Frozen):
    """The words of people about a trial. They never change what it means: no digest contains them."""

    note: Annotated[str, Field(max_length=10_000)] = ""
    tags: Annotated[tuple[_Key, ...], Field(max_length=20)] = ()
    """Sorted, and all different."""


@runtime_checkable
class TrialNotedStore(Protocol):
    """A store that also keeps what people say of single trials."""

    def trial_notes(self, run_id: str) -> Mapping[int, TrialNotes]:
        """Return the words about trials of a run, by their places in the plan (`Trial.ordinal`). Blocks.

        Trials of which nothing is said are left out. Nobody signs it, see `NotedStore.notes`.
        """

    async def annotate_trial(self, run_id: str, ordinal: int, notes: TrialNotes) -> bool:
        """Say this of a trial in place of what was said; it survives the death of the process when this returns.

        Any process may, whoever owns the run. Returns false if the store has no result of such a trial.
        """


@runtime_checkable
class BudgetingStore(Protocol):
    """A store that also keeps how much its runs have spent of budgets that they share."""

    async def hold(self, budget: SharedBudget, run_id: str, share: BudgetShare, *, must_fit: bool) -> BudgetStanding:
        """Put the share of a run in place of its earlier one, in one step with looking at those of all others.

        It fits as long as less than the budget is spent, and what is spent and expected is no more than it. A trial of
        a run that does not know its dearest one is expected to cost as much as the dearest of all runs; where no run
        knows one, it fits if no other trial is under way in a run that goes on. Nobody signs shares: whoever can write
        the store can refill a budget. They stay when their run is deleted.

        Args:
            budget: which. A share counts in the period in which its amount was spent.
            run_id: a run of this store.
            share: asked for.
            must_fit: whether the earlier share stays if this one does not fit.
        """


@runtime_checkable
class LimitingStore(Protocol):
    """A store that also keeps how many sessions its runs have at services that they share."""

    async def occupy(
        self, service: SharedService, run_id: str, share: ServiceShare, *, must_fit: bool
    ) -> ServiceStanding:
        """Put the share of a run in place of its earlier one, in one step with looking at those of all others.

        It fits as long as the service pauses for nobody, and all sessions are no more than it gets, with one for each
        run that waits and would still have fewer than this one. Sessions of a run that nobody works on do not count. A
        pause lasts as long as the longest that any run was asked for. Nobody signs shares: whoever can write the store
        can hold others up.

        Args:
            service: which.
            run_id: a run of this store.
            share: asked for.
            must_fit: whether, if this one does not fit, the sessions of the earlier share stay, and the run waits.
        """


@runtime_checkable
class Archive(Protocol):
    """A store that also takes in runs which were carried out elsewhere."""

    async def keep(self, view: RunView) -> bool:
        """Store a finished run under its own id and times, all of it or nothing; false if one of that id is there.

        Raises:
            ValueError: the run has not finished, so that it could be taken for one to resume.
            StoreError: it cannot be stored.
        """
