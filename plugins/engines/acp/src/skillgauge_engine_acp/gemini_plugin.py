"""Announces `gemini`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Engine, Provider, hookimpl

from .agents import GEMINI
from .provider import provider_of


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `gemini`."""
    yield provider_of(GEMINI)
