"""Who grades: the scorers that the checks name, found and checked before the run, and how they are made for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache, partial

from pydantic import BaseModel

from ..contract.scorers import Scorer
from ..errors import Problem
from ..plugins.kinds import SCORERS, Resolved
from ..plugins.registry import Registry
from ..run.scorers import BoundScorer, RunScorers
from ..types.suite import Check
from .collecting import collected
from .survey import Survey

KEPT = 10_000
"""Distinct checks of one scorer whose objects are kept during the run: some 20 MB if they are small."""


class Scorers:
    """Checks the scorers of a run before it and makes them for it.

    Args:
        registry: the run's plugins.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._resolve = cache(partial(registry.resolve, SCORERS))
        self._kept: dict[str, Check] = {}
        self._valid: dict[str, tuple[Resolved, BaseModel]] = {}
        self.judged: set[str] = set()
        """Names in checks that were inspected of scorers that need a judge."""

    def inspect(self, surveys: Iterable[Survey]) -> list[Problem]:
        """What is wrong with the checks of suites: scorers absent, options refused."""
        problems: list[Problem] = []
        counts: Counter[str] = Counter()
        for check in (check for survey in surveys for check in survey.checks):
            with collected(problems, check.origin):
                valid = self._validated(check)
                if valid[0].provider.traits.asks_judge:
                    self.judged.add(check.scorer)
                counts[check.scorer] += 1
                if counts[check.scorer] <= KEPT:
                    self._kept[check.scorer_digest], self._valid[check.scorer_digest] = check, valid
        return problems

    def for_run(self) -> RunScorers:
        """What makes the scorers when the run begins."""
        return RunScorers(self._kept, self._make)

    def _validated(self, check: Check) -> tuple[Resolved, BaseModel]:
        resolved = self._resolve(check.scorer)
        return resolved, self._registry.validated_options(resolved, check.options, check.origin)

    def _make(self, check: Check) -> BoundScorer:
        key = check.scorer_digest
        resolved, options = self._valid.pop(key) if key in self._valid else self._validated(check)
        scorer: Scorer = self._registry.make(SCORERS, resolved, options)
        return BoundScorer(resolved.name, scorer)
