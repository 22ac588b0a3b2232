"""Announces the reporter; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `transcripts`."""
    yield Provider(
        name="transcripts",
        factory="skillgauge_reporter_transcripts.reporter:TranscriptsReporter",
        summary="What each agent did, as text, a file for each session.",
    )
