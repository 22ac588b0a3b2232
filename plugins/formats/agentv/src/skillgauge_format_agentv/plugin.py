"""Announces the format; what it does is in `suite_format`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, SuiteFormat, hookimpl


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `agentv`."""
    yield Provider(
        name="agentv",
        options=NoOptions,
        factory="skillgauge_format_agentv.suite_format:AgentvFormat",
        summary="EVAL.yaml of agentv: tests with rubrics, assertions and scripts.",
    )
