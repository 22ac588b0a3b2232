"""What became of the checks that a user added to cases: a table of each group, so that he sees that they were asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from ..config.overlay import Overlay
from ..types.comparison import GroupKey
from ..types.result import RunView, Table
from ..types.score import ScoreStatus

ADDED = "added_checks"
_WORDS = {ScoreStatus.PASSED: "passed", ScoreStatus.FAILED: "failed", ScoreStatus.UNGRADED: "ungraded"}


def with_added(view: RunView, overlay: Overlay) -> RunView:
    """The run with a table for each group in which a check was added; its results are read only if one was."""
    names = tuple(dict.fromkeys(name for name, _, _ in overlay.checks))
    if not names:
        return view
    counted: dict[GroupKey, dict[str, Counter[ScoreStatus]]] = {}
    for result in view.results():
        for score in result.scores:
            if score.check_id in names:
                counted.setdefault(result.group, {}).setdefault(score.check_id, Counter())[score.status] += 1
    groups = tuple(
        group.model_copy(update={"tables": (*group.tables, _table(names, counted[group.key]))})
        if group.key in counted
        else group
        for group in view.summary.groups
    )
    return replace(view, summary=view.summary.model_copy(update={"groups": groups}))


def _table(names: Iterable[str], counted: dict[str, Counter[ScoreStatus]]) -> Table:
    shown = [one for one in ScoreStatus if one is not ScoreStatus.UNGRADED or any(c[one] for c in counted.values())]
    rows: tuple[tuple[str | int, ...], ...] = tuple(
        (name, *(counted[name][one] for one in shown)) for name in names if name in counted
    )
    return Table(name=ADDED, label="Added checks", heads=("check", *(_WORDS[one] for one in shown)), rows=rows)
