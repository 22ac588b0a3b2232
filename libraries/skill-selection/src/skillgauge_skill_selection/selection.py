"""Filter, rank, cut: from candidates and what reports say about them to the ones to use. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from skillgauge.api import plain
from skillgauge.api.report import milliseconds

from .catalogue import Candidate
from .evidence import SkillReport
from .strategy import Filters, Order, SortKey, Strategy


class CostUnit(StrEnum):
    """The unit in which token costs are compared."""

    USD = "USD"
    TOKENS = "tokens"


@dataclass(frozen=True)
class Assessed:
    """A candidate with its figures, and whether it was chosen."""

    candidate: Candidate
    report: SkillReport
    rank: int | None = None
    """From 1; `None` if it was not chosen."""
    reasons: tuple[str, ...] = ()
    """Why it was not chosen."""


@dataclass(frozen=True)
class Selection:
    """The result of a strategy."""

    selected: tuple[Assessed, ...]
    """Best first."""
    rejected: tuple[Assessed, ...]
    """Best first too."""
    without_report: tuple[str, ...]
    """Ids of candidates about which nothing is known."""
    cost_unit: CostUnit = CostUnit.TOKENS

    @property
    def total(self) -> int:
        """The number of candidates."""
        return len(self.selected) + len(self.rejected) + len(self.without_report)


def select(candidates: Sequence[Candidate], reports: Mapping[str, SkillReport], strategy: Strategy) -> Selection:
    """Choose among candidates.

    Args:
        candidates: with ids that differ.
        reports: the figures of each, by id.
        strategy: the rules.
    """
    with_reports = [(one, reports[one.id]) for one in candidates if one.id in reports]
    unit = cost_unit(report for _, report in with_reports)
    ordered = sorted(with_reports, key=lambda one: _sort_key(one[1], strategy, unit))
    selected: list[Assessed] = []
    rejected: list[Assessed] = []
    for candidate, report in ordered:
        reasons = tuple(_misses(candidate, report, strategy.filters))
        if not reasons and strategy.top_k and len(selected) == strategy.top_k:
            reasons = (f"not among the best {strategy.top_k}",)
        if reasons:
            rejected.append(Assessed(candidate, report, reasons=reasons))
        else:
            selected.append(Assessed(candidate, report, rank=len(selected) + 1))
    without = tuple(one.id for one in candidates if one.id not in reports)
    return Selection(tuple(selected), tuple(rejected), without, unit)


def cost_unit(reports: Iterable[SkillReport]) -> CostUnit:
    """US dollars if every skill whose usage is known at all tells them, else tokens."""
    telling = [one for one in reports if one.usd_per_call is not None or one.tokens_per_call is not None]
    priced = telling and all(one.usd_per_call is not None for one in telling)
    return CostUnit.USD if priced else CostUnit.TOKENS


def figure(report: SkillReport, key: SortKey, unit: CostUnit) -> float | None:
    """The number that a ranking compares."""
    match key:
        case SortKey.COMPOSITE_SCORE:
            return report.composite_score
        case SortKey.COMPLETION_RATE:
            return report.completion_rate
        case SortKey.LATENCY:
            return report.latency_p95_ms
        case SortKey.TOKEN_COST:
            return report.usd_per_call if unit is CostUnit.USD else report.tokens_per_call
        case _:
            assert_never(key)


def _sort_key(report: SkillReport, strategy: Strategy, unit: CostUnit) -> tuple[object, ...]:
    """Unknown last in either order; ties go to the better composite score, then completion rate, then by id."""
    value = figure(report, strategy.sort_by, unit)
    sign = 1 if (strategy.order or strategy.sort_by.natural_order) is Order.ASCENDING else -1
    return (
        value is None,
        sign * (value or 0),
        -(report.composite_score or 0),
        -(report.completion_rate or 0),
        report.skill_id,
    )


def _misses(candidate: Candidate, report: SkillReport, filters: Filters) -> Iterator[str]:
    """Yield what a candidate lacks. A figure that is not known meets no limit."""
    rate, least = report.completion_rate, filters.min_completion_rate
    if least is not None and not _is_at_least(rate, least):
        yield f"completion rate {_share(rate)} is below {_share(least)}"
    errors, most = report.error_rate, filters.max_error_rate
    if most is not None and not _is_at_most(errors, most):
        yield f"error rate {_share(errors)} is above {_share(most)}"
    p95, slowest = report.latency_p95_ms, filters.max_latency_p95_ms
    if slowest is not None and not _is_at_most(p95, slowest):
        yield f"p95 latency {milliseconds(p95)} is above {milliseconds(slowest)}"
    yield from _unfit_kind(candidate, filters)


def _unfit_kind(candidate: Candidate, filters: Filters) -> Iterator[str]:
    """Yield what a candidate is not, whatever its figures."""
    if filters.adapter_types and candidate.adapter not in filters.adapter_types:
        yield f"adapter {plain(candidate.adapter or 'none')} is not {' or '.join(map(plain, filters.adapter_types))}"
    missing = [tag for tag in filters.required_tags if tag not in candidate.tags]
    if missing:
        noun = "tag" if len(missing) == 1 else "tags"
        yield f"{noun} {', '.join(map(plain, missing))} missing"


def _is_at_least(value: float | None, least: float) -> bool:
    return value is not None and value >= least


def _is_at_most(value: float | None, most: float) -> bool:
    return value is not None and value <= most


def _share(share: float | None) -> str:
    """A share in percent, with as many digits as reports have, so that what lies just below a limit looks so."""
    return "(unknown)" if share is None else f"{share * 100:.4g}%"
