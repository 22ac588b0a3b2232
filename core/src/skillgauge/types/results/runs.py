"""The progress of a run, and the place from which its results are read.

Numbers and their evidence are no part of it: what plans, lists or watches runs does without importing them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from skillgauge_documents.frozen import Frozen

from ..arms import GroupKey
from ..trial import CaseHead, PlanHead
from .trials import TrialResult

if TYPE_CHECKING:
    from ..decided import Decided
    from .summaries import Summary


class RunState(StrEnum):
    """The progress of a run."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"
    """A budget ended it."""


class RunInfo(Frozen):
    """The time and place at which a plan was carried out."""

    run_id: str
    state: RunState
    started_at: float
    """Seconds since the epoch."""
    finished_at: float | None = None
    resumed: bool = False


class ResultOrder(StrEnum):
    """Order in which results are read."""

    PLAN = "plan"
    CASE = "case"
    """By suite, then case, then target, runner, model, arm, then repeat: all that happened to a case lies together."""


class RunVerdict(StrEnum):
    """The meaning of a run for the machine that waits for it, as the exit code has it. Closed."""

    PASSED = "passed"
    """It ended well: every gate that was asked is met."""
    FAILED = "failed"
    """A gate was missed, or the first failure was to end it."""
    ERROR = "error"
    """It proves nothing, leaves a gate open, or was made of files that could not all be read."""
    INCOMPLETE = "incomplete"
    """A budget or an interruption ended it."""
    EMPTY = "empty"
    """It ended well, and there was nothing to run."""


class RunSource(Protocol):
    """The place from which the results and cases of a run are read, as often as they are asked for."""

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """Committed results, of all groups or of one. Blocks; call it from a worker thread."""

    def cases(self) -> Iterator[CaseHead]:
        """Yield the known facts of the cases, once each, by suite id and place in the suite. Blocks, too."""


class Kept:
    """The source of a run that is in memory.

    Args:
        results: makes all results, in plan order; called once, when the first is asked for.
        cases: what is known of the cases, in any order.
    """

    def __init__(self, results: Callable[[], Iterable[TrialResult]], cases: Iterable[CaseHead] = ()) -> None:
        self._make = results
        self._cases = sorted(cases, key=lambda case: (case.suite_id, case.index))

    @cached_property
    def _by_group(self) -> dict[GroupKey | None, list[TrialResult]]:
        by_group: dict[GroupKey | None, list[TrialResult]] = {None: list(self._make())}
        for result in by_group[None]:
            by_group.setdefault(result.group, []).append(result)
        return by_group

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """See `RunSource.results`."""
        results = self._by_group.get(group, [])
        return iter(results if order is ResultOrder.PLAN else sorted(results, key=case_order))

    def cases(self) -> Iterator[CaseHead]:
        """See `RunSource.cases`."""
        return iter(self._cases)


def case_order(result: TrialResult) -> tuple[str | int, ...]:
    """Sort key of `ResultOrder.CASE`."""
    place = (result.suite_id, result.case_index)
    return (*place, result.target_id or "", result.runner, result.model or "", result.arm, result.repeat)


@dataclass(frozen=True)
class RunView:
    """All that a reporter reads."""

    run: RunInfo
    head: PlanHead
    summary: Summary
    source: RunSource
    verdict: RunVerdict | None = None
    """The meaning of the run by the gates that were asked of it; `None` if nobody has asked, or a document does not
    tell."""
    decided: Decided | None = None
    """The answers of its gates and what changed since an earlier run, for reports; `None` as above."""

    def results(self, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """The results of the run, or of one group, in plan order; they stream, as often as they are asked for."""
        return self.source.results(ResultOrder.PLAN, group)

    def cases(self) -> Iterator[CaseHead]:
        """Yield the known facts of the cases, once each, by suite id and place in the suite."""
        return self.source.cases()
