"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import FilesOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `files`."""
    yield Provider(
        name="files",
        options=FilesOptions,
        factory="skillgauge_scorer_files.scorer:FilesScorer",
        summary="Files that an agent made, changed or left alone, and what is in them.",
    )
