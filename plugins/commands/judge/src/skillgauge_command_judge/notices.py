"""Remarks on runs and plans, which every run is asked for: the command is not imported for them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skillgauge.api import PlanHead
from skillgauge.api.report import Figure, GroupKey, RunView


def notices(view: RunView, folder: Path) -> Iterable[str | tuple[GroupKey, Figure]]:
    """Return the remarks beside the rates of a run that a judge graded."""
    if not view.head.judges:
        return ()
    from .standing import notices as of_judges  # noqa: PLC0415 - few runs have a judge

    return of_judges(view, folder)


def open_gates(head: PlanHead, folder: Path, judged: str) -> Iterable[str]:
    """Return the reasons why gates on judged checks will stay open; `judged` is what they need."""
    if not head.judges:
        return ()
    from .standing import shortcomings  # noqa: PLC0415 - as above

    return shortcomings(head, folder, needs_calibrated=judged == "calibrated")
