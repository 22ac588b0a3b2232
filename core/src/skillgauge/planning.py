"""From suites to trials: which work a run consists of, in which order, under which ids.

Pure: no I/O, no clock, no randomness beyond the seed. Trials are made one by one, so that a plan of a million
costs no more memory than a plan of ten.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TypeVar

from .errors import Origin, Problem
from .types.frozen import Frozen, canonical_json, digest, digest_text
from .types.suite import Arm, Case, Check, Limits, Suite, Target
from .types.trial import Identity, PlanHead, SuiteHead, TargetHead, Trial

T = TypeVar("T")


class Selection(Frozen):
    """Which cases and targets of the suites take part; empty selects all."""

    cases: tuple[str, ...] = ()
    """Glob patterns, matched against a case's id and name."""
    tags: tuple[str, ...] = ()
    """A case takes part if it carries any of them."""
    targets: tuple[str, ...] = ()

    def admits(self, case: Case) -> bool:
        """Whether a case takes part."""
        if self.cases and not any(fnmatchcase(case.id, glob) or fnmatchcase(case.name, glob) for glob in self.cases):
            return False
        return not self.tags or any(tag in self.tags for tag in case.tags)

    @property
    def is_given(self) -> bool:
        """Whether anything is selected at all."""
        return bool(self.cases or self.tags or self.targets)


@dataclass(frozen=True)
class Cell:
    """One combination of everything but case and repeat."""

    arm: Arm
    runner: Identity
    target: Target | None = None
    model: str | None = None
    paid: bool = False
    limits: Limits = field(default_factory=Limits)
    """Limits that hold where neither the case nor the user sets one."""


@dataclass(frozen=True)
class SuitePlan:
    """A suite with the cells its cases run in, grouped by target: one target's cells lie together."""

    suite: Suite
    cells: tuple[Cell, ...]
    selection: Selection = field(default_factory=Selection)

    def cases(self) -> Iterator[tuple[int, Case]]:
        """Selected cases with their index in the suite."""
        return ((index, case) for index, case in enumerate(self.suite.cases) if self.selection.admits(case))

    def by_target(self) -> dict[str | None, list[Cell]]:
        """Cells of each target, in order of appearance."""
        groups: dict[str | None, list[Cell]] = {}
        for cell in self.cells:
            groups.setdefault(cell.target.id if cell.target else None, []).append(cell)
        return groups


@dataclass(frozen=True)
class Plan:
    """What a run will do."""

    head: PlanHead
    suites: tuple[SuitePlan, ...]
    limits: Limits
    """What the user asked for on the command line; a case's own limits go before it."""
    paid_scorers: frozenset[str] = frozenset()
    """Names in checks of scorers whose verdict costs money."""

    def is_paid(self, case: Case) -> bool:
        """Whether grading a case costs money, whatever carries it out."""
        return bool(self.paid_scorers) and any(check.scorer in self.paid_scorers for check in case.checks)

    def trials(self) -> Iterator[Trial]:
        """Every trial, in the order in which a run with concurrency 1 executes them.

        Repeats are outermost, so that drift of a remote service touches all cases alike; the arms and engines of
        one case are next to each other for the same reason.
        """
        ordinal = 0
        for suite, head in zip(self.suites, self.head.suites, strict=True):
            groups = [[_CellIds(suite.suite.id, cell) for cell in cells] for cells in suite.by_target().values()]
            for repeat in range(1, head.runs + 1):
                for group in groups:
                    for index, case in suite.cases():
                        for cell in group:
                            if applies(case, cell.cell.target):
                                yield cell.trial(case, index, repeat, ordinal, self)
                                ordinal += 1


def applies(case: Case, target: Target | None) -> bool:
    """Whether a case is meant for a target."""
    return not case.targets or target is None or target.id in case.targets


