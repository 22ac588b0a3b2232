"""A search in the sessions of a case: the steps, answers, files and checks that hold some words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skillgauge.api import TrialResult, plain
from skillgauge.api.report import CaseReport, counted
from skillgauge_run_views.transcripts import Room, Transcript, transcript

from .case_page import part_of

MOST = 100
"""Places that are listed."""
_AROUND = 80
"""Characters on both sides of a word."""
_WHOLE = Room(characters=100_000, steps=1_000_000)


@dataclass(frozen=True)
class Hit:
    """A place that holds every word, with the text around the first one."""

    ordinal: int
    """The place of its trial in the plan."""
    arm: str
    repeat: int
    step: int | None
    """The place of the step in the session, from 1; `None` if it is not in a step."""
    title: str
    before: str
    match: str
    after: str

    @property
    def part(self) -> str:
        """The step that its part of the session begins with; empty for the first part."""
        first = part_of(self.step) if self.step else 1
        return str(first) if first > 1 else ""


@dataclass(frozen=True)
class Search:
    """The places in the sessions of a case that hold some words."""

    words: str
    hits: tuple[Hit, ...]
    """The first of them, trial by trial."""
    total: int
    trials: int
    """Trials that have such a place."""

    @property
    def summary(self) -> str:
        """The number of places in words."""
        if not self.total:
            return "No step, answer, file or check has these words"
        return f"{counted(self.total, 'place')} in {counted(self.trials, 'trial')}"


def search(report: CaseReport, words: str) -> Search | None:
    """Search every trial of a case for places with all of the words, in whatever case of letters.

    Args:
        report: the case.
        words: parted by blanks; `None` is returned if there is none.
    """
    patterns = [re.compile(re.escape(word), re.IGNORECASE) for word in words.split()]
    if not patterns:
        return None
    hits: list[Hit] = []
    total = trials = 0
    for result in (result for results in report.results.values() for result in results):
        before = total
        for hit in _hits(result, patterns):
            total += 1
            if len(hits) < MOST:
                hits.append(hit)
        trials += total > before
    return Search(words, tuple(hits), total, trials)


def _hits(result: TrialResult, patterns: Sequence[re.Pattern[str]]) -> Iterator[Hit]:
    for step, title, content in _texts(transcript(result, _WHOLE)):
        line = " ".join(plain(content, limit=len(content) + 1).split())
        matches = [pattern.search(line) for pattern in patterns]
        if (first := matches[0]) and all(matches):
            start, end = first.span()
            before, after = line[max(0, start - _AROUND) : start], line[end : end + _AROUND]
            yield Hit(result.ordinal, result.arm, result.repeat, step, title, before, first[0], after)


def _texts(shown: Transcript) -> Iterator[tuple[int | None, str, str]]:
    """Yield step, title and text of each place, in the order in which a page shows them."""
    for check in shown.checks:
        evidence = check.evidence.text if check.evidence else ""
        yield None, "check", f"{check.name} {check.reason} {evidence}"
    for one in shown.excerpts:
        yield None, one.title, one.text
    for file in shown.files:
        yield None, "file", f"{file.path} {file.difference.text if file.difference else ''}"
    for number, step in enumerate(shown.steps, 1):
        yield number, step.title, f"{step.name} {step.content.text if step.content else ''}"
