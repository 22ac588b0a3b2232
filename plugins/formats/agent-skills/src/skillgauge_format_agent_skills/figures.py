"""The numbers of the format."""

from __future__ import annotations

from skillgauge.api import Figure, GroupSummary, SuiteHead

from .cases import FIRED, SILENT
from .triggers import SHOULD, SHOULD_NOT

TRIGGERS = "triggers"
"""Dialect of suites of queries."""


def figures(group: GroupSummary, suite: SuiteHead) -> tuple[Figure, ...]:
    """A group's numbers; `None` where nothing was measured."""
    if suite.dialect != TRIGGERS:
        graded = group.counts.passed + group.counts.failed
        return (Figure(name="pass_rate", label="Expectations met", value=group.mean_value, unit="ratio", n=graded),)
    rates = {tag.tag: tag.pass_rate.rate for tag in group.tags}
    return (
        Figure(name="trigger_rate", label=FIRED, value=rates.get(SHOULD), unit="ratio"),
        Figure(name="silence_rate", label=SILENT, value=rates.get(SHOULD_NOT), unit="ratio"),
    )
