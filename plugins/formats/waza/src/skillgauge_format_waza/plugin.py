"""Announces the format; what it does is in `suite_format`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, SuiteFormat, hookimpl


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `waza`."""
    yield Provider(
        name="waza",
        options=NoOptions,
        factory="skillgauge_format_waza.suite_format:WazaFormat",
        summary="eval.yaml of waza: tasks in files of their own, graders for the suite and for each task.",
    )
