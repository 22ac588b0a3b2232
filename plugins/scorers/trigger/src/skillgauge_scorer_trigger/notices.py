"""Remarks on runs, which every run is asked for: nothing of the scorer is imported until one is about it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skillgauge.api.report import Figure, GroupKey, RunView, Table

_DISTRIBUTION = "skillgauge-scorer-trigger"


def notices(view: RunView, _folder: Path) -> Iterable[str | tuple[GroupKey, Figure | Table]]:
    """Return the remarks beside the rates of a run that asks whether a skill fires."""
    if _DISTRIBUTION not in view.head.provenance:
        return ()
    from .remarks import remarks  # noqa: PLC0415 - few runs ask that

    return remarks(view)
