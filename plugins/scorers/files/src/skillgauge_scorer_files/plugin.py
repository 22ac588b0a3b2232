"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Provider, Scorer, hookimpl

from .options import FilesOptions


def _make(options: BaseModel) -> Scorer:
    from .scorer import FilesScorer  # noqa: PLC0415 - announcing stays cheap

    return FilesScorer(FilesOptions.model_validate(options))


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `files`."""
    yield Provider(
        name="files",
        options=FilesOptions,
        factory=_make,
        summary="Files that an agent made, changed or left alone, and what is in them.",
    )
