"""Remarks on runs, which every run is asked for: nothing of the scorer is imported until one is about it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skillgauge.api.report import Figure, GroupKey, RunView


def notices(view: RunView, _folder: Path) -> Iterable[tuple[GroupKey, Figure]]:
    """Return the remarks beside the rates of a run in which outputs speak to their judge."""
    if not view.head.judges:
        return ()
    from .marks import remarks  # noqa: PLC0415 - few runs have a judge

    return remarks(view)
