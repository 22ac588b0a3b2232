"""Announces the reporter; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `attestation`."""
    yield Provider(
        name="attestation",
        factory="skillgauge_reporter_attestation.reporter:AttestationReporter",
        summary="Replay bundle and attestation of skillevaluation, for those who grade again.",
    )
