"""The page of two runs beside each other, by the rule of `report diff`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillgauge.api.report import RunView, moment
from skillgauge_run_comparisons import MAX_DROP, DiffDocument, Report, Terms, compare
from skillgauge_run_comparisons.document import CheckChange, Presence, SkillDiff, TaskChange, Turn
from skillgauge_run_comparisons.numbers import BASELINE, LISTED, arrow, circumstances, delta, evidence, judgement, value

from ..rows import RunRow
from .remarks import Remarks
from .run_page import case_key

_TURNS = {Turn.BROKE: "failed", Turn.WEAKER: "failed", Turn.FIXED: "passed", Turn.STRONGER: "passed"}
_PRESENCE = {Presence.BOTH: "", Presence.NEW: "only in the later run", Presence.REMOVED: "only in the earlier run"}


@dataclass(frozen=True)
class MetricLine:
    """A metric of a skill in both runs."""

    label: str
    before: str
    after: str
    change: str


@dataclass(frozen=True)
class SkillPart:
    """A skill in both runs."""

    diff: SkillDiff
    metrics: tuple[MetricLine, ...]
    sentences: tuple[str, ...]
    lists: tuple[tuple[str, tuple[str, ...]], ...]
    """Tasks that were not compared, by the reason."""

    @property
    def changes(self) -> Sequence[TaskChange]:
        """The tasks that changed, as many as are listed."""
        return self.diff.changes[:LISTED]

    @property
    def checks(self) -> Sequence[CheckChange]:
        """The checks that changed, as many as are listed."""
        return self.diff.checks[:LISTED]

    @property
    def left_out(self) -> int:
        """Tasks and checks that are not listed."""
        return max(0, len(self.diff.changes) - LISTED) + max(0, len(self.diff.checks) - LISTED)

    @property
    def presence(self) -> str:
        """The runs that have it, in words; empty if both do."""
        return _PRESENCE[self.diff.presence]


@dataclass(frozen=True)
class ComparePage:
    """Two runs beside each other."""

    before: RunRow
    after: RunRow
    document: DiffDocument
    skills: tuple[SkillPart, ...]
    cases_before: Mapping[tuple[str, str], str]
    cases_after: Mapping[tuple[str, str], str]
    """Names of cases in addresses, by suite and id."""


def compare_page(before: tuple[RunRow, RunView], after: tuple[RunRow, RunView], remarks: Remarks) -> ComparePage:
    """Compare two runs; reads the trials of both.

    Args:
        before: the earlier run, with its row in a list.
        after: the later one.
        remarks: those of plugins on runs.
    """
    first, second = (
        Report(view, moment(row.started_at), row.run_id, remarks=remarks.on(view)[1]) for row, view in (before, after)
    )
    document = compare(first, second, Terms(max_drop=MAX_DROP, is_gate=False))
    parts = tuple(_part(skill) for skill in document.skills)
    return ComparePage(before[0], after[0], document, parts, _cases(before[1]), _cases(after[1]))


def turn_class(turn: Turn) -> str:
    """The colour of a change."""
    return _TURNS[turn]


def _cases(view: RunView) -> Mapping[tuple[str, str], str]:
    return {(case.suite_id, case.id): case_key(case, view) for case in view.cases()}


def _part(skill: SkillDiff) -> SkillPart:
    metrics = tuple(
        MetricLine(
            metric.label,
            value(metric.before, metric.unit),
            value(metric.after, metric.unit),
            f"{delta(metric)} {arrow(metric)}".strip(),
        )
        for metric in skill.metrics
    )
    sentences = [*evidence(skill), *judgement(skill)]
    if skill.role == "baseline":
        sentences.insert(0, BASELINE)
    if skill.also_changed:
        sentences.append(f"{circumstances(skill)}: {', '.join(skill.also_changed)}.")
    if skill.common_tasks_only:
        sentences.append("The figures are computed over the cases that both runs have.")
    lists = (
        ("Cases only in the earlier run", skill.tasks.only_before),
        ("Cases only in the later run", skill.tasks.only_after),
        ("Cases with errors only, not compared", skill.tasks.ungraded),
        ("Cases that ask or check something else now, not compared", skill.tasks.changed),
        ("Cases in quarantine, not compared", skill.tasks.quarantined),
    )
    shown = tuple((title, tasks) for title, tasks in lists if tasks and skill.presence is Presence.BOTH)
    return SkillPart(skill, metrics, tuple(sentences), shown)
