"""Which sandbox and which store a run gets."""

from __future__ import annotations

import asyncio
from types import ModuleType

import pytest

from skillgauge.contract.providers import Provider, Traits, hookimpl
from skillgauge.contract.sandboxes import SandboxReport, Tier
from skillgauge.errors import PluginError, Problem, Severity
from skillgauge.plan.resources import choose_sandbox, open_store
from skillgauge.plugins.registry import Registry
from skillgauge.run.keeping.memory import MemoryStore
from skillgauge_documents.frozen import Frozen
from skillgauge_testkit import FakeSandbox
from skillgauge_testkit.registries import registry_of

LEAKY = Problem("sandbox.leaky", "there is a network", severity=Severity.WARNING)
BROKEN = Problem("sandbox.unusable", "there is no daemon")


class Reporting(FakeSandbox):
    """Reports what it was told to."""

    def __init__(self, report: SandboxReport) -> None:
        super().__init__()
        self._report = report

    async def check(self) -> SandboxReport:
        """The report."""
        return self._report


def registry(**reports: SandboxReport) -> Registry:
    """A registry of sandboxes by name; those whose name begins with `shy` must be named."""
    module = ModuleType("made_up_sandboxes")

    @hookimpl
    def skillgauge_sandboxes() -> list[Provider[object]]:
        return [
            Provider(name, lambda report=report: Reporting(report), "", traits=Traits(only_by_name="shy" in name))
            for name, report in reports.items()
        ]

    module.skillgauge_sandboxes = skillgauge_sandboxes  # type: ignore[attr-defined]
    return registry_of(module)


def test_strongest_that_works_is_taken_with_its_warnings() -> None:
    """A broken one is passed over, one that must be named too; a warning keeps nobody from using a sandbox."""
    made = registry(
        broken=SandboxReport(Tier.STRICT, (BROKEN,)),
        leaky=SandboxReport(Tier.PARTIAL, (LEAKY,)),
        plain=SandboxReport(Tier.NONE),
        shy=SandboxReport(Tier.STRICT),
    )
    chosen = asyncio.run(choose_sandbox(None, made))
    assert (chosen.name, chosen.report.tier, chosen.report.problems) == ("leaky", Tier.PARTIAL, (LEAKY,))


def test_named_sandbox() -> None:
    """A named one is taken as it is, unless it does not work or confines too little."""
    made = registry(
        broken=SandboxReport(Tier.STRICT, (BROKEN,)),
        leaky=SandboxReport(Tier.PARTIAL, (LEAKY,)),
        shy=SandboxReport(Tier.STRICT),
    )
    assert asyncio.run(choose_sandbox("leaky", made)).report.problems == (LEAKY,)
    assert asyncio.run(choose_sandbox("shy", made, untrusted=True)).report.tier is Tier.STRICT
    with pytest.raises(PluginError, match="there is no daemon"):
        asyncio.run(choose_sandbox("broken", made))
    with pytest.raises(PluginError, match="is of tier partial, not strict"):
        asyncio.run(choose_sandbox("leaky", made, untrusted=True))


class StoreOptions(Frozen):
    """Options of a made-up store."""

    location: str


def keeping(*names: str) -> Registry:
    """A registry of stores by name, all of them for places that begin with `acme://`."""
    module = ModuleType("made_up_stores")

    def make(_options: StoreOptions) -> MemoryStore:
        return MemoryStore()

    @hookimpl
    def skillgauge_stores() -> list[Provider[object]]:
        return [Provider(name, make, "", StoreOptions, Traits(schemes=("acme",))) for name in names]

    module.skillgauge_stores = skillgauge_stores  # type: ignore[attr-defined]
    return registry_of(module)


def test_a_place_that_two_stores_serve() -> None:
    """P-M9: none has an advantage, whichever was found first; a place of nobody's is told, too."""
    assert open_store("acme://here", keeping("one")).durable is False
    with pytest.raises(PluginError, match="several stores keep runs in 'acme://here'"):
        open_store("acme://here", keeping("one", "other"))
    with pytest.raises(PluginError, match="no installed store keeps runs in 'vault://here'"):
        open_store("vault://here", keeping("one", "other"))
