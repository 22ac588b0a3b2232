"""Announces the reporter; what it does is in `reporter`."""

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `markdown`."""
    yield Provider(
        name="markdown",
        factory="skillgauge_reporter_markdown.reporter:MarkdownReporter",
        summary="A report for people, as Markdown.",
    )
