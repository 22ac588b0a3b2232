"""Announces the reporter; what it does is in `reporter`."""

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, Reporter, hookimpl


def _make(_options: NoOptions) -> Reporter:
    from .reporter import MarkdownReporter  # noqa: PLC0415 - announcing stays cheap

    return MarkdownReporter()


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `markdown`."""
    yield Provider(name="markdown", factory=_make, summary="A report for people, as Markdown.")
