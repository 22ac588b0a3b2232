"""The options that every command takes, before or after its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from skillgauge_documents.immutables import immutable


@immutable
class Globals:
    """The values of the global options, which may stand before or after the command's name."""

    config: str | None = None
    as_json: bool = False
    no_color: bool = False
    verbose: bool = False
    quiet: bool = False
    log_json: bool = False
    no_plugin: tuple[str, ...] = ()
    plugin: tuple[str, ...] = ()
    assign: tuple[str, ...] = ()
    trust_config: bool = False
    untrusted: bool = False
    """Set by the option of commands that evaluate, so that no configuration of a folder counts in them."""

    def merged(self, values: dict[str, Any]) -> Globals:
        """These, with what was given further right in the command line."""
        changes: dict[str, Any] = {}
        for name, value in values.items():
            mine = getattr(self, name)
            changes[name] = (*mine, *value) if isinstance(mine, tuple) else (value or mine)
        return replace(self, **changes)
