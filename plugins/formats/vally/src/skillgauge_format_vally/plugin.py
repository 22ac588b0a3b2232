"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, format_of, hookimpl

from .options import VallyOptions


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `vally`."""
    yield Provider(
        name="vally",
        options=VallyOptions,
        factory=format_of(
            claim="skillgauge_format_vally.claiming:claim",
            load="skillgauge_format_vally.loading:load",
            dump="skillgauge_format_vally.dumping:dump",
        ),
        summary="eval.yaml of Vally: stimuli with graders, environments and constraints.",
    )
