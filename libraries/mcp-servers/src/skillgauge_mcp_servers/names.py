"""Names of servers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from skillgauge.api import Install

SERVERS = "servers"
"""Kind of the installs that give an agent servers."""


def plain_name(server: str) -> str:
    """Return the name of a server as it stands in the names of its tools."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", server)


def allowed_servers(installs: Sequence[Install]) -> tuple[str, ...]:
    """Return the names of the servers whose tools an agent may use unasked, and without which it cannot begin."""
    allowed = (install for install in installs if install.kind == SERVERS and install.content.get("allowed"))
    return tuple(dict.fromkeys(name for install in allowed for name in _names(install)))


def _names(install: Install) -> tuple[str, ...]:
    servers = install.content.get(SERVERS)
    return tuple(servers) if isinstance(servers, Mapping) else ()
