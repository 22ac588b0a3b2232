"""Announce `otel`. Nothing of OpenTelemetry is imported here, nor in a run that sends nothing."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Traits, hookimpl

from .settings import HEADERS, OtelOptions


@hookimpl
def skillgauge_extensions() -> Iterable[Provider[object]]:
    """Announce the extension."""
    yield Provider(
        name="otel",
        options=OtelOptions,
        factory="skillgauge_extension_otel.extension:listener",
        summary="Send runs to an OpenTelemetry collector, once you name one.",
        traits=Traits(secrets=HEADERS),
    )
