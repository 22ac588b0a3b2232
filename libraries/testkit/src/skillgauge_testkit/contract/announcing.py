"""The promises of every plugin, whatever its kind: it announces well, and announcing is cheap."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Generic, TypeVar, cast

from pydantic import BaseModel, ValidationError

from skillgauge.api import EMPTY, JsonObject, Peers, PluginError, Provider, SessionReader, Traits, freeze
from skillgauge.contract.providers import imported
from skillgauge.plugins.kinds import EXTENSIONS, KINDS, Kind

from ..registries import registry_of
from .clauses import called, require, shown, unbroken
from .shapes import require_shape

T = TypeVar("T")

UNKNOWN_OPTION = "no-such-option"
"""A key that no options model has."""

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_ALIAS = re.compile(r"[^\s:,=]+")
_SUMMARY_LENGTH = 120
_IMPORT_S = 60.0
"""A module that has not been imported by then never will be."""

_PROBE = """
import importlib, json, sys
sys.path[:], name, hooks = json.load(sys.stdin)
from skillgauge.api import Frozen, Provider, Traits, hookimpl
known = set(sys.modules)
module = importlib.import_module(name)
for hook in hooks:
    list(getattr(module, hook, tuple)())
print("\\n" + json.dumps([sorted(known), sorted(set(sys.modules) - known)]))
"""


@dataclass(frozen=True)
class Maker(Generic[T]):
    """Makes objects of a plugin from options as a user writes them: what the checks of this kit call `make`.

    It goes through a registry, so wrong options are refused as in a run, and it can be sent to another process.

    Example::

        make = Maker(SCORERS, "acme_tone.plugin")
        scorer = make({"value": "formal"})
    """

    kind: Kind[T]
    module: str
    """Name of the module with the hooks."""
    name: str = ""
    """Which provider, if the module announces several of the kind."""

    def __call__(self, options: JsonObject = EMPTY) -> T:
        """A new object.

        Raises:
            PluginError: the options are wrong, or the plugin does not work.
        """
        registry = registry_of(import_module(self.module))
        names = registry.names(self.kind)
        if not self.name and len(names) != 1:
            raise ValueError(f"{self.module} announces {', '.join(names) or 'none'} of {self.kind}: say which one")
        resolved = registry.resolve(self.kind, self.name or names[0])
        return cast(
            "T",
            resolved.provider.make(registry.validated_options(resolved, options), registry.peers_of(resolved.provider)),
        )


def check_light_import(module: str, *, allowed: Collection[str] = ()) -> None:
    """Check that importing a hook module, and asking it what it announces, loads nothing heavy.

    Listing plugins imports every hook module, so what a plugin works with has to wait until its factory is called.
    The standard library, the plugin's own package and what `skillgauge.api` imports anyway are free.

    Example::

        def test_import_is_light():
            check_light_import("acme_tone.plugin")

    Args:
        module: name of the module that the entry point names.
        allowed: further top-level packages that are light enough.

    Raises:
        AssertionError: it loads another package, or cannot be imported.
    """
    hooks = [f"skillgauge_{kind}" for kind in KINDS if kind != EXTENSIONS]
    program, payload = [sys.executable, "-c", _PROBE], json.dumps([sys.path, module, hooks])
    with unbroken(f"importing hook module {module}"):
        done = subprocess.run(program, input=payload, capture_output=True, text=True, check=False, timeout=_IMPORT_S)
    reason = (done.stderr.strip().splitlines() or ["it ended the process"])[-1]
    require(done.returncode == 0, f"hook module {module} must be importable on its own: {reason}")
    loaded_before, loaded = json.loads(done.stdout.strip().splitlines()[-1])
    free = {*sys.stdlib_module_names, *_tops(loaded_before), *_tops([module]), *allowed}
    heavy = sorted(_tops(loaded) - free)
    require(
        not heavy, f"hook module {module} must not import {', '.join(heavy)}: import it where the factory is called"
    )


def _tops(names: Collection[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def check_plugin(
    module: str | ModuleType, kind: str, *, options: Mapping[str, JsonObject] | None = None, installed: bool = True
) -> None:
    """Check what a plugin announces: hooks, providers, options, the objects' methods, and its entry points.

    Example::

        def test_contract():
            check_plugin("acme_tone.plugin", "scorers", options={"tone": {"value": "formal"}})

    Args:
        module: the module that the entry point names.
        kind: plural, as in the entry point group.
        options: for each provider whose options have no defaults, an example of valid ones.
        installed: whether its distribution is installed here; without it entry points are not looked at.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    require(kind in KINDS, f"{kind!r} is no kind of plugin; kinds are {', '.join(KINDS)}")
    hooks = import_module(module) if isinstance(module, str) else module
    try:
        registry = registry_of(hooks)
    except PluginError as error:
        raise AssertionError(f"hook module {hooks.__name__} must keep to the hook specifications: {error}") from error
    providers: tuple[Provider[object], ...] = ()
    if kind != EXTENSIONS:
        providers = _providers(hooks, kind)
        for provider in providers:
            _check_provider(provider, kind, (options or {}).get(provider.name, EMPTY), registry.peers_of(provider))
    _check_imports(hooks)
    if installed:
        _check_entry_points(hooks.__name__, kind, [provider.name for provider in providers])


