"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, SuiteFormat, format_of, hookimpl


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `plugin-eval`."""
    yield Provider(
        name="plugin-eval",
        options=NoOptions,
        factory=format_of(
            claim="skillgauge_format_plugin_eval.claiming:claim",
            load="skillgauge_format_plugin_eval.loading:load",
            dump="skillgauge_format_plugin_eval.dumping:dump",
        ),
        summary="Case folders of claude plugin eval: prompt.md or case.yaml, and graders.",
    )
