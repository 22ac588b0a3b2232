"""Suites without the cases that need a judge, which are skipped and counted as such."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from skillgauge_documents.immutables import immutable

from ..errors import PluginError
from ..plugins.kinds import SCORERS
from ..plugins.registry import Registry
from ..types.suite import Case, Suite

REASON = "needs a judge (--without-judged)"


def without_judged(suites: Iterable[Suite], registry: Registry) -> tuple[Suite, ...]:
    """Return the suites with each case skipped that has a check which asks a judge.

    Args:
        suites: the suites to run, with the checks that the user adds.
        registry: knows which scorers ask a judge; one that is not installed is left to the check of scorers.
    """

    @cache
    def asks_judge(scorer: str) -> bool:
        try:
            return registry.resolve(SCORERS, scorer).provider.traits.asks_judge
        except PluginError:
            return False

    return tuple(suite.model_copy(update={"cases": _Cases(suite.cases, asks_judge)}) for suite in suites)


@immutable
class _Cases:
    """The cases of a suite with the judged ones skipped, made anew at each iteration."""

    cases: Iterable[Case]
    asks_judge: Callable[[str], bool]

    def __iter__(self) -> Iterator[Case]:
        for case in self.cases:
            decidable = tuple(check for check in case.checks if not self.asks_judge(check.scorer))
            is_scripted = case.user is None or not self.asks_judge(case.user.check.scorer)
            if case.skip or (is_scripted and len(decidable) == len(case.checks)):
                yield case
            else:
                yield case.model_copy(update={"checks": decidable, "skip": REASON})
