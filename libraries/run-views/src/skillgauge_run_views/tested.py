"""What was under test in a run, case by case: for reports that a machine shows to people, as CI does."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from skillgauge.api import (
    GroupSummary,
    Problem,
    ResultOrder,
    RunView,
    ScoreStatus,
    SourceSpan,
    TrialResult,
    Verdict,
    counted,
    located_all,
)


class CaseKind(StrEnum):
    """What became of a case with all its repeats."""

    FAILED = "failed"
    ERROR = "error"
    PASSED = "passed"
    SKIPPED = "skipped"


_KINDS = {Verdict.FAIL: CaseKind.FAILED, Verdict.ERROR: CaseKind.ERROR, Verdict.PASS: CaseKind.PASSED}
"""In the order in which they decide: a repeat that failed is a failure, however many passed."""


@dataclass(frozen=True)
class CaseOutcome:
    """A case with all its repeats in one group."""

    group: GroupSummary
    results: tuple[TrialResult, ...]

    @property
    def key(self) -> tuple[str, int]:
        """Suite and place in it."""
        return self.results[0].suite_id, self.results[0].case_index

    @property
    def kind(self) -> CaseKind:
        """A repeat that failed is a failure; without one, an error is an error."""
        verdicts = {result.verdict for result in self.results}
        return next((kind for verdict, kind in _KINDS.items() if verdict in verdicts), CaseKind.SKIPPED)

    @property
    def passed(self) -> int:
        """How many repeats did."""
        return sum(result.verdict is Verdict.PASS for result in self.results)

    @property
    def is_flaky(self) -> bool:
        """Whether some of its repeats passed and some failed."""
        return self.passed > 0 and self.kind is CaseKind.FAILED

    @property
    def passed_text(self) -> str:
        """How many of its repeats passed."""
        return f"{self.passed} of {counted(len(self.results), 'repeat')} passed"

    @property
    def seconds(self) -> float:
        """Of all its repeats."""
        return sum(result.execution.duration_s or 0.0 for result in self.results)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is what it is, each once, not yet `plain`."""
        wrong = (one for one in self.results if _KINDS.get(one.verdict) is self.kind)
        return tuple(dict.fromkeys(reason for one in wrong for reason in _reasons(one))) or ("no reason is known",)

    @property
    def rank(self) -> tuple[bool, float, tuple[str, int]]:
        """The worst comes first: failures before errors, those that passed least often before the others."""
        return self.kind is not CaseKind.FAILED, self.passed / len(self.results), self.key


def _reasons(result: TrialResult) -> Iterator[str]:
    if result.execution.failure:
        yield result.execution.failure.message
    for score in result.scores:
        if score.status is not ScoreStatus.PASSED and not score.beside:
            yield f"{score.check_id}: {score.reason}"


def groups_under_test(view: RunView) -> list[GroupSummary]:
    """The groups that are not only there to be compared with."""
    suites = {suite.id: suite for suite in view.head.suites}
    return [
        one
        for one in view.summary.groups
        if one.suite_id not in suites or not suites[one.suite_id].is_baseline(one.arm)
    ]


def outcomes(view: RunView, group: GroupSummary) -> Iterator[CaseOutcome]:
    """The cases of a group, one after another."""
    results = view.source.results(ResultOrder.CASE, group.key)
    for _, found in groupby(results, lambda result: result.case_index):
        yield CaseOutcome(group, tuple(found))


def worst(view: RunView, most: int) -> list[CaseOutcome]:
    """The cases under test that did not pass, the worst first; no more than these are kept in memory."""
    wrong = (
        case
        for group in groups_under_test(view)
        for case in outcomes(view, group)
        if case.kind in (CaseKind.FAILED, CaseKind.ERROR)
    )
    return heapq.nsmallest(most, wrong, key=lambda case: case.rank)


def spans(view: RunView, cases: Iterable[CaseOutcome]) -> Mapping[tuple[str, int], SourceSpan]:
    """Where cases stand, by their key, as far as the run tells; each file is read once."""
    wanted = {case.key for case in cases}
    if not wanted:
        return {}
    heads = [head for head in view.cases() if head.origin and (head.suite_id, head.index) in wanted]
    problems = located_all(Problem("case", head.id, origin=head.origin) for head in heads)
    found = zip(heads, problems, strict=True)
    return {(head.suite_id, head.index): problem.span for head, problem in found if problem.span}
