"""Choose among the cases of what is evaluated: by globs, tags and words, and by what earlier runs say of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..types.plan import Selection
from ..types.suite import Case
from .arguments import words
from .keywords import fits, matcher


class Choice(Selection):
    """What of the suites takes part, as a command line says it."""

    keywords: tuple[str, ...] = ()
    """Expressions of `-k`, which all have to fit."""
    only: frozenset[str] | None = None
    """Keys of the only cases that take part, see `case_key`; `None` restricts nothing."""

    def admits(self, case: Case) -> bool:
        """Whether a case takes part."""
        if self.only is not None and case_key(case) not in self.only:
            return False
        return super().admits(case) and (not self.keywords or fits(self.keywords, case.id, case.name, *case.tags))

    @property
    def is_given(self) -> bool:
        """Whether anything is selected at all."""
        return bool(self.keywords) or self.only is not None or super().is_given


def case_key(case: Case) -> str:
    """What tells a case from the others of all suites: its id, what it does, and how that is graded."""
    return f"{case.execution_digest} {case.checks_digest} {case.id}"


def choice(values: Mapping[str, Any], cases: tuple[str, ...]) -> Choice:
    """What parsed options select, beside cases that are named by themselves.

    Raises:
        UsageError: an expression cannot be read.
    """
    keywords = tuple(values.get("keyword", ()))
    for expression in keywords:
        matcher(expression)
    return Choice(
        cases=(*words(values.get("case", ())), *cases),
        tags=words(values.get("tag", ())),
        targets=words(values.get("target", ())),
        keywords=keywords,
    )
