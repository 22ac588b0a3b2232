"""What plugins have to say beside the rates of a run, so that nobody takes them for more than they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..log import one_line
from ..plugins.index import IndexEntry

if TYPE_CHECKING:
    from ..types.comparison import GroupKey
    from ..types.result import Figure, RunView, Table

    Remark = str | tuple[GroupKey, Figure | Table]
    """A line about the run, or a figure or table of one of its groups."""

RUN_NOTICES = "run_notices"
"""Entry point group of functions that are told a run, and the folder it was made in, and answer with remarks."""


def commented(entries: Iterable[IndexEntry], view: RunView, folder: Path) -> tuple[RunView, tuple[str, ...]]:
    """The run with what plugins say of its groups, and their lines; one that fails is told of and costs its own only.

    Args:
        entries: those of the group that may be imported.
        view: the run.
        folder: the one it was made in.
    """
    from ..contract.providers import imported  # noqa: PLC0415 - slow, and most commands show no run

    lines: list[str] = []
    added: dict[GroupKey, list[Figure | Table]] = {}
    for entry in entries:
        try:
            tell: Callable[[RunView, Path], Iterable[Remark]] = imported(entry.module)
            remarks = list(tell(view, folder))
            lines += [remark for remark in remarks if isinstance(remark, str)]
            for group, one in (remark for remark in remarks if not isinstance(remark, str)):
                added.setdefault(group, []).append(one)
        except Exception as error:  # noqa: BLE001 - isolation point: a run must not end badly for want of a remark
            lines.append(f"{entry.distribution} failed to comment on this run: {one_line(error)}")
    return (_with(view, added) if added else view), tuple(lines)


def _with(view: RunView, added: dict[GroupKey, list[Figure | Table]]) -> RunView:
    """The same run; what an earlier look at it has said of the same is replaced."""
    from ..types.result import Figure, Table  # noqa: PLC0415 - as above

    groups = []
    for group in view.summary.groups:
        new = added.get(group.key, [])
        names = {one.name for one in new}
        figures = [one for one in group.figures if one.name not in names]
        figures += [one for one in new if isinstance(one, Figure)]
        tables = [one for one in group.tables if one.name not in names]
        tables += [one for one in new if isinstance(one, Table)]
        groups.append(group.model_copy(update={"figures": tuple(figures), "tables": tuple(tables)}))
    return replace(view, summary=view.summary.model_copy(update={"groups": tuple(groups)}))
