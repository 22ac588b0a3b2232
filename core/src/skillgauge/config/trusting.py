"""The decisions that a folder's configuration may make by itself, and the files that the user trusts to make more."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from skillgauge_documents.immutables import immutable

from ..contract.providers import HARMLESS
from ..errors import PluginError, Problem, UsageError
from ..plugins.kinds import JUDGES, SCORERS
from .configuration import KEYS, Config, Held, Key, Source

if TYPE_CHECKING:
    from skillgauge_documents.frozen import JsonObject

    from ..plan.preparing import Prepared
    from ..plugins.registry import Registry

_PATHS = frozenset(("outputDir", "store"))
"""Keys whose value is harmless as long as it is a path below the folder."""

_NAME = re.compile(r"[\w-]+")
"""A single word, which may be the name of a store: see `open_store`."""


def is_harmless(keys: Mapping[str, Key], name: str, value: object, folder: Path) -> bool:
    """Tell whether a folder may set a key for the people who work in it; options of plugins are not decided here.

    Args:
        keys: all that may be set.
        name: as the file spells it.
        value: what it is set to.
        folder: whose file it is.
    """
    own = (keys[name].stands_for or name) if name in keys else name
    if own in _PATHS:
        if own == "store" and value != "none" and _NAME.fullmatch(str(value)):
            return False
        return isinstance(value, str) and "://" not in value and _is_below(folder, value)
    return own in KEYS and KEYS[own].harmless


def leading_out(config: Config, folder: Path) -> list[Problem]:
    """Places of reports and of the store that links lead out of a folder, although nobody but the folder chose them."""
    problems = []
    for key in sorted(_PATHS):
        value = config.find(key)
        if value is None or value.source not in (Source.PROJECT, Source.DEFAULT) or value.value == "none":
            continue
        if not is_harmless(config.keys, key, value.value, folder):
            message = f"{key} {value.value!r} leads out of the folder, by a link"
            hint = "Name another place: --output-dir DIR, --store PLACE or --store none."
            problems.append(Problem("usage.leads-out", message, hint=hint))
    return problems


def _is_below(folder: Path, path: str) -> bool:
    here = folder.resolve()
    return not Path(path).is_absolute() and (here / path).resolve().is_relative_to(here)


def harmless_option(options: type[BaseModel], name: str) -> bool:
    """Tell whether a plugin declares that a folder may set this option of it."""
    fields = options.model_fields
    field = fields.get(name) or next((one for one in fields.values() if one.alias == name), None)
    extra = field.json_schema_extra if field else None
    return isinstance(extra, Mapping) and all(extra.get(key) == value for key, value in HARMLESS.items())


@immutable
class PluginOptions:
    """The options of plugins that the configuration sets, with what of an untrusted file is harmless.

    Args:
        chosen: values that count whatever the plugin says, by `<kind>.<name>`.
        held: those that the folder asks for, in the same way.
    """

    chosen: Mapping[str, Mapping[str, Any]]
    held: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, config: Config) -> PluginOptions:
        """Those of a configuration."""
        held: dict[str, dict[str, Any]] = {}
        for one in config.held:
            if one.option:
                kind, owner, key = one.option
                held.setdefault(f"{kind}.{owner}", {})[key] = one.value
        return cls(config.plugin_options(), held)

    def __call__(self, plugin: str, model: type[BaseModel] | None) -> JsonObject:
        """Options of one plugin; without its model none of the folder's, since nothing is declared harmless."""
        values = dict(self.chosen.get(plugin, {}))
        if model:
            held = self.held.get(plugin, {})
            values.update((key, value) for key, value in held.items() if harmless_option(model, key))
        return values


def still_held(config: Config, registry: Registry) -> tuple[Held, ...]:
    """Return the values that wait for the user's trust, once the plugins have declared which options are harmless."""
    return tuple(one for one in config.held if not _is_granted(one, registry))


def granted_checks(config: Config, registry: Registry) -> Held | None:
    """The folder's further checks, if every option of theirs is harmless."""
    return next((one for one in config.held if one.key == "checks" and _is_granted(one, registry)), None)


