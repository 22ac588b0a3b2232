"""Announces `codex-acp`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Engine, Provider, hookimpl

from .agents import CODEX
from .provider import provider_of


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `codex-acp`."""
    yield provider_of(CODEX)
