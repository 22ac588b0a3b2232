"""Announces the reporter; what it does is in `reporter`."""

from collections.abc import Iterable

from skillgauge.api import NoOptions, Provider, Reporter, hookimpl


def _make(_options: NoOptions) -> Reporter:
    from .reporter import HtmlReporter  # noqa: PLC0415 - announcing stays cheap

    return HtmlReporter()


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `html`."""
    yield Provider(name="html", factory=_make, summary="A report for people, as one self-contained page.")
