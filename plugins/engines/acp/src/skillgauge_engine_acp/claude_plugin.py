"""Announces `claude-agent-acp`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Engine, Provider, hookimpl

from .agents import CLAUDE
from .provider import provider_of


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `claude-agent-acp`."""
    yield provider_of(CLAUDE)
