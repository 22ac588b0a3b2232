"""Announces the format; what it does is in `suite_format`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, SuiteFormat, hookimpl


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `promptfoo`."""
    yield Provider(
        name="promptfoo",
        options=NoOptions,
        factory="skillgauge_format_promptfoo.suite_format:PromptfooFormat",
        summary="promptfooconfig.yaml of promptfoo: prompts with variables, tests and assertions.",
    )
