"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, format_of, hookimpl

from .options import PluginEvalOptions


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `plugin-eval`."""
    yield Provider(
        name="plugin-eval",
        options=PluginEvalOptions,
        factory=format_of(
            claim="skillgauge_format_plugin_eval.claiming:claim",
            load="skillgauge_format_plugin_eval.loading:load",
            dump="skillgauge_format_plugin_eval.dumping:dump",
        ),
        summary="Case folders of claude plugin eval: prompt.md or case.yaml, and graders.",
    )
