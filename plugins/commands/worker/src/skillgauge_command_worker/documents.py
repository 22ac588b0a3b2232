"""The document that the command prints."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Self

from skillgauge.api import Frozen
from skillgauge_workers import Offer

from .inventory import Inventory


class WorkerDocument(Frozen):
    """A worker, and what its machine has, as it starts."""

    schema_version: str = "1.0"
    name: str
    executor: str
    places: int
    """Attempts at once."""
    resources: Mapping[str, float]
    python: str
    core: str
    """Version of skillgauge-core; those of all plugins are compared by each run."""
    sandboxes: Mapping[str, str]
    """The tier of each that works."""
    engines: tuple[str, ...]
    """Those that are ready: program and login are there."""
    lacking: Mapping[str, str]
    """The reason of each engine and sandbox that is not ready."""
    secrets: tuple[str, ...]
    """Names of variables with keys that are set."""

    @classmethod
    def of(cls, executor: str, offer: Offer, inventory: Inventory) -> Self:
        """The document of a worker."""
        return cls(
            name=offer.name,
            executor=executor,
            places=offer.places,
            resources=offer.resources,
            python=f"{sys.version_info.major}.{sys.version_info.minor}",
            core=version("skillgauge-core"),
            sandboxes=inventory.sandboxes,
            engines=tuple(inventory.engines),
            lacking=inventory.lacking,
            secrets=tuple(inventory.secrets),
        )

    def lines(self) -> Iterator[str]:
        """For people, one fact a line."""
        resources = "".join(f", {name}={amount:g}" for name, amount in self.resources.items())
        yield f"worker {self.name} for executor {self.executor!r}: {self.places} at once{resources}"
        yield f"Python {self.python}, skillgauge-core {self.core}"
        yield f"sandboxes: {_listed(f'{name} ({tier})' for name, tier in self.sandboxes.items())}"
        yield f"engines that are ready: {_listed(self.engines)}"
        yield f"secrets that are set: {_listed(self.secrets)}"
        for name, reason in self.lacking.items():
            yield f"not ready: {name}: {reason}"


def _listed(names: Iterator[str] | tuple[str, ...]) -> str:
    return ", ".join(names) or "none"