def _providers(module: ModuleType, kind: str) -> tuple[Provider[object], ...]:
    hook = f"skillgauge_{kind}"
    announce = getattr(module, hook, None)
    require(announce is not None, f"hook module {module.__name__} must implement {hook}, decorated with @hookimpl")
    assert announce is not None
    providers = called(hook, lambda: tuple(announce()))
    require(providers, f"{hook} must announce at least one provider")
    names = [provider.name for provider in providers]
    require(len(set(names)) == len(names), f"{hook} must not announce a name twice: {', '.join(names)}")
    return providers


def _check_provider(provider: Provider[object], kind: str, options: JsonObject, peers: Peers | None) -> None:
    who = f"provider {provider.name!r}"
    require(_NAME.fullmatch(provider.name), f"{who}: its name must be lower-case words joined by hyphens")
    summary = provider.summary
    one_line = isinstance(summary, str) and summary.strip() == summary and len(summary.splitlines()) == 1
    require(one_line, f"{who}: its summary must be one line, not {shown(summary)}")
    require(len(summary) <= _SUMMARY_LENGTH, f"{who}: its summary must have at most {_SUMMARY_LENGTH} characters")
    require(isinstance(provider.traits, Traits), f"{who}: its traits must be Traits, not {shown(provider.traits)}")
    is_model = isinstance(provider.options, type) and issubclass(provider.options, BaseModel)
    require(is_model, f"{who}: its options must be a pydantic model, not {shown(provider.options)}")
    plugin_object = _make(provider, options, peers, who)
    require_shape(plugin_object, KINDS[kind].contract)
    if provider.records:
        called(f"{who}: records", imported, provider.records)
    if provider.sessions:
        reader = called(f"{who}: sessions()", called(f"{who}: sessions", imported, provider.sessions))
        require_shape(reader, SessionReader)
    if provider.schemas:
        schemas = called(f"{who}: schemas()", called(f"{who}: schemas", imported, provider.schemas))
        for name, schema in called(f"{who}: schemas()", lambda: dict(schemas)).items():
            with unbroken(f"{who}: schema {name!r} must be a JSON value and"):
                freeze(schema)


def _make(provider: Provider[object], options: JsonObject, peers: Peers | None, who: str) -> object:
    try:
        valid = provider.options.model_validate(dict(options))
    except ValidationError as error:
        text = f"{who}: options {shown(dict(options))} are not valid: give valid ones as options={{name: {{...}}}}"
        raise AssertionError(f"{text}: {error}") from error
    try:
        provider.options.model_validate({**options, UNKNOWN_OPTION: 1})
    except ValidationError:
        pass
    else:
        raise AssertionError(f"{who}: its options model must refuse unknown keys: set extra='forbid', or use Frozen")
    with unbroken(f"{who}: the JSON Schema of its options"):
        json.dumps(provider.options.model_json_schema())
    return called(f"{who}: factory", lambda: provider.make(valid, peers))


DOORS = ("skillgauge.api", "skillgauge.api.run", "skillgauge.api.report", "skillgauge.stats")
"""The modules of skillgauge that plugins may import."""


def _check_imports(module: ModuleType) -> None:
    """Check that a plugin imports only what is public: every other module may change without notice."""
    for path in _sources(module):
        for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
            for name in _imported(node):
                where = f"{path.name}:{getattr(node, 'lineno', 1)}"
                public = name.partition(".")[0] != "skillgauge" or name in DOORS
                require(
                    public, f"{where} imports {name}: plugins import {', '.join(DOORS)} and skillgauge_testkit only"
                )


def _sources(module: ModuleType) -> list[Path]:
    """Files of the module's package; only the module itself if it stands alone or among the kernel's own."""
    file = getattr(module, "__file__", None)
    if file is None:
        return []
    top = module.__name__.partition(".")[0]
    package = sys.modules.get(top)
    if top == "skillgauge" or package is None or not hasattr(package, "__path__"):
        return [Path(file)]
    return sorted(path for folder in package.__path__ for path in Path(folder).rglob("*.py"))


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
        bare = node.module == "skillgauge"
        yield from (f"skillgauge.{alias.name}" for alias in node.names) if bare else (node.module,)


def _check_entry_points(module: str, kind: str, names: list[str]) -> None:
    group = f"skillgauge.{kind}"
    points = [point for point in entry_points(group=group) if point.module == module]
    require(points, f"an entry point of group {group} must name {module}; is the distribution installed?")
    for point in points:
        _check_entry_point(point, names)
    listed = {point.name for point in points}
    absent = [name for name in names if name not in listed]
    require(not absent, f"group {group} must have an entry point for provider {', '.join(absent)}, or nobody finds it")
    makers = {point.dist.name for point in points if point.dist}
    require(len(makers) == 1, f"{module} must belong to one distribution, not to {', '.join(sorted(makers))}")


def _check_entry_point(point: EntryPoint, names: list[str]) -> None:
    require(not point.attr, f"entry point {point.name!r} must name the hook module, not {point.value!r} in it")
    require(_ALIAS.fullmatch(point.name), f"entry point {point.name!r} must be one word without `:`, `,` and `=`")
    stands_for_one = not names or point.name in names or len(names) == 1
    note = f"but its module announces {', '.join(names)}"
    require(stands_for_one, f"entry point {point.name!r} must be the name of a provider, {note}")