def _is_granted(held: Held, registry: Registry) -> bool:
    asked: list[tuple[str, str, object]]
    if held.key == "checks":
        asked = [(SCORERS, str(check.get("scorer")), check.get("options") or {}) for check in held.value]
    elif held.option:
        kind, name, key = held.option
        asked = [(kind, name, {key: held.value})]
    else:
        return False
    try:
        models = [registry.options_model(kind, name) for kind, name, _ in asked]
    except (PluginError, KeyError):
        return False
    return all(_are_harmless(model, options) for model, (_, _, options) in zip(models, asked, strict=True))


def _are_harmless(model: type[BaseModel] | None, options: object) -> bool:
    if model is None or not isinstance(options, Mapping):
        return False
    return all(harmless_option(model, key) for key in options)


def takes_part(held: Held, prepared: Prepared, registry: Registry) -> bool:
    """Tell whether a run would be another one if the user trusted a value."""
    kind, name, _ = held.option or ("", "", "")
    judges = filter(None, _judge_names(prepared))
    if any(registry.resolve(JUDGES, judge).provider.uses == kind for judge in judges):
        return True
    names_of = _NAMES_OF.get(kind)
    return names_of is None or name.rpartition(":")[2] in names_of(prepared)


def _judge_names(prepared: Prepared) -> set[str]:
    return {judge.identity.name for judge in prepared.cast.judging.found}


def _sandbox_names(prepared: Prepared) -> set[str]:
    if prepared.cast.sandbox is None:
        return set()
    return {prepared.cast.sandbox.name}


def _adapter_names(prepared: Prepared) -> set[str | None]:
    return {target.adapter for suite in prepared.suites.suites for target in suite.targets}


def _engine_names(prepared: Prepared) -> set[str]:
    """Return the engines of a run, with and without their settings and variants."""
    names = set(prepared.cast.engines.traits())
    return names | {name.partition("+")[0] for name in names} | {name.partition(":")[0] for name in names}


_NAMES_OF: Mapping[str, Callable[[Prepared], Set[str | None]]] = {
    "engines": _engine_names,
    "judges": _judge_names,
    "adapters": _adapter_names,
    "sandboxes": _sandbox_names,
}
"""Gives the names of the plugins that take part in a run, by their kind; a plugin of any other kind always does."""


class TrustedFiles:
    """The user's own list of files that he trusts, each with a digest of its content.

    Args:
        path: the file that keeps the list; `None` where the user has no folder of his own.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def trusts(self, file: Path, text: str) -> bool:
        """Tell whether the user trusts a file, and it has not changed since."""
        return self.listed().get(_name(file)) == _digest(text)

    def listed(self) -> dict[str, str]:
        """Digest of each, by absolute path.

        Raises:
            UsageError: the list is damaged.
        """
        if self._path is None or not self._path.is_file():
            return {}
        try:
            entries = json.loads(self._path.read_text("utf-8"))["files"]
            return {str(file): str(digest) for file, digest in entries.items()}
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            message = f"the list of trusted files {str(self._path)!r} cannot be read: {error}"
            raise UsageError(Problem("config.trust", message, hint="Remove it and trust the files again.")) from None

    def add(self, files: Mapping[Path, str]) -> None:
        """Trust files with these texts."""
        self._write(self.listed() | {_name(file): _digest(text) for file, text in files.items()})

    def remove(self, files: Sequence[Path]) -> list[str]:
        """Trust files no longer, whether they exist or not. Returns those that were on the list."""
        listed = self.listed()
        gone = [name for name in map(_name, files) if name in listed]
        self._write({name: digest for name, digest in listed.items() if name not in gone})
        return gone

    def _write(self, files: Mapping[str, str]) -> None:
        from .whole_files import write_whole  # noqa: PLC0415 - few commands write it

        if self._path is None:
            raise UsageError(Problem("config.no-home", "there is no home folder to keep a list of trusted files in"))
        text = json.dumps({"schema_version": "1.0", "files": dict(sorted(files.items()))}, indent=2)
        write_whole(self._path, [f"{text}\n".encode()])


def _name(file: Path) -> str:
    return os.path.abspath(file)  # noqa: PTH100 - no link is followed: it could lead elsewhere tomorrow


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
