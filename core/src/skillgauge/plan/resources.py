"""The sandbox and the store of a run: what is asked for, else the best of what is installed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from skillgauge_documents.immutables import immutable

from ..contract.sandboxes import Sandbox, SandboxReport, Tier
from ..contract.stores import Store
from ..errors import PluginError, Problem
from ..plugins.index import install_hint
from ..plugins.kinds import SANDBOXES, STORES, Resolved
from ..plugins.registry import Registry
from .checks.sandboxes import too_weak


@immutable
class ChosenSandbox:
    """A sandbox that works here."""

    sandbox: Sandbox
    name: str
    report: SandboxReport
    """What it does here; its problems are warnings."""


async def choose_sandbox(named: str | None, registry: Registry, *, untrusted: bool = False) -> ChosenSandbox:
    """Return the sandbox that was named, else the strongest installed one that works here.

    Raises:
        PluginError: there is none, or what runs is not trusted and the sandbox does not confine it strictly.
    """
    candidates: Iterable[tuple[str, Sandbox]]
    if named is None:
        candidates = registry.each(SANDBOXES, lambda plugin: not plugin.provider.traits.only_by_name)
    else:
        candidates = [(named, registry.make(SANDBOXES, named))]
    usable: list[ChosenSandbox] = []
    problems: list[Problem] = []
    for name, sandbox in candidates:
        report = await sandbox.check()
        problems.extend(report.problems)
        if report.is_usable:
            usable.append(ChosenSandbox(sandbox, name, report))
            if report.tier is Tier.STRICT:
                break  # nothing is stronger
    if not usable:
        message = "no sandbox that works here is installed, and every process must run in one"
        none = Problem("plugin.not-installed", message, hint="pip install skillgauge-sandbox-local")
        raise PluginError(problems if named else [none, *problems])
    best = min(usable, key=_weakness)
    PluginError.raise_for(list(too_weak(best.name, best.report.tier, is_named=named is not None, untrusted=untrusted)))
    return best


def _weakness(chosen: ChosenSandbox) -> int:
    return list(Tier).index(chosen.report.tier)


def choose_store(location: str | None, registry: Registry, *, is_explicit: bool) -> Store:
    """Return the store to use; without any installed one, and none asked for, this process.

    Args:
        location: path or address; `None` keeps the run in this process.
        registry: the run's plugins.
        is_explicit: whether the user chose the place, so that its absence is an error.

    Raises:
        PluginError: no store serves the place, or several do.
    """
    if location is not None and (is_explicit or serving_stores(location, registry)):
        return open_store(location, registry)
    from ..run.keeping.memory import MemoryStore  # noqa: PLC0415 - few runs are kept nowhere

    return MemoryStore()


_BRINGERS = {"file": "sqlite"}
"""Names of stores that keep runs in places of a scheme of another name."""


def open_store(location: str, registry: Registry) -> Store:
    """The store for a place: a plugin says which address schemes it serves, `file` standing for plain paths.

    The name of a plugin that serves no paths stands for the place that its own options name.

    Args:
        location: path, address or name.
        registry: the run's plugins.

    Raises:
        PluginError: no store serves the place, or several do.
    """
    for store in registry.load_all(STORES):
        if store.name == location and "file" not in store.provider.traits.schemes:
            return registry.make(STORES, store)
    able = serving_stores(location, registry)
    if len(able) == 1:
        return registry.make(STORES, able[0], {"location": location})
    if able:
        message = f"several stores keep runs in {location!r}: {', '.join(one.distribution for one in able)}"
        raise PluginError(Problem("plugin.ambiguous", message, hint="Leave all but one out, with --no-plugin NAME."))
    location = re.sub(r"//[^/@]*@", "//", location)  # a password is not repeated
    scheme = _scheme(location)
    hint = install_hint("stores", _BRINGERS.get(scheme, scheme))
    problem = Problem("plugin.not-installed", f"no installed store keeps runs in {location!r}", hint=hint)
    raise PluginError([problem, *registry.failures.values()])


def serving_stores(location: str | None, registry: Registry) -> list[Resolved]:
    """Return the stores that keep runs in such places; none serves this process, which is `None`."""
    if location is None:
        return []
    scheme = _scheme(location)
    return [store for store in registry.load_all(STORES) if scheme in store.provider.traits.schemes]


def _scheme(location: str) -> str:
    scheme, mark, _ = location.partition("://")
    if not mark:
        return "file"
    return scheme
