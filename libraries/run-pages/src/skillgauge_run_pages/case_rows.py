"""The cases of a run as rows of a table, arm beside arm, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from skillgauge.api import CaseHead, SuiteHead, TrialResult, Verdict, plain
from skillgauge.api.report import (
    CaseOutcome,
    CaseReport,
    CaseSummary,
    GroupKey,
    Outcome,
    passed_text,
    points,
    reason_of,
)
from skillgauge_run_views.outcomes import outcome_text
from skillgauge_run_views.transcripts import as_text

PROMPT = 100
"""Characters of the prompt of a case, beside its id if it has no name."""
_CHANGED = frozenset({Outcome.FLIP_TO_PASS, Outcome.FLIP_TO_FAIL})


@dataclass(frozen=True)
class Cell:
    """The outcome of a case in one arm."""

    outcome: CaseOutcome
    shown: str
    trials: tuple[tuple[int, int], ...]
    """The repeat of each trial, and its place in the plan."""


@dataclass(frozen=True)
class CaseRow:
    """A case with one target, engine and model, in all arms."""

    suite_id: str
    index: int
    """Its place in the suite."""
    id: str
    name: str
    prompt: str
    """The beginning of its prompt or input; empty if it has a name."""
    lane: GroupKey
    """Its target, engine and model; of no arm."""
    cells: Mapping[str, Cell]
    """By arm, for each that was run."""
    contrasts: tuple[tuple[str, str], ...]
    """Difference and outcome, for each comparison of the suite."""
    is_changed: bool
    """True if the arms of a comparison ended differently."""
    is_bad: bool
    """True if an arm that is not only compared with did not always pass."""
    is_failed: bool
    """True if one of those arms failed; if none did, a bad case is unclear."""
    share: float
    """The lowest share of trials that passed in the arms that make it bad."""
    reason: str
    """The reason of the first trial that did not pass, candidate arms before the others."""
    cost_usd: float | None
    """The known cost of all its sessions; `None` if none is known."""

    @property
    def place(self) -> tuple[bool, bool, float, int]:
        """The place among other rows: failures, then what is unclear, then what passed; low shares first."""
        return not self.is_bad, not self.is_failed, self.share, self.index

    @property
    def lane_text(self) -> str:
        """The words for its target, model and engine."""
        return " · ".join(filter(None, (self.lane.target_id, self.lane.model, self.lane.runner)))

    @property
    def words(self) -> str:
        """The text that a search looks at, in lower case."""
        return "\n".join((self.id, self.name, self.prompt, self.lane_text, self.reason)).casefold()


@dataclass(frozen=True)
class CaseTable:
    """Cases of one suite, as they are listed."""

    suite: SuiteHead
    rows: tuple[CaseRow, ...]
    total: int
    """Cases that there are, listed or not."""

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms of its columns."""
        return self.suite.arms

    @property
    def against(self) -> tuple[str, ...]:
        """The baseline arm of each comparison."""
        return tuple(one.baseline for one in self.suite.compared)

    @cached_property
    def has_lanes(self) -> bool:
        """True if rows differ in target, engine or model."""
        return len({row.lane for row in self.rows}) > 1

    @cached_property
    def has_cost(self) -> bool:
        """True if the cost of any case is known."""
        return any(row.cost_usd is not None for row in self.rows)


def case_table(suite: SuiteHead, rows: Iterable[CaseRow], total: int | None = None) -> CaseTable:
    """Return a table of rows, the worst first.

    Args:
        suite: the suite of the cases.
        rows: those that are listed.
        total: cases that there are; `None` if all are listed.
    """
    ordered = tuple(sorted(rows, key=lambda row: row.place))
    return CaseTable(suite, ordered, len(ordered) if total is None else total)


def lanes_of(report: CaseReport) -> tuple[GroupKey, ...]:
    """Return the targets, engines and models that a case was run with."""
    return tuple(dict.fromkeys(group.in_arm("") for group in report.results))


def case_row(report: CaseReport, suite: SuiteHead, lane: GroupKey) -> CaseRow:
    """Return the row of a case with one target, engine and model."""
    arms = [arm for arm in suite.arms if lane.in_arm(arm) in report.results]
    summaries = {arm: report.summaries[lane.in_arm(arm)] for arm in arms}
    bad = _not_always_passed([summary for arm, summary in summaries.items() if not suite.is_baseline(arm)])
    failed = [summary for summary in bad if summary.outcome is CaseOutcome.FAILED]
    return CaseRow(
        suite_id=suite.id,
        index=report.case.index,
        id=report.case.id,
        name=report.case.name or "",
        prompt=_prompt(report.case),
        lane=lane,
        cells={arm: _cell(summaries[arm], report.results[lane.in_arm(arm)]) for arm in arms},
        contrasts=tuple(_contrasts(report, suite, lane)),
        is_changed=_is_changed(report, lane),
        is_bad=bool(bad),
        is_failed=bool(failed),
        share=min((summary.counts.pass_share or 0.0 for summary in failed or bad), default=1.0),
        reason=next(_reasons(report, lane, sorted(arms, key=suite.is_baseline)), ""),
        cost_usd=_cost(report, lane),
    )


def _not_always_passed(summaries: Iterable[CaseSummary]) -> list[CaseSummary]:
    return [summary for summary in summaries if summary.counts.failed or summary.counts.errors]


def _contrasts(report: CaseReport, suite: SuiteHead, lane: GroupKey) -> Iterator[tuple[str, str]]:
    pairs = {(pair.candidate, pair.baseline): pair for pair in report.pairs}
    for compared in suite.compared:
        pair = pairs.get((lane.in_arm(compared.candidate), lane.in_arm(compared.baseline)))
        yield points(pair.difference if pair else None), outcome_text(pair.outcome if pair else None)


def _is_changed(report: CaseReport, lane: GroupKey) -> bool:
    return any(pair.outcome in _CHANGED for pair in report.pairs if pair.candidate.in_arm("") == lane)


def _cell(summary: CaseSummary, results: Sequence[TrialResult]) -> Cell:
    apart = ", in quarantine" if summary.outcome is CaseOutcome.QUARANTINED else ""
    trials = tuple((result.repeat, result.ordinal) for result in results)
    return Cell(summary.outcome, f"{passed_text(summary.counts)}{apart}", trials)


def _prompt(case: CaseHead) -> str:
    if case.name or (case.prompt is None and case.input is None):
        return ""
    return plain(case.prompt if case.prompt is not None else as_text(case.input), PROMPT)


def _reasons(report: CaseReport, lane: GroupKey, arms: Sequence[str]) -> Iterator[str]:
    for arm in arms:
        for verdict in (Verdict.FAIL, Verdict.ERROR):
            for result in report.results[lane.in_arm(arm)]:
                if result.verdict is verdict and (reason := reason_of(result)):
                    yield f"{arm}: {reason}"


def _cost(report: CaseReport, lane: GroupKey) -> float | None:
    results = [result for group, repeats in report.results.items() if group.in_arm("") == lane for result in repeats]
    usages = [result.execution.usage for result in results]
    costs = [usage.cost_usd for usage in usages if usage and usage.cost_usd is not None]
    return sum(costs) if costs else None
