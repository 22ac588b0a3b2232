"""The remarks of plugins on a run that has ended, as reports have them: that nobody calibrated its judge, say."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from skillgauge.api.report import RunState, RunView, Summary

from .last_few import LastFew

_KEPT = 16
"""Runs whose remarks stay in memory: a few figures each."""
Ask = Callable[[RunView], tuple[RunView, tuple[str, ...]]]
"""Returns a run with the remarks on its groups, as their figures, and the remarks on the whole of it, as lines."""


class Remarks:
    """Asks plugins about a run once, and again after a file beside the store was made, changed or removed.

    Args:
        ask: asks them; `None` asks nobody.
        folder: where they look for files, as for the calibration of a judge.
        store: where runs are kept. Files there change whenever a run is read.
    """

    def __init__(self, ask: Ask | None = None, folder: Path = Path(), store: str = "") -> None:
        self._ask = ask
        self._folder = folder
        self._store = Path(store).name
        self._known: LastFew[tuple[Summary, tuple[str, ...]]] = LastFew(_KEPT)

    def on(self, view: RunView) -> tuple[RunView, tuple[str, ...]]:
        """Return the same as `Ask`; a run that goes on stays as it is. Blocks."""
        ask = self._ask
        if ask is None or view.run.state is RunState.RUNNING:
            return view, ()

        def remarked() -> tuple[Summary, tuple[str, ...]]:
            with_figures, lines = ask(view)
            return with_figures.summary, lines

        summary, lines = self._known.of((view.run, view.summary.counts, self._files()), remarked)
        return replace(view, summary=summary), lines

    def _files(self) -> frozenset[tuple[str, int, int]]:
        """The files that may be looked at, with time and size of each; those in folders below are none."""
        try:
            with os.scandir(self._folder) as entries:
                found = [(entry.name, entry.stat()) for entry in entries if entry.is_file()]
        except OSError:
            return frozenset()
        return frozenset(
            (name, facts.st_mtime_ns, facts.st_size)
            for name, facts in found
            if not (self._store and name.startswith(self._store))
        )
