"""The adapters of a run: each found and made once, with what is wrong with them and their targets."""

from __future__ import annotations

from ..contract.adapters import Adapter
from ..errors import Problem, errors_among
from ..plugins.collecting import at, collected, found_by
from ..plugins.kinds import ADAPTERS
from ..plugins.registry import Registry
from ..types.suite import Target
from ..types.trial import Identity


class Adapters:
    """The adapters of a run, each made once, with what is wrong with them and their targets."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._made: dict[str, Adapter] = {}

    def identity(self, target: Target, problems: list[Problem]) -> Identity | None:
        """Return everything that calls of a target depend on; `None` and a problem if it cannot be called."""
        name = target.adapter
        if name is None:
            message = f"target {target.id!r} cannot be called directly"
            problems.append(Problem("suite.no-adapter", message, origin=target.origin))
            return None
        if name not in self._made:
            with collected(problems, target.origin_of("adapter")):
                self._made[name] = self._registry.make(ADAPTERS, name)
        adapter = self._made.get(name)
        if adapter is None:
            return None
        found = adapter.check_target(target)
        problems.extend(at(problem, target.origin_of("config")) for problem in found)
        if errors_among(found):
            return None
        return adapter.identity(target)

    def of(self, target: Target) -> Adapter:
        """The adapter of a target that has an identity."""
        return self._made[target.adapter or ""]

    async def problems(self) -> list[Problem]:
        """Report everything that keeps any of the adapters from working here."""
        return await found_by(adapter.check() for adapter in self._made.values())