class _CellIds:
    """Makes the trials of one cell; what they share is digested once."""

    def __init__(self, suite_id: str, cell: Cell) -> None:
        self.cell = cell
        self._suite_id = suite_id
        target = cell.target.digest if cell.target else ""
        shared = (cell.arm.digest, target, cell.model)
        self._versioned = digest(*shared, cell.runner.digest)
        self._unversioned = digest(*shared, cell.runner.unversioned_digest)
        target_id = cell.target.id if cell.target else None
        self._place = digest(suite_id, target_id, cell.arm.name, cell.runner.digest, cell.model)

    def trial(self, case: Case, index: int, repeat: int, ordinal: int, plan: Plan) -> Trial:
        cell = self.cell
        limits = case.limits.over(plan.limits).over(cell.limits)
        work = f"{case.execution_digest}|{_limits_key(limits)}|{repeat}"
        execution_id = digest_text(f"{self._versioned}|{work}")
        return Trial(
            trial_id=digest_text(f"{self._place}|{execution_id}|{index}|{case.id}"),
            execution_id=execution_id,
            cassette_key=digest_text(f"{self._unversioned}|{work}"),
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


def _limits_key(limits: Limits) -> str:
    return f"{limits.timeout_s}|{limits.max_turns}|{limits.output_bytes}"


CheckInspector = Callable[[Check], Sequence[Problem]]
"""Says what is wrong with a check: scorer absent, options refused."""


@dataclass
class _Survey:
    """What one pass over a suite's cases finds."""

    digest: str
    selected: int = 0
    trials_per_run: int = 0
    weighted: bool = False
    problems: list[Problem] = field(default_factory=list)


def make_plan(
    suites: Sequence[SuitePlan],
    *,
    runs: int | None,
    seed: int,
    limits: Limits,
    versions: Callable[[], Mapping[str, str]],
    inspect_check: CheckInspector,
) -> tuple[Plan, tuple[Problem, ...]]:
    """Count, digest and check everything that would run.

    Args:
        suites: suites with their cells.
        runs: repeats of every case, at least 1; `None` leaves them to each suite, and then it is 1.
        seed: seed of everything random in the run.
        limits: what the user asked for.
        versions: version of every distribution that takes part, asked after all checks were inspected: with another
            version it is another plan, since results of both must not be mixed.
        inspect_check: asked once per case and check.

    Returns:
        The plan, and every problem found in the checks; with problems of severity error nothing may run.
    """
    heads = []
    problems: list[Problem] = []
    for suite in suites:
        survey = _survey(suite, inspect_check)
        problems.extend(survey.problems)
        heads.append(_suite_head(suite, survey, limits, runs or suite.suite.defaults.runs or 1))
    contents = [(head.id, head.root, head.content_digest, head.runs) for head in heads]
    provenance = dict(versions())
    head = PlanHead(
        plan_id=digest(contents, seed, limits.model_dump(mode="json"), provenance),
        suites=tuple(heads),
        trial_count=sum(head.trial_count or 0 for head in heads),
        runs=max((head.runs for head in heads), default=1),
        seed=seed,
        runners=_distinct(cell.runner for suite in suites for cell in suite.cells),
        models=_distinct(cell.model for suite in suites for cell in suite.cells if cell.model),
        provenance=provenance,
    )
    return Plan(head=head, suites=tuple(suites), limits=limits), tuple(problems)


def _survey(plan: SuitePlan, inspect_check: CheckInspector) -> _Survey:
    hasher = hashlib.sha256()
    survey = _Survey(digest="")
    targets = [cell.target for cell in plan.cells]
    suite = plan.suite
    decides = (suite.format, suite.document, suite.fails_run, suite.on_agent_limit, suite.parameters)
    pairs = [(one.candidate, one.baseline) for one in suite.comparisons]
    hasher.update(canonical_json((decides, pairs)).encode("ascii"))
    for cell in plan.cells:
        ids = _CellIds(plan.suite.id, cell)
        hasher.update(f"{ids._place}{ids._versioned}{_limits_key(cell.limits)}".encode())
    for index, case in plan.cases():
        survey.selected += 1
        survey.trials_per_run += len(targets) if not case.targets else sum(applies(case, target) for target in targets)
        survey.weighted = survey.weighted or case.weight != 1
        grouping = (case.targets, case.tags, case.cluster, case.weight)
        marks = (index, case.id, case.execution_digest, case.checks_digest, _limits_key(case.limits), grouping)
        hasher.update(repr(marks).encode("utf-8", "surrogatepass"))
        if not case.checks:
            message, hint = (
                f"case {case.id!r} asserts nothing, so it could never fail",
                "Add a check, or remove the case.",
            )
            survey.problems.append(Problem("suite.no-check", message, origin=case.origin, hint=hint))
        for check in case.checks:
            survey.problems.extend(_placed(problem, check.origin or case.origin) for problem in inspect_check(check))
    survey.digest = hasher.hexdigest()[:32]
    return survey


def _placed(problem: Problem, origin: Origin | None) -> Problem:
    if problem.origin is not None or origin is None:
        return problem
    return replace(problem, origin=origin)


def _suite_head(plan: SuitePlan, survey: _Survey, asked: Limits, runs: int) -> SuiteHead:
    suite = plan.suite
    used = {cell.target.id for cell in plan.cells if cell.target}
    limits = {asked.over(cell.limits).timeout_s for cell in plan.cells}
    comparison = suite.comparisons[0] if suite.comparisons else None
    return SuiteHead(
        id=suite.id,
        name=suite.name,
        version=suite.version,
        format=suite.format,
        dialect=suite.dialect,
        root=suite.root,
        digest=suite.digest,
        content_digest=survey.digest,
        case_count=survey.selected,
        trial_count=survey.trials_per_run * runs,
        runs=runs,
        targets=tuple(
            TargetHead(
                id=target.id,
                name=target.name,
                version=target.version,
                adapter=target.adapter,
                digest=target.digest,
                tags=target.tags,
            )
            for target in suite.targets
            if target.id in used
        ),
        arms=_distinct(cell.arm.name for cell in plan.cells),
        candidate=comparison.candidate if comparison else None,
        baseline=comparison.baseline if comparison else None,
        document=suite.document,
        fails_run=suite.fails_run,
        parameters=suite.parameters,
        case_weights=survey.weighted,
        timeout_s=limits.pop() if len(limits) == 1 else None,
    )


def _distinct(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))
