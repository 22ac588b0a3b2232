"""Announces the adapter; what it does is in `adapter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Adapter, Provider, hookimpl


@hookimpl
def skillgauge_adapters() -> Iterable[Provider[Adapter]]:
    """Announce `command`."""
    yield Provider(
        name="command",
        factory="skillgauge_adapter_command.adapter:CommandAdapter",
        summary="Run shell commands; the answer is what they write, with their streams and the exit code.",
    )
