"""The documents of the `plugins` commands, for their schemas."""

from __future__ import annotations

from skillgauge_documents.frozen import Frozen


class PluginDocument(Frozen):
    """One entry point."""

    kind: str
    name: str
    distribution: str
    version: str
    summary: str
    module: str
    core_range: str | None
    problem: str | None
    """Why it is not used: the user blocks it, another core version, a clash of names, the last recorded failure."""
    healthy: bool | None = None
    """Set by `doctor`: false if it is broken, so that nobody can use it."""
    lacks: str | None = None
    """Set by `doctor`: what its own check misses here, a key for example; who does not use it need not care."""
    asks: str | None = None
    """Set by `doctor`: the host that an engine or a judge asks, and the environment variable that says so."""


class PluginsDocument(Frozen):
    """All of them: `plugins list` and `plugins doctor`."""

    schema_version: str = "1.2"
    plugins: tuple[PluginDocument, ...]
