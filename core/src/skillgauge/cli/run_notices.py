"""What plugins have to say beside the rates of a run, so that nobody takes them for more than they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..log import one_line
from ..plugins.index import IndexEntry

if TYPE_CHECKING:
    from ..types.result import RunView

RUN_NOTICES = "run_notices"
"""Entry point group of functions that are told a run, and the folder it was made in, and answer with lines."""


def run_notices(entries: Iterable[IndexEntry], view: RunView, folder: Path) -> Iterator[str]:
    """The lines of plugins; one that fails is told of and costs its own only.

    Args:
        entries: those of the group that may be imported.
        view: the run.
        folder: the one it was made in.
    """
    from ..contract.providers import imported  # noqa: PLC0415 - slow, and most commands show no run

    for entry in entries:
        try:
            tell: Callable[[RunView, Path], Iterable[str]] = imported(entry.module)
            yield from list(tell(view, folder))
        except Exception as error:  # noqa: BLE001 - isolation point: a run must not end badly for want of a remark
            yield f"{entry.distribution} failed to comment on this run: {one_line(error)}"
