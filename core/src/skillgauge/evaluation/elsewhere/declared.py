"""Texts among the options of a run: files of the run, places of each machine, and secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from skillgauge_documents.frozen import JsonObject
from skillgauge_documents.texts import SECRET, marked_texts, texts_with_places

from ...config.chosen_plugins import ChosenPlugins
from ...contract.providers import MACHINE_PLACE, RUN_PLACE
from ...environment import is_credential, is_path_here
from ...errors import PluginError
from ...plan.options import What
from ...plugins.kinds import EXECUTORS, FORMATS, REPORTERS, SCORERS, STORES
from ...plugins.registry import Registry
from ..added_checks import overlay_of

_NOT_AT_WORKERS = (EXECUTORS, STORES, REPORTERS)
_PASSWORD = re.compile(r"://[^/\s:@]*:(?!\[redacted:)([^/\s@{}$]+)@")


def at_workers(options: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the options of the plugins that a worker may make; it keeps and reports nothing."""
    return {plugin: values for plugin, values in options.items() if plugin.partition(".")[0] not in _NOT_AT_WORKERS}


@dataclass(frozen=True)
class Declared:
    """The options of a run, each with the model of its plugin.

    Args:
        parts: name of the plugin, the model if it is known, and its options.
    """

    parts: tuple[tuple[str, type[BaseModel] | None, JsonObject], ...]

    @classmethod
    def of(cls, what: What, plugins: ChosenPlugins, registry: Registry) -> Declared:
        """Return the options that go to workers.

        Args:
            what: the subject, which has options of formats and of checks that were added.
            plugins: the options of the configuration and the command line.
            registry: the run's plugins.
        """
        parts = [
            (plugin, _model(registry, *plugin.split(".", 1)), values)
            for held in (plugins.options.chosen, plugins.options.held)
            for plugin, values in at_workers(held).items()
        ]
        if what.format_options:
            for one in registry.load_all(FORMATS):
                model = one.provider.options
                own = {name: value for name, value in what.format_options.items() if name in model.model_fields}
                parts.append((f"{FORMATS}.{one.name}", model, own))
        for _, check, _ in overlay_of(what.revise).checks:
            parts.append((f"{SCORERS}.{check.scorer}", None, check.options))  # ids hold them as they stand
        return cls(tuple(parts))

    def of_run(self) -> set[str]:
        """Return the texts that name files and folders of the run."""
        return {text for _, text in self._marked(RUN_PLACE)}

    def undeclared(self) -> dict[str, str]:
        """Return the absolute paths of what is here of which no plugin says what they are, by option."""
        declared = self.of_run() | {text for _, text in self._marked(MACHINE_PLACE)}
        return {name: text for name, text in self.texts() if text not in declared and is_path_here(text)}

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield every text with the name of its option."""
        for plugin, _, values in self.parts:
            yield from texts_with_places(values, (plugin,))

    def secrets(self) -> set[str]:
        """Return the options that hold a secret: by their types, by their names, or as the password of an address."""
        return {name for name, _ in self._marked(SECRET)} | {
            name
            for name, text in self.texts()
            if _PASSWORD.search(text) or is_credential(name.rpartition(".")[2], text)
        }

    def _marked(self, mark: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        for plugin, model, values in self.parts:
            if model is not None:
                yield from marked_texts(model, values, mark, plugin)


def _model(registry: Registry, kind: str, name: str) -> type[BaseModel] | None:
    try:
        return registry.options_model(kind, name)
    except (PluginError, KeyError):
        return None
