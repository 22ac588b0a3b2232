"""From an evaluation to its recipe and back."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from skillgauge_documents.texts import with_texts

from ..._version import __version__
from ...config.chosen_plugins import ChosenPlugins
from ...config.trusting import PluginOptions
from ...contract.recipe import NamedRevision, Recipe
from ...environment import host_environment
from ...errors import PluginError, Problem
from ...log import Clean, loudness
from ...plan.options import EvalOptions, How, Revision, What, Who, as_loaded
from ...plan.preparing import Prepared
from ...plugins.index import CORE, IndexEntry
from ...plugins.installed import read_index
from ...plugins.registry import Registry
from .declared import Declared, at_workers
from .places import Place

_WHAT, _WHO, _HOW = TypeAdapter(What), TypeAdapter(Who), TypeAdapter(How)
_OF_A_FILE = "sha256:"
"""Begins the version of a plugin that is a file."""
_SECRET = re.compile(r"\[redacted:([^\]\s]+)\]")
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def recipe_of(options: EvalOptions, prepared: Prepared, plugins: ChosenPlugins, registry: Registry) -> bytes:
    """Return the recipe of an evaluation, as JSON in UTF-8.

    Args:
        options: what the user asks for.
        prepared: what became of it here. Its sandbox is the workers', too, even if another would be chosen by then.
        plugins: those that the run may use.
        registry: of these plugins.

    Raises:
        PluginError: it cannot be told without a secret that workers could not find by its name, or at all.
    """
    chosen = prepared.cast.sandbox
    assert chosen is not None  # a plan without one is no run
    place = Place(options.cwd)
    declared = Declared.of(options.what, plugins, registry)
    shorter = {path: place.short(Path(path)) for path in declared.of_run() if os.path.isabs(path)}  # noqa: PTH117
    subject = place.shortened(replace(options.what, revise=as_loaded))
    elsewhere = options.unkept()  # the first process has the store
    who = place.shortened(replace(elsewhere.who, sandbox=chosen.name, executor=None))
    recipe = Recipe(
        plan_id=prepared.plan.head.plan_id,
        python=PYTHON,
        versions=_distributions(prepared.plan.head.provenance) | _brings(options.what.revise),
        plugin_files={place.short(file): _digest(options.cwd / file) for file in plugins.files},
        blocked=tuple(sorted(plugins.blocked)),
        only=None if plugins.only is None else tuple(sorted(plugins.only)),
        options=at_workers(plugins.options.chosen),
        harmless_options=at_workers(plugins.options.held),
        places=tuple(sorted(path for path in shorter.values() if path.startswith("~"))),
        what=_WHAT.dump_python(subject, mode="json", exclude={"revise"}),
        revision=_named(options.what.revise),
        who=_WHO.dump_python(who, mode="json"),
        how=_HOW.dump_python(elsewhere.how, mode="json"),
        tier=chosen.report.tier,
        loudness=loudness(),
    )
    short = with_texts(recipe, lambda text: shorter.get(text, text), bytes)
    return _without_secrets(short.model_dump(mode="json"), prepared.job.clean, declared)


def read_recipe(content: bytes) -> Recipe:
    """Read a recipe, with the secrets of this process in their places, those apart that are missing here.

    Raises:
        PluginError: it is none, or of a later version.
    """
    try:
        document = json.loads(content)
        names = Recipe.model_validate(document).secrets
    except (ValueError, ValidationError) as error:
        message = f"this is no recipe that skillgauge-core here can read: {type(error).__name__}"
        hint = "Install the version of skillgauge-core that the run has."
        raise PluginError(Problem("worker.recipe", message, hint=hint)) from None
    return Recipe.model_validate(_with_secrets(document, names))


def missing_secrets(recipe: Recipe) -> list[Problem]:
    """Return the secrets of a recipe that this process does not have."""
    hint = "Set the variable where the worker is started."
    missing = [name for name in recipe.secrets if not host_environment().get(name)]
    return [Problem("worker.no-secret", f"the secret {name} is not set here", hint=hint) for name in missing]


def options_of(recipe: Recipe, place: Place) -> tuple[EvalOptions, ChosenPlugins]:
    """Return the wishes of a recipe, and the plugins of it, in a place.

    Raises:
        PluginError: it names a revision that no plugin here has.
    """
    homes = {path: str(place.long(path)) for path in recipe.places}
    recipe = with_texts(recipe, lambda text: homes.get(text, text), bytes)
    subject = replace(place.lengthened(_WHAT.validate_python(recipe.what)), revise=_revision(recipe.revision))
    who = place.lengthened(_WHO.validate_python(recipe.who))
    plugins = ChosenPlugins(
        frozenset(recipe.blocked),
        None if recipe.only is None else frozenset(recipe.only),
        tuple(place.long(file) for file in recipe.plugin_files),
        PluginOptions(_plain(recipe.options), _plain(recipe.harmless_options)),
    )
    return EvalOptions(place.cwd, subject, who, _HOW.validate_python(recipe.how)), plugins


def differences(recipe: Recipe) -> list[Problem]:
    """Return what of this installation is other than where the recipe was made, files that are plugins apart."""
    problems = []
    if recipe.python != PYTHON:
        message = f"this is Python {PYTHON}, and the run has {recipe.python}"
        problems.append(Problem("worker.python", message, hint=f"Start the worker with Python {recipe.python}."))
    for name, version_of_run in recipe.versions.items():
        have = _installed(name)
        if have != version_of_run:
            code = "worker.version"
            message = f"{name} {have} is installed here, and the run has {version_of_run}"
            if have is None:
                code = "worker.no-distribution"
                message = f"{name} is not installed here, and takes part in the run"
            problems.append(Problem(code, message, hint=f"pip install {name}=={version_of_run}"))
    return problems


def other_files(recipe: Recipe, place: Place) -> list[Problem]:
    """Return which of the files that are plugins are not those of the recipe, or not there."""
    problems = []
    for file, digest in recipe.plugin_files.items():
        path = place.long(file)
        if not path.is_file():
            problems.append(Problem("worker.no-file", f"the plugin {file!r} is not here", hint="Copy it here."))
        elif _digest(path) != digest:
            hint = "Copy the run's file here, or run it again with the one that is here."
            message = f"the plugin {file!r} is another one than the run's"
            problems.append(Problem("worker.other-file", message, hint=hint))
    return problems


def _distributions(provenance: Mapping[str, object]) -> dict[str, str]:
    return {name: str(have) for name, have in provenance.items() if not str(have).startswith(_OF_A_FILE)}


def _brings(revise: Revision) -> dict[str, str]:
    """Return the distribution of the plugin whose class changes the suites, with its version."""
    package = type(revise).__module__.partition(".")[0]
    return {entry.distribution: entry.version for entry in read_index().entries() if _package(entry) == package}


def _installed(name: str) -> str | None:
    if name == CORE:
        return __version__
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def _named(revise: Revision) -> NamedRevision | None:
    if revise is as_loaded:
        return None
    made_by = type(revise)
    state = TypeAdapter(made_by).dump_python(revise, mode="json")
    return NamedRevision(made_by=f"{made_by.__module__}:{made_by.__qualname__}", state=state)


def _package(entry: IndexEntry) -> str:
    return entry.module.partition(":")[0].partition(".")[0]


def _revision(named: NamedRevision | None) -> Revision:
    """Make the revision that a recipe names, of the core or of an installed plugin and no other."""
    if named is None:
        return as_loaded
    module, _, name = named.made_by.partition(":")
    package = module.partition(".")[0]
    if package != "skillgauge" and package not in {_package(entry) for entry in read_index().entries()}:
        message = f"the recipe changes suites by {named.made_by!r}, which belongs to no plugin here"
        raise PluginError(Problem("worker.revision", message))
    revision: Revision = TypeAdapter(getattr(import_module(module), name)).validate_python(_plain(named.state))
    return revision


def _without_secrets(document: dict[str, Any], clean: Clean | None, declared: Declared) -> bytes:
    """Write a recipe with names in the place of secrets."""
    clean = clean or _as_it_is
    cleaned, texts = clean(document), dict(declared.texts())
    if typed := sorted(name for name in declared.secrets() if clean(texts[name]) == texts[name]):
        message = f"the value of {', '.join(typed)} is a secret, and would stand in what every worker gets"
        hint = "Put it into a variable whose name says so, such as ACME_API_KEY, here and at the workers, and give "
        hint += '"$ACME_API_KEY" as the value: workers get the name alone. Or leave out --executor.'
        raise PluginError(Problem("executor.secret", message, hint=hint))
    names = sorted(_named_in(cleaned) - _named_in(document))
    written = {**cleaned, "secrets": names}
    if _with_secrets(written, names) != {**document, "secrets": names}:
        message = f"a setting of this run holds a secret ({', '.join(names)}) that workers cannot look up"
        hint = "Put it into an environment variable, and set it as it stands there; or leave out --executor."
        raise PluginError(Problem("executor.secret", message, hint=hint))
    return json.dumps(written, indent=1).encode()


def _named_in(document: dict[str, Any]) -> set[str]:
    return set(_SECRET.findall(json.dumps(document, ensure_ascii=False, default=dict)))


def _with_secrets(document: dict[str, Any], names: Any) -> dict[str, Any]:
    environment = host_environment()
    values = {name: environment[name] for name in names if name in environment}

    def told(text: str) -> str:
        return _SECRET.sub(lambda match: values.get(match[1], match[0]), text)

    with_values: dict[str, Any] = with_texts(document, told, _as_it_is)
    return with_values


def _as_it_is(content: Any) -> Any:
    return content


def _plain(value: Any) -> Any:
    """JSON as plain dictionaries and lists, as the configuration has it."""
    return json.loads(json.dumps(value, default=dict))
