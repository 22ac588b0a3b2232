"""Go on after what cannot be used, so that all problems are told at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ..errors import Origin, PluginError, Problem


def at(problem: Problem, origin: Origin | None) -> Problem:
    """A problem with a place, unless it has one."""
    return replace(problem, origin=problem.origin or origin)


async def found_by(checks: Iterable[Awaitable[Sequence[Problem]]]) -> list[Problem]:
    """Return what checks of plugins find, in their order, all made at once: most wait for a program to start."""
    return [problem for found in await asyncio.gather(*checks) for problem in found]


@contextmanager
def collected(problems: list[Problem], origin: Origin | None = None) -> Iterator[None]:
    """Keep what is wrong with a plugin that is found and made here; what has no place is put at `origin`."""
    try:
        yield
    except PluginError as error:
        problems += [at(problem, origin) for problem in error.problems]
