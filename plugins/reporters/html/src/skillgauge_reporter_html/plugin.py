"""Announces the reporter; what it does is in `reporter`."""

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `html`."""
    yield Provider(
        name="html",
        factory="skillgauge_reporter_html.reporter:HtmlReporter",
        summary="A report for people, as one self-contained page.",
    )
