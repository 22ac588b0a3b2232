"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, SuiteFormat, format_of, hookimpl


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `agentv`."""
    yield Provider(
        name="agentv",
        options=NoOptions,
        factory=format_of(
            claim="skillgauge_format_agentv.claiming:claim",
            load="skillgauge_format_agentv.loading:load",
            dump="skillgauge_format_agentv.dumping:dump",
        ),
        summary="EVAL.yaml of agentv: tests with rubrics, assertions and scripts.",
    )
