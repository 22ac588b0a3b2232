"""A selection for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Frozen, JsonObject, plain
from skillgauge.api.report import UNKNOWN, listed, milliseconds, percent

from .evidence import Evidence, SkillReport, uneven
from .selection import Assessed, CostUnit, Selection
from .strategy import SortKey, Strategy

HEADS = ("Rank", "Skill ID", "Completion", "Error Rate", "Score")


class AssessedDocument(Frozen):
    """A candidate as `--json` prints it."""

    rank: int | None
    """`None` if it was not chosen."""
    reasons: tuple[str, ...] = ()
    """Why it was not chosen."""
    report: SkillReport
    skill: JsonObject
    """The skill object, as it stands in its file."""


class SelectionDocument(Frozen):
    """A selection as `--json` prints it; commands add what else they have to say."""

    schema_version: str = "1.0"
    strategy: JsonObject
    """The rules that were followed, in the spelling of a strategy file."""
    total: int
    """How many candidates there were."""
    cost_unit: str
    """What token costs were compared in."""
    selected: tuple[AssessedDocument, ...]
    rejected: tuple[AssessedDocument, ...]
    without_report: tuple[str, ...]


def selection_document(selection: Selection, strategy: Strategy) -> SelectionDocument:
    """A selection and the strategy behind it."""
    return SelectionDocument(
        strategy=strategy.model_dump(mode="json", by_alias=True),
        total=selection.total,
        cost_unit=selection.cost_unit,
        selected=tuple(map(_document, selection.selected)),
        rejected=tuple(map(_document, selection.rejected)),
        without_report=selection.without_report,
    )


def _document(one: Assessed) -> AssessedDocument:
    return AssessedDocument(rank=one.rank, reasons=one.reasons, report=one.report, skill=one.candidate.document)


def ranking_table(
    assessed: Iterable[Assessed], strategy: Strategy, unit: CostUnit
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and rows of a ranking; what it is sorted by has a column of its own if no other shows it."""
    extra = _extra_head(strategy.sort_by, unit)
    rows = [(*_row(one.rank, one.report), *_extra_cells(one.report, strategy.sort_by, unit)) for one in assessed]
    return (*HEADS, *extra), rows


def selection_notices(selection: Selection, evidence: Evidence) -> tuple[str, ...]:
    """Say why each of the other candidates was not chosen, and what makes the comparison less than even."""
    rejected = [f"not selected: {plain(one.candidate.id)}: {'; '.join(one.reasons)}" for one in selection.rejected]
    compared = [one.report for one in (*selection.selected, *selection.rejected)]
    mixed = uneven(compared)
    others = sorted(evidence.by_skill.keys() - {report.skill_id for report in compared})
    without = ""
    if selection.without_report:
        beside = f" (there are reports of {listed(others)})" if others else ""
        without = f"no report of {listed(selection.without_report)}{beside}"
    return (*evidence.notices, *rejected, *(text for text in (without, mixed) if text))


def _row(rank: int | None, report: SkillReport) -> tuple[str, ...]:
    rate = percent(report.completion_rate)
    return (
        "-" if rank is None else str(rank),
        plain(report.skill_id),
        f"{rate} (n = {report.cases})" if report.cases else rate,
        percent(report.error_rate),
        UNKNOWN if report.composite_score is None else f"{report.composite_score:.3f}",
    )


def _extra_head(key: SortKey, unit: CostUnit) -> tuple[str, ...]:
    match key:
        case SortKey.LATENCY:
            return ("P95",)
        case SortKey.TOKEN_COST:
            return (f"{unit} per call",)
        case SortKey.COMPOSITE_SCORE | SortKey.COMPLETION_RATE:
            return ()


def _cost_text(cost: float | None, unit: CostUnit) -> str:
    if cost is None:
        return UNKNOWN
    return f"{cost:.6f}" if unit is CostUnit.USD else f"{cost:,.0f}"


def _extra_cells(report: SkillReport, key: SortKey, unit: CostUnit) -> tuple[str, ...]:
    match key:
        case SortKey.LATENCY:
            return (milliseconds(report.latency_p95_ms),)
        case SortKey.TOKEN_COST:
            cost = report.usd_per_call if unit is CostUnit.USD else report.tokens_per_call
            return (_cost_text(cost, unit),)
        case SortKey.COMPOSITE_SCORE | SortKey.COMPLETION_RATE:
            return ()
