"""Import one plugin, make its object and run its `check`: what a child process of `plugins doctor` does."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from inspect import isawaitable
from typing import NamedTuple, cast

from pydantic import ValidationError

from ..contract.providers import Traits
from ..contract.sandboxes import SandboxReport
from ..errors import PluginError, Problem, Severity
from ..plugins.kinds import KINDS
from ..plugins.registry import Registry
from ..run.environment import ask_first, secret
from .doctor import LACKS
from .groups import load_command
from .installed import read_index


class Missing(NamedTuple):
    """What is wrong with a plugin, one line each."""

    broken: list[str]
    """Nobody can use it."""
    lacks: list[str]
    """It works, and its own check misses something here."""


def examine(kind: str, name: str) -> Missing:
    """Import, make and check a plugin."""
    if kind == "commands":
        load_command(read_index().find(kind, name)[0].module)
    if kind not in KINDS:
        return Missing([], [])  # a command that was loaded, or a mere name
    registry = Registry(read_index())
    ask_first(registry.events)
    try:
        resolved = registry.resolve(kind, name)
        try:
            resolved.provider.options()
        except ValidationError:
            return Missing(
                [], []
            )  # it has an option without a default, so nothing can be made of it without being told more
        made = registry.make(KINDS[kind], name)
    except PluginError as error:
        return Missing([problem.message for problem in error.problems], [])
    check = getattr(made, "check", None)
    if not callable(check):
        return Missing([], _no_key(resolved.provider.traits))
    found = check()
    problems = asyncio.run(_wait(found)) if isawaitable(found) else found
    listed = problems.problems if isinstance(problems, SandboxReport) else cast("tuple[Problem, ...]", problems)
    return Missing([], [problem.message for problem in listed if problem.severity is Severity.ERROR])


def _no_key(traits: Traits) -> list[str]:
    """What a plugin lacks that announces secrets and has no `check` of its own to say so."""
    if not traits.secrets or any(map(secret, traits.secrets)):
        return []
    from .plan_document import KeyNeed  # noqa: PLC0415 - most plugins lack nothing

    return [KeyNeed.of("it", traits).line]


async def _wait(found: Awaitable[object]) -> object:
    return await found


def told(kind: str, name: str) -> tuple[int, str]:
    """Exit code of the child, and the line that says why."""
    missing = examine(kind, name)
    # What a check says may have several lines, of which each is to be told.
    line = "; ".join("\n".join(missing.broken or missing.lacks).splitlines())
    return (1 if missing.broken else LACKS if missing.lacks else 0), line


if __name__ == "__main__":
    code, line = told(*sys.argv[1:3])
    sys.stdout.write(line)
    sys.exit(code)
