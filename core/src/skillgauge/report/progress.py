"""Sources of runs that do more than give all results: tell how far a run is, and give parts of it.

Whoever watches a run needs counts, and the sessions that are under way; whoever lists trials needs no transcripts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Protocol, runtime_checkable

from pydantic import Field

from skillgauge_documents.frozen import Frozen
from skillgauge_documents.immutables import immutable

from ..types.arms import GroupKey
from ..types.results.runs import ResultOrder, RunSource
from ..types.results.trials import TrialResult, Unfinished, Verdict
from ..types.trajectory import Trajectory
from ..types.trial import Trial


class UnderWay(Frozen):
    """A session that was claimed and has no result yet."""

    trial_id: str
    ordinal: int
    """Position of the trial in the plan."""
    suite_id: str
    case_index: int
    case_id: str
    target_id: str | None = None
    arm: str
    runner: str
    model: str | None = None
    repeat: int = Field(ge=1)
    since: float
    """Seconds since the epoch, by the clock of the process that claimed it."""
    where: str = ""
    """The machine and process that claimed it, for people."""
    last_step: str = ""
    """The last step that was stored of it, as in `Unfinished.last_step`; empty if it is not known."""

    @classmethod
    def of(cls, trial: Trial, *, since: float, where: str) -> UnderWay:
        """Return what is to be told of a trial that was claimed."""
        return cls(
            trial_id=trial.trial_id,
            ordinal=trial.ordinal,
            suite_id=trial.suite_id,
            case_index=trial.case_index,
            case_id=trial.case.id,
            target_id=trial.target_id,
            arm=trial.arm.name,
            runner=trial.runner.name,
            model=trial.model,
            repeat=trial.repeat,
            since=since,
            where=where,
        )

    def after(self, spent: Unfinished | None) -> UnderWay:
        """Return the same with the last step that is stored of the claim under way, if anything is."""
        return self.model_copy(update={"last_step": spent.last_step}) if spent and spent.last_step else self


@immutable
class Progress:
    """The state of a run at one moment. Nobody has signed it: it is for looking at, and nothing may rest on it."""

    counts: Mapping[GroupKey, Mapping[Verdict, int]]
    """Committed results by group and verdict; a group or verdict without any is left out."""
    under_way: tuple[UnderWay, ...] = ()
    """Sessions without a result, in plan order. In a run that no process works on, they were cut off."""

    @property
    def done(self) -> int:
        """Committed results of all groups."""
        return sum(sum(by_verdict.values()) for by_verdict in self.counts.values())

    @property
    def by_verdict(self) -> dict[Verdict, int]:
        """The same by verdict, without those that no result has."""
        totals: Counter[Verdict] = Counter()
        for by_verdict in self.counts.values():
            totals.update(by_verdict)
        return dict(totals)


@runtime_checkable
class Followed(Protocol):
    """A `RunSource` that tells how far a run is without reading its results, so that many may ask every second."""

    def progress(self) -> Progress:
        """Return counts and sessions under way, of all processes that write into the run. Blocks."""

    def results_since(self, after: int) -> Iterator[tuple[int, TrialResult]]:
        """Results in the order in which they were committed, each with a cursor to go on behind. Blocks.

        They come `abridged`. A result that was committed again comes again, so of a trial the last one counts.

        Args:
            after: the last cursor that was seen; 0 at first.
        """


@runtime_checkable
class Parted(Protocol):
    """A `RunSource` that gives parts of a run without reading all of it."""

    def abridged(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """The same as `RunSource.results`, without what agents did step by step: see `abridged`. Blocks."""

    def of_case(self, suite_id: str, case_index: int) -> Iterator[TrialResult]:
        """The results of one case, in the order of `ResultOrder.CASE`. Blocks.

        Args:
            suite_id: the suite of the case.
            case_index: the place of the case in the suite.
        """

    def of_trial(self, ordinal: int) -> TrialResult | None:
        """Return the result of the trial at this place in the plan, if there is one. Blocks."""


def abridged(result: TrialResult) -> TrialResult:
    """Return a result without the events of its trajectory, and without the engine's own stream of them."""
    trajectory = result.execution.trajectory
    if trajectory is None or (not trajectory.events and trajectory.raw is None):
        return result
    return with_trajectory(result, trajectory.model_copy(update={"events": (), "raw": None}))


def with_trajectory(result: TrialResult, trajectory: Trajectory) -> TrialResult:
    """Return a result with another trajectory."""
    execution = result.execution.model_copy(update={"trajectory": trajectory})
    return result.model_copy(update={"execution": execution})


def abridged_results(
    source: RunSource, order: ResultOrder = ResultOrder.PLAN, group: GroupKey | None = None
) -> Iterator[TrialResult]:
    """Results without what agents did step by step, of all groups or of one: for lists and figures. Blocks."""
    if isinstance(source, Parted):
        return source.abridged(order, group)
    return map(abridged, source.results(order, group))


def results_of_case(source: RunSource, suite_id: str, case_index: int) -> Iterator[TrialResult]:
    """The results of one case, in the order of `ResultOrder.CASE`; who cannot choose reads up to it. Blocks."""
    if isinstance(source, Parted):
        return source.of_case(suite_id, case_index)
    by_case = groupby(source.results(ResultOrder.CASE), key=lambda one: (one.suite_id, one.case_index))
    return next((results for place, results in by_case if place == (suite_id, case_index)), iter(()))


def result_of_trial(source: RunSource, ordinal: int) -> TrialResult | None:
    """Return the result at a place in the plan; a source that cannot choose reads up to it. Blocks."""
    if isinstance(source, Parted):
        return source.of_trial(ordinal)
    return next((one for one in source.results(ResultOrder.PLAN) if one.ordinal == ordinal), None)


def progress_of(source: RunSource) -> Progress:
    """Return how far a run is; where its source cannot tell, its results are counted, and none is under way. Blocks."""
    if isinstance(source, Followed):
        return source.progress()
    counts: dict[GroupKey, dict[Verdict, int]] = {}
    for result in source.results(ResultOrder.PLAN):
        count(counts, result.group, result.verdict)
    return Progress(counts)


def count(counts: dict[GroupKey, dict[Verdict, int]], group: GroupKey, verdict: Verdict) -> None:
    """Count one more result."""
    by_verdict = counts.setdefault(group, {})
    by_verdict[verdict] = by_verdict.get(verdict, 0) + 1
