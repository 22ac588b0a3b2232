"""The weight of a problem for a user who only looks at what would run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...errors import Problem, Severity

_WISHES = ("usage.", "plugin.options")
"""Begin the codes of what the user asked for wrongly."""


def weighed(problems: Iterable[Problem], *, dry_run: bool) -> Iterator[Problem]:
    """Yield problems of this machine; in a dry run they are warnings.

    What the user asked for wrongly stays an error.

    Args:
        problems: what is missing on this machine, or does not work on it.
        dry_run: whether nothing will run.
    """
    for problem in problems:
        if dry_run and not problem.code.startswith(_WISHES):
            yield replace(problem, severity=Severity.WARNING)
        else:
            yield problem
