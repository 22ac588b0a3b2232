"""The numbers of the format."""

from __future__ import annotations

from collections.abc import Mapping

from skillgauge.api.report import Figure, GroupKey, GroupSummary, PairSummary, SuiteSummary

REWARD = "avg_reward"
"""Name of the figure that is the completion rate."""
LIFT = "lift"
HIGH = 0.9
"""A baseline that reaches this leaves little to be gained."""


def figures(summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
    """The average reward of each arm, and what the skill adds to it."""
    groups = {group.key: group for group in summary.groups}
    pairs = {pair.candidate: pair for pair in summary.pairs}
    return {key: (_reward(group), *_lifts(group, pairs.get(key), groups)) for key, group in groups.items()}


def _reward(group: GroupSummary) -> Figure:
    graded = group.counts.passed + group.counts.failed
    return Figure(name=REWARD, label="Avg reward", value=group.mean_value, unit="score", n=graded)


def _lifts(
    group: GroupSummary, pair: PairSummary | None, groups: Mapping[GroupKey, GroupSummary]
) -> tuple[Figure, ...]:
    """Lift of the means and of the passed cases, unknown where the arms are over different cases."""
    if pair is None or pair.baseline not in groups:
        return ()
    baseline = groups[pair.baseline]
    differ = any(count for _, count in pair.dropped)
    graded = group.counts.passed + group.counts.failed
    has_lift = not differ and group.mean_value is not None and baseline.mean_value is not None
    note = "the arms are over different cases, since some have no reward" if differ else ""
    if baseline.mean_value is not None and baseline.mean_value >= HIGH:
        note = "the baseline alone is this good, so these cases leave the skill little to add"
    reward = (group.mean_value or 0.0) - (baseline.mean_value or 0.0) if has_lift else None
    passed = float(group.counts.passed - baseline.counts.passed) if has_lift else None
    return (
        Figure(name=LIFT, label="Reward lift", value=reward, unit="score", n=pair.n, note=note),
        Figure(name="passed_lift", label="Passed lift", value=passed, n=graded),
    )
