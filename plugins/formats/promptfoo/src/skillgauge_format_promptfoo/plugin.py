"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, SuiteFormat, format_of, hookimpl


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `promptfoo`."""
    yield Provider(
        name="promptfoo",
        options=NoOptions,
        factory=format_of(
            claim="skillgauge_format_promptfoo.claiming:claim",
            load="skillgauge_format_promptfoo.loading:load",
            dump="skillgauge_format_promptfoo.dumping:dump",
        ),
        summary="promptfooconfig.yaml of promptfoo: prompts with variables, tests and assertions.",
    )
