"""The files of a run, for machines that do not have them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from ...config.chosen_plugins import ChosenPlugins
from ...config.configuration import Held
from ...config.trusting import takes_part
from ...contract.executors import RunFiles
from ...errors import PluginError, Problem
from ...plan.options import EvalOptions
from ...plan.planning import cells_of
from ...plan.preparing import Prepared
from ...plugins.registry import Registry
from ...types.arms import Arm
from ...types.suite import Case
from .declared import Declared
from .parts_here import files_of_case
from .places import Place


def files_of(options: EvalOptions, prepared: Prepared, plugins: ChosenPlugins, registry: Registry) -> RunFiles:
    """Return the files that the same evaluation needs on another machine.

    They are those of the suites, their skills and their cases, what the command line names, plugins that are files,
    recordings, and files that options name: those that plugins declare, and others relative to the folder.

    Raises:
        PluginError: an option names something here that no worker would have.
    """
    place = Place(options.cwd)
    named = [*options.what.paths, *chain.from_iterable(options.what.format_paths.values())]
    roots = {path for path in named if path.is_file()}
    roots.update(_of_suites(prepared))
    declared = Declared.of(options.what, plugins, registry)
    PluginError.raise_for(list(_left_behind(declared, prepared, registry, place)))
    roots.update(options.cwd / file for file in plugins.files)
    if options.who.replay:
        roots.add(options.who.replay)
    folders = tuple(place.short(path) for path in named if path.is_dir())
    named_by_options = dict(_of_options(declared, place))
    return RunFiles({place.short(root): root for root in roots if root.exists()} | named_by_options, folders)


def _of_suites(prepared: Prepared) -> Iterator[Path]:
    for suite in prepared.suites.suites:
        yield Path(suite.root)
        yield from (Path(target.root) for target in suite.targets if target.root)
        for arm in (*suite.arms, *(cell.arm for cell in cells_of(prepared.plan.suites))):
            yield from _of_arm(arm)
        for case in suite.cases:
            yield from _of_case(case)


def _of_arm(arm: Arm) -> Iterator[Path]:
    yield from (Path(skill.root) for skill in arm.skills)
    yield from (Path(file.source) for install in arm.installs for file in install.files if file.source)


def _of_case(case: Case) -> Iterator[Path]:
    yield from (Path(file.source) for file in files_of_case(case) if file.source)
    yield from (Path(str(check.options[name])) for check in case.checks for name in check.files)


def _of_options(declared: Declared, place: Place) -> Iterator[tuple[str, Path]]:
    """Yield what options name, by its place: what belongs to the run, and relative files whatever their plugins say."""
    of_run = declared.of_run()
    for _, text in declared.texts():
        # Not asked of a path: that raises at a text which is too long for one.
        if not text or not os.path.exists(place.cwd / text):  # noqa: PTH110
            continue
        if not os.path.isabs(text) and (text in of_run or os.path.isfile(place.cwd / text)):  # noqa: PTH113, PTH117
            yield Path(os.path.normpath(text)).as_posix(), place.cwd / text
        elif text in of_run:
            yield place.short(Path(text)), Path(text)


def _left_behind(declared: Declared, prepared: Prepared, registry: Registry, place: Place) -> Iterator[Problem]:
    """Yield the options of plugins that take part whose absolute paths lie in the run's folder, or below the home."""
    for name, path in declared.undeclared().items():
        kind, plugin, option = name.split(".", 2)
        short = place.short(Path(path))
        if short.startswith("..") or not takes_part(Held(f"plugins.{name}", path, "", ()), prepared, registry):
            continue
        message = f"option {option!r} of {kind}.{plugin} is {path}, which workers on other machines do not have"
        hint = "Give a path below this folder, or have all workers start in one folder that they share."
        if not short.startswith("~"):
            hint = f"Name it relative to this folder, as {short}, so that it goes along."
        yield Problem("executor.path", message, hint=hint)
