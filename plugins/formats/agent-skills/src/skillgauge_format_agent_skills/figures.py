"""The numbers of the format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillgauge.api import SuiteHead
from skillgauge.api.report import Figure, GroupSummary, TagSummary

from .suites.cases import FIRED, SILENT
from .suites.triggers import SHOULD, SHOULD_NOT, split_tag

TRIGGERS = "triggers"
"""Dialect of suites of queries."""
BALANCED = "balanced_accuracy"
"""Mean of the two rates of a suite of queries: one rate over all of them would call a skill good that never fires."""


def figures(group: GroupSummary, suite: SuiteHead) -> tuple[Figure, ...]:
    """A group's numbers; `None` where nothing was measured."""
    if suite.dialect != TRIGGERS:
        graded = group.counts.passed + group.counts.failed
        return (Figure(name="pass_rate", label="Expectations met", value=group.mean_value, unit="ratio", n=graded),)
    tags = {tag.tag: tag for tag in group.tags}
    should, silent = tags.get(SHOULD), tags.get(SHOULD_NOT)
    sides = [tag for tag in (should, silent) if tag and tag.pass_rate.rate is not None]
    never = should is not None and should.counts.passed == 0 < should.counts.failed
    return (
        Figure(
            name=BALANCED,
            label="Balanced accuracy",
            value=_mean([tag.pass_rate.rate for tag in sides]),
            unit="ratio",
            bounds=_bounds(sides) if group.counts.errors else None,
            is_headline=True,
            note="the skill never fired, whatever was asked" if never else "",
        ),
        Figure(name="trigger_rate", label=FIRED, unit="ratio", **_rate(should)),
        Figure(name="silence_rate", label=SILENT, unit="ratio", **_rate(silent)),
        *(figure for split in _splits(tags) for figure in _of_split(split, tags)),
    )


def _splits(tags: Mapping[str, TagSummary]) -> list[str]:
    """Parts of the set, such as train and held-out queries."""
    return [tag for tag in tags if any(split_tag(tag, side) in tags for side in (SHOULD, SHOULD_NOT))]


def _of_split(split: str, tags: Mapping[str, TagSummary]) -> Iterator[Figure]:
    """The same three numbers of one part: a description fitted to its train queries is right on those alone."""
    should, silent = (tags.get(split_tag(split, side)) for side in (SHOULD, SHOULD_NOT))
    sides = [tag for tag in (should, silent) if tag and tag.pass_rate.rate is not None]
    errors = any(tag.counts.errors for tag in (should, silent) if tag)
    yield Figure(
        name=f"{BALANCED}:{split}",
        label=f"Balanced accuracy ({split})",
        value=_mean([tag.pass_rate.rate for tag in sides]),
        unit="ratio",
        bounds=_bounds(sides) if errors else None,
        n=sum(tag.counts.passed + tag.counts.failed for tag in sides),
    )
    yield Figure(name=f"trigger_rate:{split}", label=f"{FIRED} ({split})", unit="ratio", **_rate(should))
    yield Figure(name=f"silence_rate:{split}", label=f"{SILENT} ({split})", unit="ratio", **_rate(silent))


def _rate(tag: TagSummary | None) -> dict[str, Any]:
    return {"value": tag.pass_rate.rate if tag else None, "interval": tag.pass_rate if tag else None}


def _mean(rates: Sequence[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known else None


def _bounds(sides: Sequence[TagSummary]) -> tuple[float, float] | None:
    """The mean if all errors had been fails, and if all had been passes."""
    ends = [tag.counts.pass_bounds for tag in sides]
    low, high = (_mean([end[at] if end else None for end in ends]) for at in (0, 1))
    return None if low is None or high is None else (low, high)
