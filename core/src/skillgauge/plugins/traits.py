"""What engines and judges announce of themselves, as their options make it."""

from __future__ import annotations

from fnmatch import fnmatchcase

from ..contract.providers import Traits
from ..types.frozen import EMPTY, JsonObject
from .events import failing_as
from .kinds import Resolved
from .registry import Registry


def claims(plugin: Resolved, model: str) -> bool:
    """Whether an engine or a judge announces that it serves a model."""
    return any(fnmatchcase(model, pattern) for pattern in plugin.provider.traits.model_patterns)


def traits_of(resolved: Resolved, registry: Registry, options: JsonObject = EMPTY) -> Traits:
    """What a plugin announces of itself, as its options make it: these, before those of the configuration.

    Raises:
        PluginError: it fails to tell.
    """
    if resolved.provider.traits_with is None:
        return resolved.provider.traits
    checked = registry.validated_options(resolved, options)
    with failing_as(resolved, "could not tell its traits"):
        return resolved.provider.traits_with(checked)
