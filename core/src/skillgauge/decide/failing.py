"""Which cases did not pass, the worst first, and how to look deeper: what `eval` prints before its verdict."""

from __future__ import annotations

import shlex
import textwrap
from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from skillgauge_documents.characters import plain
from skillgauge_documents.phrases import counted

from ..report.wording import reason_of
from ..types.comparison import Counts, GroupKey
from ..types.result import GroupSummary, RunView, TrialResult, Verdict
from ..types.suite import DIRECT
from ..types.trial import CaseHead
from .case_by_case import CaseReport, case_by_case
from .gates import gated

LISTED = 10
"""Cases that are named."""
WIDTH = 80
"""Columns of a terminal that nobody made wider."""
_NAME = 50
"""Characters of each part of a name that are shown."""


@dataclass(frozen=True)
class FailingCase:
    """What a group did not pass of a case."""

    case: CaseHead
    group: GroupKey
    counts: Counts
    reason: str
    """Of the first repeat that failed, else of the first that ended in an error; not yet `plain`."""

    @property
    def badness(self) -> tuple[bool, float, str, int]:
        """What it is sorted by: cases that always fail, then the others by what they pass, then mere errors."""
        share = self.counts.pass_share
        return not self.counts.failed, share or 0.0, self.case.suite_id, self.case.index


def failing_lines(view: RunView, source: Sequence[str]) -> Iterator[str]:
    """The cases that gates are about and that did not always pass, worst first, and how to read what happened.

    Args:
        view: the run; its results are read only if there are such cases.
        source: words by which `report show` finds the run; empty if nothing was kept of it.
    """
    worst, total = worst_cases(view)
    if not worst:
        return
    groups = view.summary.groups
    more = f", the worst {len(worst)} of {total:,}" if total > len(worst) else ""
    yield f"did not pass{more}:"
    for one in worst:
        passed = "passed" if one.counts.pass_share is not None else "no result,"
        name = group_name(one.group, groups, case_name(one.case))
        yield from _told(f"{name}: {passed} {passed_text(one.counts)}", "  ")
        yield from _told(plain(one.reason.strip().partition("\n")[0]), "    ")
    if not source:
        yield "to look deeper, keep the run: --format record, or a --store"
        return
    first = worst[0]
    arm = ("--arm", plain(first.group.arm)) if first.group.arm != DIRECT.name else ()
    yield "look deeper:"
    yield f"  {shlex.join(['skillgauge', 'report', 'show', *source, '--case', plain(first.case.id), *arm])}"


def worst_cases(view: RunView) -> tuple[Sequence[FailingCase], int]:
    """The first of those that did not always pass, worst first, and how many there are."""
    wanted = {group.key for group in gated(view) if group.counts.failed or group.counts.errors}
    worst: list[FailingCase] = []
    total = 0
    for report in case_by_case(view) if wanted else ():
        for found in _failing(report, wanted):
            total += 1
            insort(worst, found, key=lambda one: one.badness)
            del worst[LISTED:]
    return worst, total


def differing(groups: Sequence[GroupSummary | GroupKey]) -> tuple[str, ...]:
    """The fields of `GroupKey` that tell groups apart which are shown together."""
    return tuple(one.name for one in fields(GroupKey) if len({getattr(group, one.name) for group in groups}) > 1)


def group_name(group: GroupKey, groups: Sequence[GroupSummary], before: str) -> str:
    """A name within a group: after it the arm, and whatever else tells the group from the others."""
    told = {"arm"} if group.arm != DIRECT.name else set()
    parts = (getattr(group, one.name) for one in fields(GroupKey) if one.name in {*told, *differing(groups)})
    return " · ".join([before, *(plain(part, _NAME) for part in dict.fromkeys(parts) if part)])


def case_name(case: CaseHead) -> str:
    """What to call a case: its name if it has one, else its id; as `plain` text."""
    return plain(case.name or case.id, _NAME)


def passed_text(counts: Counts) -> str:
    """How many of the graded repeats of a case passed, and what else became of them: `1 of 2, 1 error`."""
    graded = counts.passed + counts.failed
    told = [f"{counts.passed} of {graded}"] if graded else []
    told += [counted(counts.errors, "error")] if counts.errors else []
    return ", ".join(told) or "skipped"


def _failing(report: CaseReport, wanted: set[GroupKey]) -> Iterator[FailingCase]:
    for group, summary in report.summaries.items():
        if group in wanted and (summary.counts.failed or summary.counts.errors):
            yield FailingCase(report.case, group, summary.counts, _reason(report.results[group]))


def _reason(repeats: Sequence[TrialResult]) -> str:
    failed = (one for verdict in (Verdict.FAIL, Verdict.ERROR) for one in repeats if one.verdict is verdict)
    return next((reason for one in failed if (reason := reason_of(one))), "")


def _told(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)
