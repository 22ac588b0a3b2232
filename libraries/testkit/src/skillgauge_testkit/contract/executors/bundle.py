"""The parts of a run of the contract: the only place that knows how a recipe is made.

The plugin is the module of this kit's parts, named by its file; the suites are files without content. Workers need all
of them at the same places, seen from the folder that this process runs in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from skillgauge.api import RunFiles
from skillgauge.config.chosen_plugins import ChosenPlugins
from skillgauge.evaluation.elsewhere.files import files_of
from skillgauge.evaluation.elsewhere.recipes import recipe_of
from skillgauge.plan.options import EvalOptions, What
from skillgauge.plan.preparing import Prepared, prepare

from . import parts

_PLUGINS = ChosenPlugins(only=frozenset(), files=(Path(parts.__file__),))


@dataclass(frozen=True)
class Elsewhere:
    """A run for other processes: see `PortableRunTrial`."""

    recipe: bytes
    files: Callable[[], RunFiles]


@dataclass(frozen=True)
class Bundle:
    """A suite of a run. It can be pickled."""

    suite: Path

    def of_sessions(self) -> Bundle:
        """Return the suite whose trials are paid sessions."""
        return Bundle(self.suite.with_name(f"{parts.SESSIONS}{parts.SUFFIX}"))

    async def prepared(self) -> tuple[Prepared, Elsewhere]:
        """The run as the command line would prepare it, and what other processes prepare it from."""
        options = EvalOptions(cwd=Path.cwd(), what=What(paths=(self.suite,)))
        registry = _PLUGINS.registry()
        prepared = await prepare(options, registry)
        parts = options, prepared, _PLUGINS, registry
        return prepared, Elsewhere(recipe_of(*parts), partial(files_of, *parts))


@contextmanager
def new_bundle() -> Iterator[Bundle]:
    """Yield one in a folder of its own, which goes in the end."""
    with TemporaryDirectory(prefix="skillgauge-contract-") as folder:
        suite = Path(folder) / f"suite{parts.SUFFIX}"
        bundle = Bundle(suite)
        for path in (suite, bundle.of_sessions().suite):
            path.touch()
        yield bundle
