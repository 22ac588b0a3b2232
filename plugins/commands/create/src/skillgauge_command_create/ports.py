"""The port of a new service: the documented one, unless a neighbour or a running program has it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from skillgauge.api import SuiteError, read_document

FIRST_PORT = 3000
"""The documented default."""
_TRIED = 100


def choose_port(skills: Path) -> int:
    """A port for a new skill in a folder of skills, which need not exist.

    Returns:
        The first one from `FIRST_PORT` on that no other skill there names and at which nothing listens now.
    """
    return first_port(named_ports(skills), is_free)


def first_port(named: Collection[int], free: Callable[[int], bool]) -> int:
    """The first port that nobody names or uses; the first of all if there is none within a hundred."""
    tried = range(FIRST_PORT, FIRST_PORT + _TRIED)
    return next((port for port in tried if port not in named and free(port)), FIRST_PORT)


def named_ports(skills: Path) -> frozenset[int]:
    """The ports in the entrypoints of the skills in a folder."""
    return frozenset(port for path in skills.glob("*/skill.json") if (port := _port_of(path)))


def _port_of(path: Path) -> int | None:
    try:
        skill = read_document(path).value
        entrypoint = skill.get("entrypoint") if isinstance(skill, Mapping) else None
        return urlsplit(entrypoint).port if isinstance(entrypoint, str) else None
    except (SuiteError, ValueError):
        return None  # what is wrong with a neighbour is not what the user asked about


def is_free(port: int) -> bool:
    """Tell whether a service of this machine could listen at a port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the service does
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
