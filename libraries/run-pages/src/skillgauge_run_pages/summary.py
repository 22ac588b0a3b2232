"""The suites of a run with the figures of their groups, as its summary tells; no trial is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from skillgauge.api import DIRECT, SuiteHead, plain
from skillgauge.api.report import (
    Figure,
    GroupKey,
    GroupSummary,
    RunView,
    SuiteValidity,
    TagSummary,
    counted,
    headline,
    headline_text,
    interval_text,
    labels,
    rated_figures,
    score_text,
)

TAGS = 5_000
"""Tags that are listed on a page, shared evenly among its groups."""
SHORT_TAGS = 20
"""Tags of a group that stand open; a longer table is folded, so that what comes after it is in reach."""


@dataclass(frozen=True)
class GroupFigures:
    """A group of trials, and its summary where there is one."""

    key: GroupKey
    group: GroupSummary | None
    tags: tuple[TagSummary, ...] = ()
    """The group's tags that are listed."""

    @property
    def tags_are_open(self) -> bool:
        """True if their table stands open."""
        return len(self.tags) <= SHORT_TAGS

    @property
    def figures(self) -> Mapping[str, Figure]:
        """The format's numbers by name, without those that stand in place of a pass rate."""
        if self.group is None:
            return {}
        apart = rated_figures(self.group)
        return {figure.name: figure for figure in self.group.figures if figure not in apart}


@dataclass(frozen=True)
class SuiteFigures:
    """A suite with its groups."""

    head: SuiteHead
    title: str
    """Its name, or its id if it has none of its own."""
    validity: SuiteValidity | None
    groups: tuple[GroupFigures, ...]

    @property
    def summarized(self) -> tuple[GroupFigures, ...]:
        """The groups that have a summary."""
        return tuple(one for one in self.groups if one.group)

    @property
    def rated(self) -> tuple[GroupFigures, ...]:
        """Those of them whose format has figures in place of a pass rate."""
        return tuple(one for one in self.summarized if one.group and rated_figures(one.group))

    @property
    def with_rate(self) -> tuple[GroupFigures, ...]:
        """The others."""
        return tuple(one for one in self.summarized if one.group and not rated_figures(one.group))

    @property
    def figure_heads(self) -> Mapping[str, str]:
        """Name and label of every number that the format gives."""
        return {figure.name: figure.label for one in self.groups for figure in one.figures.values()}

    @property
    def is_invalid(self) -> bool:
        """True if its results prove nothing."""
        return self.validity is not None and not self.validity.valid


def rate_of(view: RunView) -> str:
    """The rate of a run in a sentence, which is its answer if it compares nothing; empty if that proves nothing.

    Of several groups it is the number of trials that passed.
    """
    groups, validity = view.summary.groups, view.summary.validity
    if not view.summary.counts.total or not all(one.valid for one in validity):
        return ""
    rate = headline(groups[0]).interval if len(groups) == 1 else None
    if rate is None or rate.lower is None:
        return score_text(view)
    known = f"n = {counted(rate.n, 'case')}, {counted(groups[0].counts.errors, 'error')}"
    known += f", {rate.level:.0%} interval {interval_text(rate)}"
    return f"{labels(groups)[0]}: {headline_text(groups[0])} ({known})"


def suites_of(view: RunView) -> tuple[SuiteFigures, ...]:
    """Return the suites of a run with the groups that it has a summary of."""
    limit = max(1, TAGS // max(1, len(view.summary.groups)))
    groups: dict[str, list[GroupFigures]] = {}
    for summary in view.summary.groups:
        figures = GroupFigures(summary.key, summary, _tags(summary.tags, limit))
        groups.setdefault(summary.suite_id, []).append(figures)
    validity = {each.suite_id: each for each in view.summary.validity}
    names = Counter(suite.name for suite in view.head.suites)
    return tuple(
        SuiteFigures(
            suite,
            suite.name if suite.name and names[suite.name] == 1 else suite.id,
            validity.get(suite.id),
            tuple(groups.get(suite.id, ())),
        )
        for suite in view.head.suites
    )


def group_name(group: GroupKey | GroupSummary) -> str:
    """A group for people: target, arm and model."""
    arm = group.arm if group.arm != DIRECT.name else None
    return " · ".join(plain(part, 60) for part in (group.target_id, arm, group.model) if part)


def _tags(tags: tuple[TagSummary, ...], limit: int) -> tuple[TagSummary, ...]:
    """All tags in their order, or those of most cases if there are too many."""
    if len(tags) <= limit:
        return tags
    most = sorted(range(len(tags)), key=lambda at: tags[at].pass_rate.n, reverse=True)[:limit]
    return tuple(tags[at] for at in sorted(most))
