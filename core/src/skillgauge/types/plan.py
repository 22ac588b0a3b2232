"""The plan of a run: suites, the cells that their cases run in, and the trials that follow, each under its ids.

Pure: no I/O, no clock, no randomness beyond the seed. Trials are made one by one, so that a plan of a million
costs no more memory than a plan of ten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from random import Random

from skillgauge_documents.frozen import Frozen, digest, digest_text
from skillgauge_documents.immutables import immutable

from .arms import Arm
from .suite import Case, Limits, Suite, Target
from .trial import Identity, PlanHead, SuiteHead, Trial


class Selection(Frozen):
    """The cases and targets of the suites that take part; empty selects all."""

    cases: tuple[str, ...] = ()
    """Glob patterns, matched against a case's id and name."""
    tags: tuple[str, ...] = ()
    """A case takes part if it carries any of them."""
    targets: tuple[str, ...] = ()

    def admits(self, case: Case) -> bool:
        """Tell whether a case takes part."""
        if self.cases and not any(fnmatchcase(case.id, glob) or fnmatchcase(case.name, glob) for glob in self.cases):
            return False
        return not self.tags or any(tag in self.tags for tag in case.tags)

    @property
    def is_given(self) -> bool:
        """True if anything is selected at all."""
        return bool(self.cases or self.tags or self.targets)


@immutable
class Cell:
    """One combination of everything but case and repeat."""

    arm: Arm
    runner: Identity
    target: Target | None = None
    model: str | None = None
    paid: bool = False
    limits: Limits = field(default_factory=Limits)
    """Limits that hold where neither the case nor the user sets one."""

    @property
    def target_id(self) -> str | None:
        """Id of its target, if it has one."""
        return self.target.id if self.target else None


@immutable
class SuitePlan:
    """A suite with the cells its cases run in, grouped by target: one target's cells lie together."""

    suite: Suite
    cells: tuple[Cell, ...]
    selection: Selection = field(default_factory=Selection)

    def cases(self) -> Iterator[tuple[int, Case]]:
        """Selected cases with their index in the suite."""
        return ((index, case) for index, case in enumerate(self.suite.cases) if self.selection.admits(case))

    def repeats(self, case: Case, head: SuiteHead) -> int:
        """Tell how often a case is run; its own number counts where the head says that cases differ."""
        if head.fewest_runs is None:
            return head.runs
        return case.runs or self.suite.defaults.runs or 1

    def cases_of(self, repeat: int, head: SuiteHead) -> Iterator[tuple[int, Case]]:
        """Selected cases that are run so often."""
        return ((index, case) for index, case in self.cases() if repeat <= self.repeats(case, head))

    def by_target(self) -> dict[str | None, list[Cell]]:
        """Cells of each target, in order of appearance."""
        groups: dict[str | None, list[Cell]] = {}
        for cell in self.cells:
            groups.setdefault(cell.target_id, []).append(cell)
        return groups


Round = tuple[int, list[Iterator[tuple["Trial", ...]]]]
"""A repeat, and of each suite the trials of it, case by case."""


@dataclass(frozen=True)
class Plan:
    """The plan of a run."""

    head: PlanHead
    suites: tuple[SuitePlan, ...]
    limits: Limits
    """What the user asked for on the command line; a case's own limits go before it."""
    paid_scorers: frozenset[str] = frozenset()
    """Names in checks of scorers whose verdict costs money."""

    def is_paid(self, case: Case) -> bool:
        """Tell whether grading a case costs money, whatever carries it out."""
        asked = (*case.checks, case.user.check) if case.user else case.checks
        return bool(self.paid_scorers) and any(check.scorer in self.paid_scorers for check in asked)

    def trials(self) -> Iterator[Trial]:
        """Every trial, in the order in which a run with concurrency 1 executes them.

        Repeats are outermost, so that drift of a remote service touches all cases alike; the arms and engines of
        one case are next to each other for the same reason.
        """
        if self.head.until_decided:
            return (trial for _, suites in self.rounds() for cases in suites for case in cases for trial in case)
        return self._suite_by_suite()

    def rounds(self) -> Iterator[Round]:
        """Every trial, round by round.

        The cases of a suite are shuffled anew for each round, so that none is always the first.
        """
        cells = [[CellIds(suite.suite.id, cell) for cell in suite.cells] for suite in self.suites]
        ordinal = 0
        for repeat in range(1, self.head.runs + 1):
            of_suites = []
            for suite, head, ids in zip(self.suites, self.head.suites, cells, strict=True):
                cases = list(suite.cases_of(repeat, head))
                Random(f"{self.head.seed}|{head.id}|{repeat}").shuffle(cases)
                of_suites.append(self._round(cases, ids, repeat, ordinal))
                ordinal += sum(applies(case, cell.cell.target) for _, case in cases for cell in ids)
            yield repeat, of_suites

    def _round(
        self, cases: Sequence[tuple[int, Case]], cells: Sequence[CellIds], repeat: int, ordinal: int
    ) -> Iterator[tuple[Trial, ...]]:
        for index, case in cases:
            fitting = [cell for cell in cells if applies(case, cell.cell.target)]
            yield tuple(
                cell.trial(case, index, repeat, place, self) for place, cell in enumerate(fitting, start=ordinal)
            )
            ordinal += len(fitting)

    def _suite_by_suite(self) -> Iterator[Trial]:
        ordinal = 0
        for suite, head in zip(self.suites, self.head.suites, strict=True):
            groups = [[CellIds(suite.suite.id, cell) for cell in cells] for cells in suite.by_target().values()]
            for repeat in range(1, head.runs + 1):
                for group in groups:
                    for index, case in suite.cases_of(repeat, head):
                        for cell in group:
                            if applies(case, cell.cell.target):
                                yield cell.trial(case, index, repeat, ordinal, self)
                                ordinal += 1


def applies(case: Case, target: Target | None) -> bool:
    """Tell whether a case is meant for a target."""
    return not case.targets or target is None or target.id in case.targets


class CellIds:
    """Makes the trials of one cell; what they share is digested once."""

    def __init__(self, suite_id: str, cell: Cell) -> None:
        self.cell = cell
        self._suite_id = suite_id
        target = cell.target.digest if cell.target else ""
        self.versioned = digest(cell.arm.digest, target, cell.model, cell.runner.digest)
        self.place = digest(suite_id, cell.target_id, cell.arm.name, cell.runner.digest, cell.model)

    def trial(self, case: Case, index: int, repeat: int, ordinal: int, plan: Plan) -> Trial:
        """One repeat of a case in this cell."""
        cell = self.cell
        limits = case.limits.over(plan.limits).over(cell.limits)
        work = case.work(limits, repeat)
        if case.user:
            work += "".join(f"|{judge.digest}" for judge in plan.head.judges)
        execution_id = digest_text(f"{self.versioned}|{work}")
        return Trial.of_known(
            trial_id=digest_text(f"{self.place}|{execution_id}|{index}|{case.id}"),
            execution_id=execution_id,
            ordinal=ordinal,
            suite_id=self._suite_id,
            case=case,
            case_index=index,
            target=cell.target,
            arm=cell.arm,
            runner=cell.runner,
            model=cell.model,
            repeat=repeat,
            seed=int(digest_text(f"{plan.head.seed}|{case.id}|{repeat}")[:8], 16),
            limits=limits,
            paid=cell.paid or plan.is_paid(case),
        )
