"""The subject of a run, case by case: for reports that a machine shows to people, as CI does."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, islice
from pathlib import Path

from skillgauge.api import CaseHead, Problem, ResultOrder, ScoreStatus, TrialResult, Verdict, located_all
from skillgauge.api.report import GroupSummary, RunView, counted

_BATCH = 10_000
"""Cases whose places are looked up together: each batch reads their files once."""


class CaseKind(StrEnum):
    """The outcome of a case with all its repeats."""

    FAILED = "failed"
    ERROR = "error"
    PASSED = "passed"
    SKIPPED = "skipped"


_KINDS = {Verdict.FAIL: CaseKind.FAILED, Verdict.ERROR: CaseKind.ERROR, Verdict.PASS: CaseKind.PASSED}
"""In the order in which they decide: a repeat that failed is a failure, however many passed."""


@dataclass(frozen=True)
class Place:
    """The place of a case in a file, as a code host names it."""

    file: str
    """From the root of its repository."""
    line: int | None
    """From 1; unknown if the file is not there any more."""


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
        """The number of repeats that passed."""
        return sum(result.verdict is Verdict.PASS for result in self.results)

    @property
    def is_flaky(self) -> bool:
        """True if some of its repeats passed and some failed."""
        return self.passed > 0 and self.kind is CaseKind.FAILED

    @property
    def passed_text(self) -> str:
        """The share of its repeats that passed, in words."""
        return f"{self.passed} of {counted(len(self.results), 'repeat')} passed"

    @property
    def seconds(self) -> float:
        """Of all its repeats."""
        return sum(result.execution.duration_s or 0.0 for result in self.results)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons for its outcome, each once, not yet `plain`."""
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
    for _, results_of_case in groupby(results, lambda result: result.case_index):
        yield CaseOutcome(group, tuple(results_of_case))


def worst(view: RunView, most: int) -> list[CaseOutcome]:
    """The cases under test that did not pass, the worst first; no more than these are kept in memory."""
    wrong = (
        case
        for group in groups_under_test(view)
        for case in outcomes(view, group)
        if case.kind in (CaseKind.FAILED, CaseKind.ERROR)
    )
    return heapq.nsmallest(most, wrong, key=lambda case: case.rank)


def places(view: RunView, cases: Iterable[CaseOutcome]) -> Mapping[tuple[str, int], Place]:
    """Return the places of cases by their key, as far as they are known and can be reached; each file is read once."""
    keys = {case.key for case in cases}
    return _places([head for head in view.cases() if (head.suite_id, head.index) in keys] if keys else ())


def placed(view: RunView, group: GroupSummary) -> Iterator[tuple[CaseOutcome, Place | None]]:
    """The cases of a group, each with its place; no more than a batch of them is in memory."""
    heads = (head for head in view.cases() if head.suite_id == group.suite_id)
    cases = _headed(outcomes(view, group), heads)
    while batch := list(islice(cases, _BATCH)):
        by_key = _places([head for _, head in batch if head])
        yield from ((case, by_key.get(case.key)) for case, _ in batch)


def _headed(cases: Iterable[CaseOutcome], heads: Iterator[CaseHead]) -> Iterator[tuple[CaseOutcome, CaseHead | None]]:
    """Cases of a suite with what is known of each; both come in the order of the suite."""
    head = next(heads, None)
    for case in cases:
        index = case.results[0].case_index
        while head and head.index < index:
            head = next(heads, None)
        yield case, head if head and head.index == index else None


def _places(heads: Iterable[CaseHead]) -> Mapping[tuple[str, int], Place]:
    with_origin = [head for head in heads if head.origin]
    problems = located_all(Problem("case", head.id, origin=head.origin) for head in with_origin)
    located = [(head, one.span) for head, one in zip(with_origin, problems, strict=True) if one.span]
    files = {file: _from_repository(file) for file in {span.file for _, span in located}}
    return {
        (head.suite_id, head.index): Place(files[span.file], span.line) for head, span in located if files[span.file]
    }


def _from_repository(file: str) -> str:
    """A file from the root of its repository, or from here if it is in none; empty if that leads nowhere."""
    path = Path(file).resolve()
    root = next((folder for folder in path.parents if (folder / ".git").exists()), Path.cwd())
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
