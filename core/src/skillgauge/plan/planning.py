"""From suites to trials: which work a run consists of, in which order, under which ids.

Pure: no I/O, no clock, no randomness beyond the seed. Trials are made one by one, so that a plan of a million
costs no more memory than a plan of ten.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ..errors import Origin, Problem
from ..types.frozen import canonical_json, digest
from ..types.plan import CellIds, Plan, SuitePlan, applies, limits_key
from ..types.suite import Check, Limits
from ..types.trial import PlanHead, SuiteHead, TargetHead

T = TypeVar("T")


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
    decides = (suite.format, suite.document, suite.completion, suite.on_agent_limit, suite.parameters)
    pairs = [(one.candidate, one.baseline) for one in suite.comparisons]
    gates = [(one.figure, one.threshold, one.scope) for one in suite.gates]
    hasher.update(canonical_json((decides, pairs, gates)).encode("ascii"))
    for cell in plan.cells:
        ids = CellIds(plan.suite.id, cell)
        hasher.update(f"{ids._place}{ids._versioned}{limits_key(cell.limits)}".encode())
    for index, case in plan.cases():
        survey.selected += 1
        survey.trials_per_run += len(targets) if not case.targets else sum(applies(case, target) for target in targets)
        survey.weighted = survey.weighted or case.weight != 1
        grouping = (case.targets, case.tags, case.cluster, case.weight)
        marks = (index, case.id, case.execution_digest, case.checks_digest, limits_key(case.limits), grouping)
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
        comparisons=suite.comparisons,
        document=suite.document,
        gates=suite.gates,
        completion=suite.completion,
        parameters=suite.parameters,
        case_weights=survey.weighted,
        timeout_s=limits.pop() if len(limits) == 1 else None,
    )


def _distinct(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))
