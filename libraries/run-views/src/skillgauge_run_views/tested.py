"""The subject of a run, case by case: for reports that a machine shows to people, as CI does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path

from skillgauge.api import CaseHead, Problem, ResultOrder, TrialResult, Verdict, located_all
from skillgauge.api.report import (
    CaseOutcome,
    CaseSummary,
    GroupKey,
    GroupSummary,
    Outcome,
    RunView,
    case_by_case,
    case_summary,
    catalogue,
    groups_under_test,
    passed_text,
    quarantine_text,
    reasons_of,
    repeats_text,
)
from skillgauge_documents.immutables import immutable

_BATCH = 10_000
"""Cases whose places are looked up together: each batch reads their files once."""


@immutable
class Place:
    """The place of a case in a file, as a code host names it."""

    file: str
    """From the root of its repository."""
    line: int | None
    """From 1; unknown if the file is not there any more."""


@immutable
class TestedCase:
    """A case with all its repeats in one group."""

    __test__ = False  # else pytest takes it for a class of tests

    group: GroupSummary
    results: tuple[TrialResult, ...]
    summary: CaseSummary
    quarantine: str = ""
    """Until when and why it gates nothing; empty if it does."""
    name: str = ""
    """The name that people know it by; empty if that is its id."""

    @property
    def title(self) -> str:
        """Its name with its id behind it, or its id; not yet `plain`."""
        case_id = self.results[0].case_id
        return f"{self.name} ({case_id})" if self.name not in ("", case_id) else case_id

    @property
    def key(self) -> tuple[str, int]:
        """Suite and place in it."""
        return self.results[0].suite_id, self.results[0].case_index

    @property
    def outcome(self) -> CaseOutcome:
        """The outcome of all its repeats together, as the kernel decides it."""
        return self.summary.outcome

    @property
    def is_flaky(self) -> bool:
        """True if some of its repeats passed and some failed."""
        return self.summary.counts.passed > 0 and self.summary.counts.failed > 0

    @property
    def passed_text(self) -> str:
        """The graded repeats that passed, and the errors, in words: `2 of 3, 1 error`."""
        return passed_text(self.summary.counts)

    @property
    def repeats_text(self) -> str:
        """The same as a part of a sentence: `passed 2 of 3, 1 error`."""
        return repeats_text(self.summary.counts)

    @property
    def seconds(self) -> float:
        """Of all its repeats."""
        return sum(result.execution.duration_s or 0.0 for result in self.results)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons why repeats failed, else those of its errors, each once, not yet `plain`."""
        verdict = Verdict.FAIL if self.summary.counts.failed else Verdict.ERROR
        wrong = (one for one in self.results if one.verdict is verdict)
        return tuple(dict.fromkeys(reason for one in wrong for reason in reasons_of(one))) or ("no reason is known",)


def tested(view: RunView, group: GroupSummary) -> Iterator[TestedCase]:
    """The cases of a group, one after another."""
    suite = view.head.suites_by_id.get(group.suite_id)
    results = view.source.results(ResultOrder.CASE, group.key)
    for _, results_of_case in groupby(results, lambda result: result.case_index):
        repeats = tuple(results_of_case)
        entry = suite.quarantine_of(repeats[0].case_id) if suite else None
        summary = case_summary(group.key, repeats, suite)
        yield TestedCase(group, repeats, summary, quarantine_text(entry) if entry else "")


def worst(view: RunView, most: int) -> list[TestedCase]:
    """The cases under test that did not pass, the worst first; no more than these are kept in memory."""
    return _worst(view, most, (CaseOutcome.FAILED, CaseOutcome.ERROR))


def quarantined(view: RunView, most: int) -> list[TestedCase]:
    """The cases under test that are in quarantine, those that pass least first; results are read only if there are."""
    if not any(suite.quarantined for suite in view.head.suites):
        return []
    return _worst(view, most, (CaseOutcome.QUARANTINED,))


_HELD = 4
"""Cases that are held while the worst are chosen, for each that is wanted."""


