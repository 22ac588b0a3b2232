"""The cases that did not pass, the worst first, and how to look deeper: printed by `eval` before its verdict."""

from __future__ import annotations

import shlex
import textwrap
from bisect import insort
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from skillgauge_documents.characters import plain
from skillgauge_documents.immutables import immutable

from ..report.catalogue import catalogue
from ..report.changes import group_changes
from ..report.opening import show_words
from ..report.wording import reason_of, repeats_text
from ..types.arms import DIRECT, GroupKey
from ..types.comparison import CaseOutcome, Counts, Outcome
from ..types.results.runs import RunView
from ..types.results.summaries import GroupSummary
from ..types.results.trials import TrialResult, Verdict
from ..types.trial import CaseHead
from .case_by_case import CaseReport, case_by_case
from .gates import gated

LISTED = 10
"""Cases that are named."""
FOLDED = 8
"""Groups above which a terminal shows less of each."""
_WHOLE: tuple[int, int | None] = LISTED, None
"""Cases that are named, and lines of each; `None`: all."""
_FOLDED = 5, 3
"""The same where a terminal shows less."""
WIDTH = 80
"""Columns of a terminal that nobody made wider."""
_GROUPS = 3
"""Groups of one case that are named."""
_NAME = 50
"""Characters of each part of a name that are shown."""


@immutable
class FailingGroup:
    """The outcome of a case in a group, some of whose repeats did not pass."""

    group: GroupKey
    counts: Counts
    outcome: CaseOutcome
    reason: str
    """Of the first repeat that failed, else of the first that ended in an error; not yet `plain`."""
    is_new: bool = False
    """True if it passed in the run that this one was compared with."""
    is_lost: bool = False
    """True if it passes in the arm that its own is compared with."""

    @property
    def title(self) -> str:
        """The heading that it is listed under."""
        return _TITLES[self.outcome]

    @property
    def badness(self) -> tuple[bool, bool, bool, float]:
        """The key to sort by: fails before errors, newly failing before others, lost ones; the share that passed."""
        return not self.counts.failed, not self.is_new, not self.is_lost, self.counts.pass_share or 0.0

    @property
    def marks(self) -> str:
        """The marks of a case that passes elsewhere, as the end of a sentence."""
        marks = (("newly failing", self.is_new), ("lost", self.is_lost))
        return "".join(f", {mark}" for mark, holds in marks if holds)


@immutable
class FailingCase:
    """A case under one heading, with every group that belongs there."""

    case: CaseHead
    groups: tuple[FailingGroup, ...]
    """The worst first; at least one."""

    @property
    def title(self) -> str:
        """The heading that it is listed under."""
        return self.groups[0].title

    @property
    def badness(self) -> tuple[int, tuple[bool, bool, bool, float], int, str, int]:
        """The key to sort by: its heading, its worst group, how many groups it has, its place."""
        heading = _HEADINGS.index(self.title)
        return heading, self.groups[0].badness, -len(self.groups), self.case.suite_id, self.case.index

    def rank(self, nth: int, places: Mapping[str, int]) -> tuple[Any, ...]:
        """Return the place of a case among those of all skills.

        Args:
            nth: how many cases of its skill are worse.
            places: the place of each skill, the worst first.
        """
        place = places.get(self.groups[0].group.subject, 0)
        heading, badness, *rest = self.badness
        return heading, nth, badness[:3], place, badness[3], *rest


_NOT_PASSED, _NOT_ALWAYS, _APART = "did not pass", "passed, but not always", "in quarantine, not always passed"
_HEADINGS = (_NOT_PASSED, _NOT_ALWAYS, _APART)
_TITLES = {
    CaseOutcome.FAILED: _NOT_PASSED,
    CaseOutcome.ERROR: _NOT_PASSED,
    CaseOutcome.SKIPPED: _NOT_PASSED,
    CaseOutcome.PASSED: _NOT_ALWAYS,
    CaseOutcome.QUARANTINED: _APART,
}


def failing_lines(view: RunView, source: Sequence[str]) -> Iterator[str]:
    """The cases that gates are about and that did not always pass, worst first, and how to read what happened.

    Args:
        view: the run; its results are read only if there are such cases.
        source: words by which `report show` finds the run; empty if nothing was kept of it.
    """
    groups = view.summary.groups
    most, most_lines = _FOLDED if len(groups) > FOLDED else _WHOLE
    worst, totals = worst_cases(view, most)
    if not worst:
        return
    for title, of_title in groupby(worst, key=lambda failing: failing.title):
        listed = list(of_title)
        total = totals[title]
        more = f", the worst {len(listed)} of {total:,}" if total > len(listed) else ""
        yield f"{title}{more}:"
        for failing in listed:
            yield from islice(_case_lines(failing, groups), most_lines)
    if not source:
        yield "to look deeper, keep the run: --format record, or a --store"
        return
    yield "look deeper:"
    words = show_words(view, tuple(source), worst[0].groups[0].group, worst[0].case.id)
    yield f"  {shlex.join(words)}"


