"""Announces the reporter; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `plugin-eval`."""
    yield Provider(
        name="plugin-eval",
        factory="skillgauge_format_plugin_eval.reporter:PluginEvalReporter",
        summary="aggregate-result.json of claude plugin eval, with intervals beside its figures.",
    )
