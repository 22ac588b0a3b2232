"""The cases of an agent suite, arm beside arm: those that did not pass first, each with what happened in its trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from skillgauge.api import CaseHead, SuiteHead, TrialResult, Verdict
from skillgauge.api.report import CaseOutcome, CaseReport, CaseSummary, GroupKey, passed_text, points, reason_of
from skillgauge_run_views import Excerpt, Transcript, excerpt, outcome_text, transcript
from skillgauge_run_views.transcripts import as_text


@dataclass(frozen=True)
class Cell:
    """The outcome of a case in an arm."""

    outcome: CaseOutcome
    told: str


@dataclass(frozen=True)
class Side:
    """One trial, to be read beside those of the other arms."""

    arm: str
    verdict: Verdict
    duration_s: float | None
    transcript: Transcript


@dataclass(frozen=True)
class CaseRow:
    """One case in all arms."""

    case: CaseHead
    cells: tuple[Cell | None, ...]
    """Arm by arm; `None` for one that was not run."""
    contrasts: tuple[tuple[str, str], ...]
    """Difference and outcome, comparison by comparison."""
    is_bad: bool
    """Whether an arm that is no mere baseline did not always pass."""
    badness: tuple[bool, float, int]
    """What cases are sorted by, the worst first: whether none of those arms failed it, and the share that passed."""
    reason: str
    """Why the first trial did not pass of an arm that did not, candidate arms before the others."""
    asked: Excerpt | None
    repeats: tuple[tuple[int, tuple[Side, ...]], ...]
    """Trials of each repeat, arm beside arm; empty if there was no room for them."""

    @property
    def size(self) -> int:
        """Characters of its transcripts."""
        return sum(side.transcript.size for _, sides in self.repeats for side in sides)


@dataclass(frozen=True)
class CasesByArm:
    """The cases of one target, runner and model."""

    lane: GroupKey
    """Its arm says nothing."""
    arms: tuple[str, ...]
    against: tuple[str, ...]
    """Baseline arm of each comparison."""
    rows: tuple[CaseRow, ...]
    total: int


@dataclass
class Lane:
    """Collects the cases of one target, runner and model, as many as a page has room for.

    Args:
        suite: whose cases they are.
        key: the lane; its arm says nothing.
        limit: most cases that are kept.
        room: most characters of transcripts that are kept.
    """

    suite: SuiteHead
    key: GroupKey
    limit: int
    room: int
    _bad: list[CaseRow] = field(default_factory=list)
    _good: list[CaseRow] = field(default_factory=list)
    _left: dict[bool, int] = field(default_factory=dict)
    _total: int = 0

    def add(self, report: CaseReport) -> None:
        """Count a case, and keep it while there is room."""
        self._total += 1
        row = _row(report, self.suite, self.key)
        kept = self._bad if row.is_bad else self._good
        if len(kept) == self.limit:
            return
        remaining = self._left.get(row.is_bad, self.room)
        if remaining > 0:
            row = replace(row, repeats=tuple(_repeats(report, self.key, self.suite.arms)))
        row, self._left[row.is_bad] = _fitting(row, remaining)
        kept.append(row)

    def cases(self) -> CasesByArm:
        """The kept cases, the worst first; transcripts of cases that passed have the room that the others left."""
        remaining = self._left.get(True, self.room)
        rows = sorted(self._bad, key=lambda row: row.badness)
        for kept in self._good[: self.limit - len(rows)]:
            row, remaining = _fitting(kept, remaining)
            rows.append(row)
        against = tuple(one.baseline for one in self.suite.compared)
        return CasesByArm(self.key, self.suite.arms, against, tuple(rows), self._total)


def _fitting(row: CaseRow, left: int) -> tuple[CaseRow, int]:
    """The case with its transcripts if there is room for them, and what room is left: none after the first misfit."""
    return (row, left - row.size) if row.size <= left else (replace(row, repeats=()), 0)


def lanes_of(report: CaseReport) -> tuple[GroupKey, ...]:
    """The targets, runners and models that a case was run with."""
    return tuple(dict.fromkeys(group.in_arm("") for group in report.results))


def _row(report: CaseReport, suite: SuiteHead, lane: GroupKey) -> CaseRow:
    groups = {arm: lane.in_arm(arm) for arm in suite.arms if lane.in_arm(arm) in report.results}
    summaries = {arm: report.summaries[group] for arm, group in groups.items()}
    candidates = [summaries[arm] for arm in groups if not suite.is_baseline(arm)]
    bad = [summary for summary in candidates if summary.counts.failed or summary.counts.errors]
    ordered = sorted(groups, key=suite.is_baseline)
    return CaseRow(
        case=report.case,
        cells=tuple(_cell(summaries.get(arm)) for arm in suite.arms),
        contrasts=tuple(_contrasts(report, suite, lane)),
        is_bad=bool(bad),
        badness=(*_badness(bad), report.case.index),
        reason=next(iter(_reasons(report, [groups[arm] for arm in ordered])), ""),
        asked=_asked(report.case),
        repeats=(),
    )


def _badness(bad: Sequence[CaseSummary]) -> tuple[bool, float]:
    """Return the place of a case among others by its worst arm: failures before the rest, low shares first."""
    places = [(summary.outcome is not CaseOutcome.FAILED, summary.counts.pass_share or 0.0) for summary in bad]
    return min(places, default=(True, 1.0))


def _cell(summary: CaseSummary | None) -> Cell | None:
    if summary is None:
        return None
    apart = ", in quarantine" if summary.outcome is CaseOutcome.QUARANTINED else ""
    return Cell(summary.outcome, f"{passed_text(summary.counts)}{apart}")


def _contrasts(report: CaseReport, suite: SuiteHead, lane: GroupKey) -> Iterator[tuple[str, str]]:
    pairs = {(pair.candidate, pair.baseline): pair for pair in report.pairs}
    for one in suite.compared:
        pair = pairs.get((lane.in_arm(one.candidate), lane.in_arm(one.baseline)))
        yield points(pair.difference if pair else None), outcome_text(pair.outcome if pair else None)


def _reasons(report: CaseReport, groups: Sequence[GroupKey]) -> Iterator[str]:
    for group in groups:
        for verdict in (Verdict.FAIL, Verdict.ERROR):
            for result in report.results[group]:
                if result.verdict is verdict and (reason := reason_of(result)):
                    yield f"{group.arm}: {reason}"


def _asked(case: CaseHead) -> Excerpt | None:
    if case.prompt is not None:
        return excerpt("Prompt", case.prompt)
    return None if case.input is None else excerpt("Input", as_text(case.input))


def _repeats(report: CaseReport, lane: GroupKey, arms: Sequence[str]) -> Iterator[tuple[int, tuple[Side, ...]]]:
    by_repeat: dict[int, list[Side]] = {}
    for arm in arms:
        for result in report.results.get(lane.in_arm(arm), ()):
            by_repeat.setdefault(result.repeat, []).append(_side(arm, result))
    for repeat, sides in sorted(by_repeat.items()):
        yield repeat, tuple(sides)


def _side(arm: str, result: TrialResult) -> Side:
    return Side(arm, result.verdict, result.execution.duration_s, transcript(result))
