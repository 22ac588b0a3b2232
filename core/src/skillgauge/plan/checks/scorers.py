"""Scorers that cases name, and cases that name none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...errors import Problem


def scorer_problems(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield each problem of cases and their checks once.

    A scorer that is absent is one problem, however many checks name it; any other problem is one for each place.

    Args:
        problems: of all cases, then of all their checks.
    """
    reported: set[str | tuple[str, str]] = set()
    for problem in problems:
        key = (problem.code, problem.message) if problem.code.startswith("plugin.") else str(problem)
        if key not in reported:
            reported.add(key)
            yield problem
