"""The scorers of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..contract.scorers import Scorer
from ..errors import PluginError, Problem
from ..plugins.kinds import SCORERS
from ..plugins.registry import Registry
from ..run.grading import BoundScorer
from ..types.suite import Check
from .survey import Survey


class Scorers:
    """Checks the scorers of a run before it and makes them for it.

    Args:
        registry: the run's plugins.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.judged: set[str] = set()
        """Names in checks that were inspected of scorers that need a judge."""

    def inspect(self, surveys: Iterable[Survey]) -> Iterator[Problem]:
        """What is wrong with the checks of suites: scorers absent, options refused."""
        for check in (check for survey in surveys for check in survey.checks):
            try:
                resolved = self._registry.resolve(SCORERS, check.scorer)
                if resolved.provider.traits.asks_judge:
                    self.judged.add(check.scorer)
                self._registry.validated_options(resolved, check.options, check.origin)
            except PluginError as error:
                for problem in error.problems:
                    yield problem if problem.origin else replace(problem, origin=check.origin)

    def bind(self, check: Check) -> BoundScorer:
        """The scorer of a check."""
        scorer: Scorer = self._registry.make(SCORERS, check.scorer, check.options, origin=check.origin)
        return BoundScorer(self._registry.resolve(SCORERS, check.scorer).name, scorer)
