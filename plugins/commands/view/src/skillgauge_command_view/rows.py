"""A run as one row of a list: made of its head and its summary alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skillgauge.api import DIRECT, RunNotes
from skillgauge.api.report import (
    CaseCounts,
    Counts,
    GroupSummary,
    RunState,
    RunVerdict,
    RunView,
    compared,
    differing,
    groups_under_test,
    headline_text,
    passed_text,
    rated_figures,
    verdict_for,
)
from skillgauge.api.run import why_summary_foreign

_VERDICTS = {
    RunVerdict.PASSED: "gates met",
    RunVerdict.FAILED: "gate missed",
    RunVerdict.ERROR: "inconclusive",
    RunVerdict.INCOMPLETE: "incomplete",
    RunVerdict.EMPTY: "empty",
}


@dataclass(frozen=True)
class Lift:
    """The lift of one comparison of a run, as fractions."""

    name: str
    """What tells it from the others of the run; empty if it is the only one."""
    suite: str
    target: str | None
    model: str | None
    runner: str
    candidate: str
    baseline: str
    estimate: float
    lower: float
    upper: float
    n: int


@dataclass(frozen=True)
class RunRow:
    """A run in a list."""

    key: str
    """Its name in addresses."""
    source: str
    run_id: str
    started_at: float
    took_s: float | None
    state: RunState
    verdict: RunVerdict
    suites: tuple[str, ...]
    targets: tuple[str, ...]
    engines: tuple[str, ...]
    models: tuple[str, ...]
    results: str
    """The cases that passed, in words."""
    passed: float | None
    """The share of cases that passed, from 0 to 1; `None` if no case was graded."""
    lifts: tuple[Lift, ...]
    errors: int
    trials: int
    cost_usd: float | None
    """`None` if nothing of the run tells what it used."""
    cost_is_partial: bool
    invalid: tuple[str, ...]
    """Suites of which it proves nothing."""
    has_gates: bool
    """Whether it is known that any gate was asked; a store keeps those of the suites themselves alone."""
    foreign: str
    """The reason why it is not the user's own word; empty if it is."""
    notes: RunNotes | None = None
    """The words of people about it; `None` if its place keeps no such words."""

    @property
    def name(self) -> str:
        """The name that people gave it; empty if they gave none."""
        return self.notes.name if self.notes else ""

    @property
    def labels(self) -> tuple[str, ...]:
        """Its labels, as they are typed."""
        return tuple(f"{key}={value}" for key, value in self.notes.labels) if self.notes else ()

    @property
    def verdict_text(self) -> str:
        """The verdict for people."""
        if self.state is RunState.RUNNING:
            return "running"
        if self.verdict is RunVerdict.PASSED and not self.has_gates:
            return "finished"
        return _VERDICTS[self.verdict]

    @property
    def words(self) -> str:
        """All that a search looks at, in lower case."""
        parts = (self.run_id, self.source, *self.suites, *self.targets, *self.engines, *self.models, *self.labels)
        if self.notes:
            parts = (*parts, self.notes.name, self.notes.note)
        return "\n".join(parts).casefold()


def row_of(view: RunView, key: str, source: str) -> RunRow:
    """Return the row of a run; reads no trial."""
    head, run, spending = view.head, view.run, view.summary.spending
    groups = groups_under_test(view)
    counts = Counts.sum(group.counts for group in groups) if groups else view.summary.counts
    return RunRow(
        key=key,
        source=source,
        run_id=run.run_id,
        started_at=run.started_at,
        took_s=None if run.finished_at is None else max(0.0, run.finished_at - run.started_at),
        state=run.state,
        verdict=verdict_for(view),
        suites=_each(suite.id for suite in head.suites),
        targets=_each(target.id for suite in head.suites for target in suite.targets),
        engines=_each((*(runner.name for runner in head.runners), *(group.runner for group in view.summary.groups))),
        models=_each((*head.models, *(group.model for group in view.summary.groups if group.model))),
        results=_results(groups),
        passed=_passed(groups),
        lifts=tuple(_lifts(view)),
        errors=counts.errors,
        trials=view.summary.counts.total,
        cost_usd=spending.cost_usd if spending else None,
        cost_is_partial=bool(spending and spending.unknown),
        invalid=tuple(one.suite_id for one in view.summary.validity if not one.valid),
        has_gates=_has_gates(view),
        foreign=why_summary_foreign(view),
    )


def _has_gates(view: RunView) -> bool:
    """Tell whether any gate is known that was asked of a run."""
    if view.decided and view.decided.gates:
        return True
    return any(suite.gates for suite in view.head.suites)


def _results(groups: Sequence[GroupSummary]) -> str:
    """Return how many of the graded cases passed, and the figures of trigger sets, which no count tells."""
    rated = _rated(groups)
    cases = [group.cases for group in rated if group.cases]
    texts = []
    if cases:
        counts = CaseCounts.sum(cases)
        texts.append(f"{counts.passed} of {counts.graded}")
    elif rated:
        texts.append(passed_text(Counts.sum(group.counts for group in rated)))
    texts += dict.fromkeys(headline_text(group) for group in groups if rated_figures(group))
    return ", ".join(texts)


def _passed(groups: Sequence[GroupSummary]) -> float | None:
    """Return the share of the graded cases that passed: of those with a pass rate, if there are any."""
    counts = CaseCounts.sum(group.cases for group in _rated(groups) or groups if group.cases)
    return counts.passed / counts.graded if counts.graded else None


def _rated(groups: Sequence[GroupSummary]) -> list[GroupSummary]:
    return [group for group in groups if not rated_figures(group)]


def _lifts(view: RunView) -> Iterator[Lift]:
    pairs = [(pair, pair.evidence) for pair in compared(view) if pair.evidence]
    apart = differing([pair.candidate for pair, _ in pairs])
    for pair, evidence in pairs:
        group, bounds = pair.candidate, evidence.interval_here
        yield Lift(
            name=" · ".join(_each(getattr(group, part) for part in apart)),
            suite=group.suite_id,
            target=group.target_id,
            model=group.model,
            runner=group.runner,
            candidate=group.arm,
            baseline=pair.baseline.arm,
            estimate=evidence.estimate,
            lower=bounds.lower,
            upper=bounds.upper,
            n=evidence.n,
        )


def _each(texts: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text and text != DIRECT.name))
