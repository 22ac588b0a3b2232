"""Implements `skillgauge_scorer`, which should be `skillgauge_scorers`."""

from __future__ import annotations

from skillgauge.api import Provider, Scorer, hookimpl


@hookimpl
def skillgauge_scorer() -> tuple[Provider[Scorer], ...]:
    """Never called."""
    return ()
