"""The numbers of the format."""

from __future__ import annotations

from collections.abc import Mapping

from skillgauge.api.report import Figure, GroupKey, GroupSummary, SuiteSummary

SCORE = "score"


def figures(summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
    """The score of each arm as Tessl shows it: the mean share of the points, whatever the pass mark."""
    return {group.key: (_score(group),) for group in summary.groups}


def _score(group: GroupSummary) -> Figure:
    graded = group.counts.passed + group.counts.failed
    return Figure(name=SCORE, label="Score", value=group.mean_value, unit="score", n=graded)
