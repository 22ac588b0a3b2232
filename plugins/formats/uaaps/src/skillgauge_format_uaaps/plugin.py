"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, format_of, hookimpl

from .options import UaapsOptions


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `uaaps`."""
    yield Provider(
        name="uaaps",
        options=UaapsOptions,
        factory=format_of(
            claim="skillgauge_format_uaaps.claiming:claim",
            load="skillgauge_format_uaaps.loading:load",
            dump="skillgauge_format_uaaps.dumping:dump",
        ),
        summary="Packages with package.agent.json: deterministic tests of skills and hooks, and judged evals.",
        schemas="skillgauge_format_uaaps.schemas:schemas",
    )
