"""The numbers of the format."""

from __future__ import annotations

from skillgauge.api import Figure, GroupSummary, SuiteHead

from .triggers import SHOULD, SHOULD_NOT

TRIGGERS = "triggers"
"""Dialect of suites of queries."""


def figures(group: GroupSummary, suite: SuiteHead) -> tuple[Figure, ...]:
    """A group's numbers; `None` where nothing was measured."""
    if suite.dialect != TRIGGERS:
        return (Figure(name="pass_rate", label="Expectations met", value=group.mean_value, unit="ratio"),)
    rates = {tag.tag: tag.pass_rate.rate for tag in group.tags}
    return (
        Figure(name="trigger_rate", label="Fired when it should", value=rates.get(SHOULD), unit="ratio"),
        Figure(name="silence_rate", label="Silent when it should be", value=rates.get(SHOULD_NOT), unit="ratio"),
    )
