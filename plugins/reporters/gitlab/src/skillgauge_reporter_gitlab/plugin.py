"""Announces the reporter; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter

from .options import GitlabOptions


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `gitlab`."""
    yield Provider(
        name="gitlab",
        options=GitlabOptions,
        factory="skillgauge_reporter_gitlab.reporter:GitlabReporter",
        summary="For GitLab: the note of a merge request, a Code Quality report at the lines of cases, and variables.",
    )
