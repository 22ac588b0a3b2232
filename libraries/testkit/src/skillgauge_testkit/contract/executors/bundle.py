"""What a run of the contract consists of, and how it travels: the only place that knows how a recipe is made.

The plugin is named by its module, as an entry point names one, so that it is there wherever the kit is installed. The
suite is a file without content, which comes with the recipe: a worker that shares no folder with this process lays it
down where it is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from skillgauge import __version__
from skillgauge.evaluation.preparation import recipe_of
from skillgauge.plan.options import EvalOptions, What
from skillgauge.plan.preparing import Prepared, prepare
from skillgauge.plugins.index import IndexEntry, PluginIndex
from skillgauge.plugins.registry import Registry

from . import parts


@dataclass(frozen=True)
class Bundle:
    """A suite and the plugins of its run. It can be pickled."""

    suite: Path

    def registry(self) -> Registry:
        """The plugins, beside a suite that is there."""
        if not self.suite.exists():
            self.suite.parent.mkdir(parents=True, exist_ok=True)
            self.suite.touch()
        kinds = ("formats", "adapters", "scorers", "sandboxes")
        entries = (IndexEntry(one, parts.NAME, parts.__name__, "skillgauge-testkit", __version__) for one in kinds)
        return Registry(PluginIndex(entries))

    async def prepared(self) -> tuple[Prepared, bytes]:
        """The run as the command line would prepare it, and its recipe for other processes."""
        options = EvalOptions(cwd=self.suite.parent, what=What(paths=(self.suite,)))
        prepared = await prepare(options, self.registry())
        return prepared, recipe_of(options, prepared, self.registry)


@contextmanager
def new_bundle() -> Iterator[Bundle]:
    """Yield one in a folder of its own, which goes in the end."""
    with TemporaryDirectory(prefix="skillgauge-contract-") as folder:
        yield Bundle(Path(folder) / f"suite{parts.SUFFIX}")
