"""Announces the reporter; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter

from .options import GithubOptions


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `github`."""
    yield Provider(
        name="github",
        options=GithubOptions,
        factory="skillgauge_reporter_github.reporter:GithubReporter",
        summary="For GitHub Actions: step summary, annotations at the lines of cases, outputs and a comment.",
    )