def _worst(view: RunView, most: int, outcomes: Collection[CaseOutcome]) -> list[TestedCase]:
    """The worst cases; the results are read once, and few more cases than these are held.

    A case that is not among the worst of those read so far is not among the worst of all, either: a further case of a
    skill can only move that skill's cases back.
    """
    groups = {group.key: group for group in groups_under_test(view)}
    skills = catalogue(view)
    places_of_skills = {row.group.subject: place for place, row in enumerate(skills.rows)} if skills else {}
    held: list[tuple[_Rank, TestedCase]] = []
    for candidate in _candidates(view, groups, outcomes):
        held.append(candidate)
        if len(held) > _HELD * most:
            held = _first(places_of_skills, held, most)
    return [case for _, case in _first(places_of_skills, held, most)]


@immutable
class _Rank:
    """The place of a case among those of its skill; lower is worse."""

    group: GroupKey
    index: int
    badness: tuple[bool, bool, bool]
    """Not failed, not newly failing, not lost to the arm that its own is compared with."""
    share: float

    @property
    def key(self) -> tuple[object, ...]:
        """The key to sort cases of one skill by."""
        return self.badness, self.share, self.group.suite_id, self.index


def _candidates(
    view: RunView, groups: Mapping[GroupKey, GroupSummary], outcomes: Collection[CaseOutcome]
) -> Iterator[tuple[_Rank, TestedCase]]:
    """Yield the cases with such an outcome, each with its place."""
    changes = view.decided.changes.groups if view.decided and view.decided.changes else ()
    newly = {(change.group, case.case_id) for change in changes for case in change.newly_failing}
    for report in case_by_case(view):
        lost = {pair.candidate for pair in report.pairs if pair.outcome is Outcome.FLIP_TO_FAIL}
        for key, summary in report.summaries.items():
            if key in groups and summary.outcome in outcomes:
                is_failed = summary.outcome is CaseOutcome.FAILED
                badness = (not is_failed, (key, report.case.id) not in newly, key not in lost)
                rank = _Rank(key, report.case.index, badness, summary.counts.pass_share or 0.0)
                suite = view.head.suites_by_id.get(key.suite_id)
                entry = suite.quarantine_of(report.case.id) if suite else None
                text = quarantine_text(entry) if entry else ""
                yield rank, TestedCase(groups[key], tuple(report.results[key]), summary, text, report.case.name)


def _first(
    skills: Mapping[str, int], candidates: Iterable[tuple[_Rank, TestedCase]], most: int
) -> list[tuple[_Rank, TestedCase]]:
    """Choose the worst cases: one of each skill before a second one of any, and those of the worst skills first."""
    by_subject: dict[str, list[tuple[_Rank, TestedCase]]] = {}
    for candidate in candidates:
        by_subject.setdefault(candidate[0].group.subject, []).append(candidate)
    ordered = []
    for subject, of_subject in by_subject.items():
        of_subject.sort(key=lambda candidate: candidate[0].key)
        for nth, (rank, case) in enumerate(of_subject):
            place = (nth, rank.badness, skills.get(subject, 0), rank.share, rank.group.suite_id, rank.index)
            ordered.append((place, (rank, case)))
    ordered.sort(key=lambda item: item[0])
    return [candidate for _, candidate in ordered[:most]]


def places(view: RunView, cases: Iterable[TestedCase]) -> Mapping[tuple[str, int], Place]:
    """Return the places of cases by their key, as far as they are known and can be reached; each file is read once."""
    keys = {case.key for case in cases}
    return _places([head for head in view.cases() if (head.suite_id, head.index) in keys] if keys else ())


def placed(view: RunView, group: GroupSummary) -> Iterator[tuple[TestedCase, Place | None]]:
    """The cases of a group, each with its place; no more than a batch of them is in memory."""
    heads = (head for head in view.cases() if head.suite_id == group.suite_id)
    cases = _headed(tested(view, group), heads)
    while batch := list(islice(cases, _BATCH)):
        by_key = _places([head for _, head in batch if head])
        yield from ((replace(case, name=head.name) if head else case, by_key.get(case.key)) for case, head in batch)


def _headed(cases: Iterable[TestedCase], heads: Iterator[CaseHead]) -> Iterator[tuple[TestedCase, CaseHead | None]]:
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
