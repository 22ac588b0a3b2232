"""The things of this machine that runs may need of a worker. Names and states alone: no secret is read."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from typing import Any

from skillgauge.api import PluginError, SandboxReport
from skillgauge.api.run import Invocation

CHECK_S = 60.0
"""For the check of a plugin; one that takes longer counts as not ready."""


@dataclass
class Inventory:
    """Sandboxes, engines and secrets of this machine."""

    sandboxes: dict[str, str] = field(default_factory=dict)
    """The tier of each that works."""
    engines: list[str] = field(default_factory=list)
    """Those whose check has nothing against them: program and login are there."""
    lacking: dict[str, str] = field(default_factory=dict)
    """The reason of each plugin that is not ready."""
    secrets: list[str] = field(default_factory=list)
    """Names of variables with keys of engines and judges that are set."""


async def take_inventory(call: Invocation) -> Inventory:
    """Ask every engine and sandbox whether it works here."""
    inventory = Inventory()
    registry = call.registry
    for kind in ("sandboxes", "engines"):
        plugins = registry.load_all(kind)
        answers = await asyncio.gather(*(_checked(call, one) for one in plugins), return_exceptions=True)
        for plugin, answer in zip(plugins, answers, strict=True):
            _enter(inventory, plugin.name, answer)
    paid = [*registry.load_all("engines"), *registry.load_all("judges")]
    names = {name for plugin in paid for name in plugin.provider.traits.secrets}
    inventory.secrets = sorted(name for name in names if os.environ.get(name))
    return inventory


def _enter(inventory: Inventory, name: str, answer: Any) -> None:
    """Enter the answer of an engine or a sandbox to its check, or the exception that came instead."""
    if isinstance(answer, PluginError):
        return  # it needs options that nobody has set, so no run from here uses it
    if isinstance(answer, BaseException):
        inventory.lacking[name] = f"{type(answer).__name__}: {answer}".partition("\n")[0]
    elif isinstance(answer, SandboxReport):
        if answer.is_usable:
            inventory.sandboxes[name] = answer.tier
        else:
            inventory.lacking[name] = "; ".join(problem.message for problem in answer.problems)
    elif answer:
        inventory.lacking[name] = "; ".join(problem.message for problem in answer)
    else:
        inventory.engines.append(name)


async def _checked(call: Invocation, plugin: Any) -> Any:
    """Make a plugin and ask for its check."""
    provider, registry = plugin.provider, call.registry
    made = provider.make(registry.validated_options(plugin), registry.peers_of(provider))
    return await asyncio.wait_for(made.check(), CHECK_S)
