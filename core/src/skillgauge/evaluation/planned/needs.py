"""The keys that a run needs, and the services that it would ask."""

from __future__ import annotations

from typing import Self
from urllib.parse import urlsplit

from skillgauge_documents.frozen import Frozen

from ...contract.providers import Traits
from ...contract.redirects import variable_of
from ...environment import files_at_home, host_variable, secret
from ...plan.planning import cells_of
from ...plan.preparing import Prepared
from ...types.arms import ArmKind
from ..remarks import said_if


class KeyNeed(Frozen):
    """An engine, judge or scorer that needs a key."""

    who: str
    variables: tuple[str, ...]
    """Any one of them will do."""
    present: tuple[str, ...]
    """Those that are set."""
    login_files: tuple[str, ...]
    """Files of an existing login, below the home folder, that do as well."""
    logins: tuple[str, ...] = ()
    """Those of these files that are there."""

    @classmethod
    def of(cls, who: str, traits: Traits) -> Self:
        """Return the keys that a plugin announces, and which of them are here; their values are not read."""
        return cls(
            who=who,
            variables=traits.secrets,
            present=tuple(filter(secret, traits.secrets)),
            login_files=traits.login_files,
            logins=files_at_home(traits.login_files),
        )

    @property
    def line(self) -> str:
        """For people."""
        logins = "".join(f" or a login in ~/{file}" for file in self.login_files)
        found = (f"login found: ~/{file}" for file in self.logins)
        here = filter(None, (said_if(self.present, f"set: {', '.join(self.present)}"), *found))
        keys = " or ".join(self.variables)
        return f"{self.who} needs a key: {keys}{logins} ({', '.join(here) or 'none is set'})"


def key_needs(prepared: Prepared) -> tuple[KeyNeed, ...]:
    """Engines, judges and scorers of the run that need a key; the values are not looked at."""
    checks = (check for suite in prepared.plan.suites for _, case in suite.cases() for check in case.checks)
    scorers = sorted({check.scorer for check in checks})
    needing = dict(prepared.cast.spenders) | {
        f"scorer {name!r}": prepared.cast.scorers.resolve(name).provider.traits for name in scorers
    }
    return tuple(KeyNeed.of(who, traits) for who, traits in needing.items() if traits.secrets)


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
        return f"asks {self.host}{said_if(self.variable, f', from {self.variable}')}"


def asked_services(prepared: Prepared) -> tuple[AskedService, ...]:
    """The services that a run would ask: those of engines, then those of judges; each once."""
    cast = prepared.cast
    setups = cast.engines.setups
    runners = [cell.runner for cell in cells_of(prepared.plan.suites) if cell.arm.kind is ArmKind.AGENT]
    # A dry run may plan with an engine that could not be made.
    asking = [
        (f"engine {one.name!r}", one.service, setups[one.digest].traits) for one in runners if one.digest in setups
    ]
    asking += [(f"judge {one.identity.name!r}", one.identity.service, one.traits) for one in cast.judging.found]
    services = (AskedService.of(who, address, traits) for who, address, traits in asking if address)
    return tuple(dict.fromkeys(services))
