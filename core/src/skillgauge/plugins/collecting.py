"""Go on after what cannot be used, so that all problems are told at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ..errors import Origin, PluginError, Problem


def at(problem: Problem, origin: Origin | None) -> Problem:
    """A problem with a place, unless it has one."""
    return replace(problem, origin=problem.origin or origin)


@contextmanager
def collected(problems: list[Problem], origin: Origin | None = None) -> Iterator[None]:
    """Keep what is wrong with a plugin that is found and made here; what has no place is put at `origin`."""
    try:
        yield
    except PluginError as error:
        problems += [at(problem, origin) for problem in error.problems]
