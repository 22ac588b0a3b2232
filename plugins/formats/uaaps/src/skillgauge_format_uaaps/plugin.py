"""Announces the format; what it does is in `suite_format`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, hookimpl

from .options import UaapsOptions


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `uaaps`."""
    yield Provider(
        name="uaaps",
        options=UaapsOptions,
        factory="skillgauge_format_uaaps.suite_format:UaapsFormat",
        summary="Packages with package.agent.json: deterministic tests of skills and hooks, and judged evals.",
        schemas="skillgauge_format_uaaps.schemas:schemas",
    )
