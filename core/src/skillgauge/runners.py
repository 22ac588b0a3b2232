"""What carries trials out: the adapters of a run, and the cells they make of its suites."""

from __future__ import annotations

from .errors import Origin, PluginError, Problem, Severity
from .planning import Cell, Selection, SuitePlan
from .protocols import Adapter
from .registry import ADAPTERS, Registry
from .types.suite import ArmKind, Limits, Suite, Target
from .types.trial import Identity


def suite_plan(
    suite: Suite, selection: Selection, adapters: Adapters, default: Limits, problems: list[Problem]
) -> SuitePlan | None:
    """The cells of a suite; `None` and a problem if nothing can run it."""
    wanted = selection.targets
    targets = [target for target in suite.targets if not wanted or target.id in wanted]
    cells = []
    for target in targets:
        for arm in suite.arms:
            if arm.kind is not ArmKind.DIRECT:
                problems.append(
                    Problem(
                        "engine.none",
                        f"suite {suite.id!r} needs an agent engine, and none is installed",
                        origin=suite.origin,
                    )
                )
                return None
            identity = adapters.identity(target, problems)
            if identity is not None:
                limits = target.limits.over(suite.defaults.limits).over(default)
                cells.append(Cell(arm=arm, runner=identity, target=target, limits=limits))
    return SuitePlan(suite, tuple(cells), selection)


class Adapters:
    """The adapters of a run, each made once, with what is wrong with them and their targets."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._made: dict[str, Adapter] = {}
        self._refused: set[str] = set()

    def identity(self, target: Target, problems: list[Problem]) -> Identity | None:
        """What calls of a target depend on; `None` and a problem if it cannot be called."""
        name = target.adapter
        if name is None:
            problems.append(
                Problem("suite.no-adapter", f"target {target.id!r} cannot be called directly", origin=target.origin)
            )
            return None
        if name not in self._made:
            try:
                self._made[name] = self._registry.make(ADAPTERS, name, origin=target.origin_of("adapter"))
            except PluginError as error:
                problems.extend(_at(problem, target.origin_of("adapter")) for problem in error.problems)
                return None
        adapter = self._made[name]
        found = adapter.check_target(target)
        problems.extend(_at(problem, target.origin_of("config")) for problem in found)
        if any(problem.severity is Severity.ERROR for problem in found):
            return None
        return adapter.identity(target)

    def of(self, target: Target) -> Adapter:
        """The adapter of a target that has an identity."""
        return self._made[target.adapter or ""]

    async def problems(self) -> list[Problem]:
        """What keeps any of the adapters from working here."""
        return [problem for adapter in self._made.values() for problem in await adapter.check()]


def _at(problem: Problem, origin: Origin | None) -> Problem:
    if problem.origin or origin is None:
        return problem
    return Problem(problem.code, problem.message, origin, problem.span, problem.hint, problem.severity)
