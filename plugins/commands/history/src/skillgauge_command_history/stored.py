"""The questions of commands about the runs in a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from skillgauge.api import RunQuery, Store
from skillgauge.api.report import RunView


def known_targets(store: Store, suite: str | None) -> list[str]:
    """Ids of the targets that any stored run has, of one suite or of all."""
    heads = (one for view in store.scan(RunQuery(suite_id=suite)) for one in view.head.suites)
    return sorted({target.id for head in heads if suite in (None, head.id) for target in head.targets})


def newest_of_each(views: Iterable[RunView], limit: int) -> Iterator[RunView]:
    """Yield the newest runs of each suite: many skills, each with a run of its own, leave room for one another.

    Args:
        views: runs, newest first.
        limit: how many of each suite.
    """
    counts: Counter[str] = Counter()
    for view in views:
        suites = {suite.id for suite in view.head.suites}
        if not suites or any(counts[suite] < limit for suite in suites):
            counts.update(suites)
            yield view
