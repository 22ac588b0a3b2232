"""Which host each engine and each judge asks, and which environment variable says so."""

from __future__ import annotations

from typing import Self
from urllib.parse import urlsplit

from skillgauge_documents.frozen import Frozen

from ..contract.providers import Traits
from ..contract.redirects import variable_of
from ..environment import host_variable
from ..plan.preparing import Prepared
from ..types.suite import ArmKind


class AskedService(Frozen):
    """The service that an engine or a judge asks."""

    who: str
    host: str
    """With the port, if the address names one."""
    address: str
    """Base URL."""
    variable: str | None
    """The environment variable that says so; `None`: an option, or the vendor's own."""

    @classmethod
    def of(cls, who: str, address: str, traits: Traits) -> Self:
        """The service at an address, as somebody with these traits asks it."""
        host = urlsplit(address).netloc.rpartition("@")[2]
        return cls(
            who=who,
            host=host or address,
            address=address,
            variable=variable_of(traits.redirects, address, host_variable),
        )

    @property
    def phrase(self) -> str:
        """The host, for people."""
        return f"asks {self.host}{f', from {self.variable}' if self.variable else ''}"


def asked_services(prepared: Prepared) -> tuple[AskedService, ...]:
    """The services that a run would ask: those of engines, then those of judges; each once."""
    cast = prepared.cast
    setups = cast.engines.setups
    runners = [cell.runner for suite in prepared.plan.suites for cell in suite.cells if cell.arm.kind is ArmKind.AGENT]
    # A dry run may plan with an engine that could not be made.
    asking = [
        (f"engine {one.name!r}", one.service, setups[one.digest].traits) for one in runners if one.digest in setups
    ]
    asking += [(f"judge {one.identity.name!r}", one.identity.service, one.traits) for one in cast.judging.found]
    services = (AskedService.of(who, address, traits) for who, address, traits in asking if address)
    return tuple(dict.fromkeys(services))
