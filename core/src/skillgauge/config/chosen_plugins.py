"""The plugins that a run may use and how they are set, for a registry here and for one in another process."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from skillgauge_documents.immutables import immutable

from ..environment import host_variable
from ..plugins.index import PluginIndex
from ..plugins.installed import read_index
from ..plugins.registry import Registry
from .trusting import PluginOptions


@immutable
class ChosenPlugins:
    """The choices of the user."""

    blocked: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    """`None` allows all that are installed."""
    files: tuple[Path, ...] = ()
    """Files that announce plugins, as the user named them."""
    options: PluginOptions = field(default_factory=lambda: PluginOptions({}, {}))

    def registry(self, index: PluginIndex | None = None) -> Registry:
        """A new registry of these plugins.

        Args:
            index: what is installed, for whoever has read it.

        Raises:
            PluginError: one of the files cannot be used.
        """
        return Registry(
            index or read_index(),
            blocked=self.blocked,
            only=self.only,
            files=self.files,
            options=self.options,
            look_up=host_variable,
        )
