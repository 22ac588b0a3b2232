"""Import one plugin, make its object and run its `check`: what a child process of `plugins doctor` does."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import NamedTuple, cast

from pydantic import ValidationError

from skillgauge_documents.frozen import EMPTY, JsonObject

from ..contract.engines import Engine
from ..contract.judges import Judge
from ..contract.providers import Traits
from ..contract.sandboxes import SandboxReport
from ..environment import ask_first, host_variable, secret
from ..errors import PluginError, Problem, errors_among
from ..plugins.installed import read_index
from ..plugins.kinds import ENGINES, JUDGES, KINDS, Resolved
from ..plugins.registry import Registry
from .doctor import LACKS, OPTIONS, REPORT, Report
from .groups import load_command

_OF_OPTIONS = frozenset({"plugin.options", "plugin.redirect"})
"""Codes of problems that a setting or a variable of the user causes: the plugin itself may be sound."""


class Missing(NamedTuple):
    """The faults of a plugin, one line each."""

    broken: list[str]
    """Nobody can use it."""
    lacks: list[str]
    """It works, and its own check misses something here."""
    asks: str = ""
    """Which host it asks."""


def examine(kind: str, name: str, options: Mapping[str, JsonObject] | None = None) -> Missing:
    """Import, make and check a plugin.

    Args:
        kind: plural name of its kind.
        name: of the plugin.
        options: what the configuration sets of plugins, by `<kind>.<name>`.
    """
    options = options or {}
    if kind == "commands":
        load_command(read_index().find(kind, name)[0].module)
    if kind not in KINDS:
        return Missing([], [])  # a command that was loaded, or a mere name
    registry = Registry(read_index(), options=lambda plugin, _model: options.get(plugin, EMPTY), look_up=host_variable)
    ask_first(registry.events)
    try:
        return _examined(kind, name, registry, options)
    except PluginError as error:
        messages = [problem.message for problem in error.problems]
        if all(problem.code in _OF_OPTIONS for problem in error.problems):
            return Missing([], messages)
        return Missing(messages, [])


def _examined(kind: str, name: str, registry: Registry, options: Mapping[str, JsonObject]) -> Missing:
    """Make a plugin and check it.

    Raises:
        PluginError: it cannot be made.
    """
    resolved = registry.resolve(kind, name)
    if _lacks_options(resolved) and f"{kind}.{resolved.name}" not in options:
        return Missing([], [])  # an option without a default is not set, so there is nothing to make
    made = registry.make(KINDS[kind], name)
    asks = ""
    if kind in (ENGINES, JUDGES):
        asks = _asks(kind, made, registry.traits(resolved))
    check = getattr(made, "check", None)
    if not callable(check):
        return Missing([], _no_key(resolved.provider.traits), asks)
    return Missing([], [problem.message for problem in errors_among(_checked(check))], asks)


def _lacks_options(resolved: Resolved) -> bool:
    """Return whether a plugin has options without defaults."""
    try:
        resolved.provider.options()
    except ValidationError:
        return True
    return False


def _checked(check: Callable[[], object]) -> tuple[Problem, ...]:
    answer = check()
    if isawaitable(answer):
        answer = asyncio.run(_wait(answer))
    if isinstance(answer, SandboxReport):
        return answer.problems
    return cast("tuple[Problem, ...]", answer)


def _asks(kind: str, provider: object, traits: Traits) -> str:
    """Return the host that an engine or a judge asks where no model is named; empty if that alone does not tell."""
    from ..evaluation.planned.needs import AskedService  # noqa: PLC0415 - most plugins ask nothing

    address = cast("Engine | Judge", provider).identity(None).service
    if address:
        return AskedService.of(kind, address, traits).phrase
    return ""


def _no_key(traits: Traits) -> list[str]:
    """Return the fault of a plugin that announces secrets, lacks one, and has no `check` of its own to say so."""
    if not traits.secrets or any(map(secret, traits.secrets)):
        return []
    from ..evaluation.planned.needs import KeyNeed  # noqa: PLC0415 - most plugins lack nothing

    return [KeyNeed.of("it", traits).line]


async def _wait(found: Awaitable[object]) -> object:
    return await found


def reported(kind: str, name: str, options: Mapping[str, JsonObject] | None = None) -> tuple[int, Report]:
    """Exit code of the child, and its report."""
    missing = examine(kind, name, options)
    # What a check says may have several lines, of which each is to be told.
    line = "; ".join("\n".join(missing.broken or missing.lacks).splitlines())
    code = 0
    if missing.lacks:
        code = LACKS
    if missing.broken:
        code = 1
    return code, Report(line, missing.asks)


if __name__ == "__main__":
    code, report = reported(sys.argv[1], sys.argv[2], OPTIONS.validate_json(sys.stdin.buffer.read()))
    sys.stdout.buffer.write(REPORT.dump_json(report))
    sys.exit(code)