def _case_lines(failing: FailingCase, groups: Sequence[GroupSummary]) -> Iterator[str]:
    """Yield a case with its group, or with each of several on a line of its own."""
    name = case_name(failing.case)
    if len(failing.groups) == 1:
        yield from _group_lines(failing.groups[0], group_name(failing.groups[0].group, groups, name), "  ")
        return
    yield from _wrapped(name, "  ")
    for failed in failing.groups[:_GROUPS]:
        yield from _group_lines(failed, group_name(failed.group, groups), "    ")
    if len(failing.groups) > _GROUPS:
        yield f"    and {len(failing.groups) - _GROUPS} more"


def _group_lines(failed: FailingGroup, name: str, indent: str) -> Iterator[str]:
    yield from _wrapped(f"{name}: {repeats_text(failed.counts)}{failed.marks}", indent)
    yield from _wrapped(plain(failed.reason.strip().partition("\n")[0]), f"{indent}  ")


def worst_cases(view: RunView, most: int = LISTED) -> tuple[Sequence[FailingCase], Mapping[str, int]]:
    """The first of those that did not always pass, worst first, and how many there are under each heading.

    The worst case of each skill stands before a second one of any.

    Args:
        view: the run.
        most: cases at most.
    """
    groups = {group.key for group in gated(view) if _is_failing(group.counts)}
    by_subject: dict[tuple[str, str], list[FailingCase]] = {}
    totals: Counter[str] = Counter()
    if not groups:
        return [], totals
    newly = _newly_failing(view)
    for report in case_by_case(view, is_abridged=True):
        for failing in _failing(report, groups, newly):
            totals[failing.title] += 1
            of_subject = by_subject.setdefault((failing.title, failing.groups[0].group.subject), [])
            insort(of_subject, failing, key=lambda case: case.badness)
            del of_subject[most:]
    return _ranked(view, by_subject.values())[:most], totals


def _ranked(view: RunView, cases_by_subject: Iterable[Sequence[FailingCase]]) -> list[FailingCase]:
    """Return the cases of all skills, the worst first, given those of each skill in that order."""
    skills = catalogue(view)
    places = {row.group.subject: place for place, row in enumerate(skills.rows)} if skills else {}
    ranks = [(case.rank(nth, places), case) for cases in cases_by_subject for nth, case in enumerate(cases)]
    return [case for _, case in sorted(ranks, key=itemgetter(0))]


def _newly_failing(view: RunView) -> Container[tuple[GroupKey, str]]:
    """The cases that passed in the run that this one was compared with, each with its group."""
    return {(change.group, case.case_id) for change in group_changes(view) for case in change.newly_failing}


def differing(groups: Sequence[GroupSummary | GroupKey]) -> tuple[str, ...]:
    """The fields of `GroupKey` that tell groups apart which are shown together."""
    return tuple(one.name for one in fields(GroupKey) if len({getattr(group, one.name) for group in groups}) > 1)


def group_name(group: GroupKey, groups: Sequence[GroupSummary], before: str = "") -> str:
    """A name within a group: after it the arm, and whatever else tells the group from the others."""
    names = set(differing(groups))
    if group.arm != DIRECT.name:
        names.add("arm")
    parts = (getattr(group, part.name) for part in fields(GroupKey) if part.name in names)
    texts = [plain(part, _NAME) for part in dict.fromkeys(parts) if part]
    if before:
        texts.insert(0, before)
    return " · ".join(texts)


def case_name(case: CaseHead) -> str:
    """Return the name of a case, or its id if it has none, as `plain` text."""
    return plain(case.title, _NAME)


def _failing(
    report: CaseReport, groups: set[GroupKey], newly: Container[tuple[GroupKey, str]]
) -> Iterator[FailingCase]:
    by_title: dict[str, list[FailingGroup]] = {}
    lost = {pair.candidate for pair in report.pairs if pair.outcome is Outcome.FLIP_TO_FAIL}
    for group, summary in report.summaries.items():
        if group in groups and _is_failing(summary.counts):
            reason, is_new = _reason(report.results[group]), (group, report.case.id) in newly
            failed = FailingGroup(group, summary.counts, summary.outcome, reason, is_new, group in lost)
            by_title.setdefault(failed.title, []).append(failed)
    for of_title in by_title.values():
        yield FailingCase(report.case, tuple(sorted(of_title, key=lambda failed: failed.badness)))


def _is_failing(counts: Counts) -> bool:
    return bool(counts.failed or counts.errors)


def _reason(repeats: Sequence[TrialResult]) -> str:
    for verdict in (Verdict.FAIL, Verdict.ERROR):
        for result in repeats:
            if result.verdict is verdict and (reason := reason_of(result)):
                return reason
    return ""


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)
