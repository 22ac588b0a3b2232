"""The questions of commands about the runs in a store."""

from __future__ import annotations

from skillgauge.api import RunQuery, Store


def known_targets(store: Store, suite: str | None) -> list[str]:
    """Ids of the targets that any stored run has, of one suite or of all."""
    heads = (one for view in store.scan(RunQuery(suite_id=suite)) for one in view.head.suites)
    return sorted({target.id for head in heads if suite in (None, head.id) for target in head.targets})
