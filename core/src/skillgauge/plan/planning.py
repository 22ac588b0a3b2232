"""From suites, what a survey found in them and who takes part to the plan of a run.

Pure: no I/O, no clock, no randomness. Everything that a plan says is given here; nothing is filled in later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeVar

from skillgauge_documents.frozen import digest
from skillgauge_documents.immutables import immutable

from ..types.plan import Cell, CellIds, Plan, SuitePlan
from ..types.suite import NO_LIMITS, Limits, Suite, SuiteFacts, TargetHead
from ..types.trial import Identity, PlanHead, SuiteHead
from .survey import Survey

T = TypeVar("T")


@immutable
class Terms:
    """The conditions that hold for all suites of a run."""

    runs: int | None = None
    """Repeats of every case, at least 1; `None` leaves them to each case, then to its suite, and then it is 1."""
    seed: int = 0
    """Of everything random in the run."""
    limits: Limits = NO_LIMITS
    """What the user asked for."""
    judges: tuple[Identity, ...] = ()
    paid_scorers: frozenset[str] = frozenset()
    """Names in checks of scorers whose verdict costs money."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    """Version of every distribution that takes part: with another version it is another plan, since results of both
    must not be mixed."""
    detect: float | None = None
    """Difference of two arms, as a fraction, that suites which compare arms are to show."""
    until_decided: bool = False
    """Whether such suites stop as soon as they have shown whether there is any."""

    def repeats(self, suite: Suite, cases: int, own: int | None = None) -> int | None:
        """Of a case of a suite that asks for so many itself; `None` if no number shows the difference that is wanted.

        Args:
            suite: whose case it is.
            cases: how many were selected.
            own: repeats that it asks for, if it does.
        """
        if self.detect is not None and suite.comparisons and cases:
            from ..stats import repeats_for, rounds_for  # noqa: PLC0415 - few plans need statistics

            return rounds_for(cases, self.detect) if self.until_decided else repeats_for(cases, self.detect)
        return self.runs or own or suite.defaults.runs or 1


def make_plan(suites: Sequence[SuitePlan], surveys: Sequence[Survey], terms: Terms) -> Plan:
    """Make the plan of a run.

    Args:
        suites: suites with their cells.
        surveys: of each of them, in the same order.
        terms: what holds for all.
    """
    heads = tuple(_suite_head(suite, survey, terms) for suite, survey in zip(suites, surveys, strict=True))
    cells = cells_of(suites)
    head = PlanHead(
        plan_id=_plan_id(heads, terms),
        suites=heads,
        trial_count=sum(head.trial_count or 0 for head in heads),
        runs=max((head.runs for head in heads), default=1),
        seed=terms.seed,
        runners=_distinct(cell.runner for cell in cells),
        models=_distinct(cell.model for cell in cells if cell.model),
        judges=terms.judges,
        provenance=dict(terms.provenance),
    )
    return Plan(head=head, suites=tuple(suites), limits=terms.limits, paid_scorers=terms.paid_scorers)


def cells_of(plans: Iterable[SuitePlan]) -> list[Cell]:
    """The cells of some suites, in their order."""
    return [cell for plan in plans for cell in plan.cells]


def _plan_id(heads: Iterable[SuiteHead], terms: Terms) -> str:
    """Digest what is run and how. Where the suites lie is no part of it: a run can go on in another checkout."""
    contents = [
        (head.id, head.content_digest, head.runs, head.until_decided)
        + ((head.trial_count,) if head.fewest_runs else ())
        for head in heads
    ]
    judges = [judge.digest for judge in terms.judges]
    return digest(contents, terms.seed, terms.limits.model_dump(mode="json"), dict(terms.provenance), judges)


def _suite_head(plan: SuitePlan, survey: Survey, terms: Terms) -> SuiteHead:
    suite, digests = plan.suite, {cell.arm.name: cell.arm.digest for cell in plan.cells}
    is_compared = any({one.candidate, one.baseline} <= digests.keys() for one in suite.comparisons)
    if terms.until_decided and not is_compared:
        terms = replace(terms, detect=None, until_decided=False)  # there is nothing to decide
    numbers = {own: terms.repeats(suite, survey.selected, own) or 1 for own in survey.by_repeats or (None,)}
    fewest, most = min(numbers.values()), max(numbers.values())
    return SuiteHead(
        **suite.told(SuiteFacts),
        content_digest=digest(survey.digest, _marks(suite.id, plan)),
        case_count=survey.selected,
        trial_count=_trial_count(plan, survey, numbers),
        runs=most,
        fewest_runs=fewest if fewest < most else None,
        until_decided=terms.until_decided,
        targets=_target_heads(plan),
        arms=tuple(digests),
        arm_digests=tuple(digests.values()),
        case_weights=survey.weighted,
        timeout_s=_timeout_of_all(plan, terms.limits),
    )


def _trial_count(plan: SuitePlan, survey: Survey, numbers: Mapping[int | None, int]) -> int:
    """Count the trials of all cells; `numbers` has the repeats of a case by those that it asks for."""
    return sum(cases * numbers[own] for cell in plan.cells for own, cases in survey.applying(cell.target).items())


def _target_heads(plan: SuitePlan) -> tuple[TargetHead, ...]:
    used = {cell.target.id for cell in plan.cells if cell.target}
    return tuple(TargetHead(**target.told(TargetHead)) for target in plan.suite.targets if target.id in used)


def _timeout_of_all(plan: SuitePlan, limits: Limits) -> float | None:
    """Return the time limit that all cells have; `None` if they differ."""
    timeouts = {limits.over(cell.limits).timeout_s for cell in plan.cells}
    return timeouts.pop() if len(timeouts) == 1 else None


def _marks(suite_id: str, plan: SuitePlan) -> list[tuple[str, str, str]]:
    """Return what decides what the cells do and where their results belong."""
    return [(ids.place, ids.versioned, ids.cell.limits.key) for ids in (CellIds(suite_id, cell) for cell in plan.cells)]


def _distinct(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))
