"""The files of a run, for machines that do not have them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ...config.chosen_plugins import ChosenPlugins
from ...contract.executors import RunFiles
from ...plan.options import EvalOptions
from ...plan.preparing import Prepared
from .parts_here import files_of_case
from .places import Place
from .recipes import texts_in


def files_of(options: EvalOptions, prepared: Prepared, plugins: ChosenPlugins) -> RunFiles:
    """Return the files that the same evaluation needs on another machine.

    They are those of the suites, their skills and their cases, what the command line names, plugins that are files,
    recordings, and files that options of plugins name.
    """
    place = Place(options.cwd)
    named = [*options.what.paths, *(path for paths in options.what.format_paths.values() for path in paths)]
    roots = {path for path in named if path.is_file()}
    roots.update(_of_suites(prepared))
    roots.update(options.cwd / file for file in (*plugins.files, *_of_options(plugins, options.cwd)))
    if options.who.replay:
        roots.add(options.who.replay)
    folders = tuple(place.short(path) for path in named if path.is_dir())
    return RunFiles({place.short(root): root for root in roots if root.exists()}, folders)


def _of_suites(prepared: Prepared) -> Iterator[Path]:
    for suite in prepared.suites.suites:
        yield Path(suite.root)
        yield from (Path(target.root) for target in suite.targets if target.root)
        arms = (*suite.arms, *(cell.arm for one in prepared.plan.suites for cell in one.cells))
        for arm in arms:
            yield from (Path(skill.root) for skill in arm.skills)
            yield from (Path(file.source) for install in arm.installs for file in install.files if file.source)
        for case in suite.cases:
            yield from (Path(file.source) for file in files_of_case(case) if file.source)


def _of_options(plugins: ChosenPlugins, cwd: Path) -> Iterator[Path]:
    """Return the files that options name relative to the folder; other ones are places of each machine.

    Only a plugin knows which of its options are paths, so every text counts that is one here.
    """
    for texts in (plugins.options.chosen, plugins.options.held):
        for text in texts_in(texts):
            # Not asked of a path: that raises at a text which is too long for one.
            if text and not os.path.isabs(text) and os.path.isfile(cwd / text):  # noqa: PTH113, PTH117
                yield cwd / text
