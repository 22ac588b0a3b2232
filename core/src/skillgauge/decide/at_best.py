"""The figures that so few cases can show at best, told before anything is paid for, of suites without a pass rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from skillgauge_documents.characters import plain
from skillgauge_documents.frozen import Frozen

from ..plan.preparing import Prepared
from ..report.wording import figure_text, rated_figures
from ..stats import RateInterval, RateTally
from ..types.comparison import Counts
from ..types.plan import Cell, SuitePlan, applies
from ..types.results.summaries import Figure, GroupSummary, SuiteSummary, TagSummary
from ..types.suite import Case
from ..types.trial import SuiteHead

_Repeated: TypeAlias = tuple[Case, int]
"""A case, and how often it is run."""


class AtBest(Frozen):
    """The figures in place of a pass rate, were every session right."""

    suite: str
    target: str | None
    arm: str
    runner: str
    model: str | None
    figures: tuple[Figure, ...]


def at_best(prepared: Prepared) -> tuple[AtBest, ...]:
    """Every group of the plan whose format says that it has figures in place of a pass rate."""
    return tuple(_of_plan(prepared))


def at_best_text(best: AtBest) -> str:
    """Say in one sentence what a group can show."""
    figures = ", ".join(f"{plain(figure.label)} {figure_text(figure)}" for figure in best.figures)
    return f"{plain(best.suite)} shows at best, were every session right: {figures}"


def _of_plan(prepared: Prepared) -> Iterator[AtBest]:
    plan = prepared.plan
    for suite, head in zip(plan.suites, plan.head.suites, strict=True):
        for cell in suite.cells if prepared.suites.has_headline(head) else ():
            group = _perfect(suite, cell, head, plan.head.seed)
            figures = prepared.suites.figures(SuiteSummary(suite=head, groups=(group,)))
            rated = rated_figures(group.model_copy(update={"figures": figures.get(group.key, ())}))
            if rated:
                yield AtBest(
                    suite=suite.suite.id,
                    target=group.target_id,
                    arm=group.arm,
                    runner=group.runner,
                    model=group.model,
                    figures=tuple(figure for figure in rated if figure.value is not None),
                )


def _perfect(suite: SuitePlan, cell: Cell, head: SuiteHead, seed: int) -> GroupSummary:
    """Return the group of a cell in which every session was right."""
    cases = [(case, suite.repeats(case, head)) for _, case in suite.cases() if applies(case, cell.target)]
    by_tag: dict[str, list[_Repeated]] = {}
    for repeated in cases:
        for tag in repeated[0].tags:
            by_tag.setdefault(tag, []).append(repeated)
    return GroupSummary(
        suite_id=suite.suite.id,
        target_id=cell.target_id,
        arm=cell.arm.name,
        runner=cell.runner.name,
        model=cell.model,
        counts=_all_passed(cases),
        pass_rate=_rate(cases, head.runs, seed),
        tags=_tags(by_tag, head.runs, seed),
    )


def _tags(by_tag: Mapping[str, Sequence[_Repeated]], runs: int, seed: int) -> tuple[TagSummary, ...]:
    return tuple(
        TagSummary(tag=tag, counts=_all_passed(cases), pass_rate=_rate(cases, runs, seed))
        for tag, cases in sorted(by_tag.items())
    )


def _all_passed(cases: Sequence[_Repeated]) -> Counts:
    sessions = sum(repeats for _, repeats in cases)
    return Counts(total=sessions, passed=sessions)


def _rate(cases: Sequence[_Repeated], runs: int, seed: int) -> RateInterval:
    tally = RateTally()
    for case, _ in cases:
        tally.add(1.0, (1.0, 1.0), case.cluster)
    return tally.rate(runs, seed)
