"""Find runs in the store that the configuration names. Reading never makes a store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from skillgauge.api import (
    Invocation,
    Problem,
    RunQuery,
    RunState,
    RunView,
    Store,
    UsageError,
    did_you_mean,
    moment,
    plain,
)

LATEST = "latest"
"""The word for the newest run."""
_NAMED = 10


@contextmanager
def opened(call: Invocation) -> Iterator[Store]:
    """The store, closed at the end.

    Raises:
        PluginError: no installed plugin serves its address.
    """
    store = call.open_store()
    try:
        yield store
    finally:
        asyncio.run(store.close())


def place(call: Invocation) -> str:
    """Where the runs are kept, as the user wrote it."""
    return str(call.config.get("store"))


def is_finished(view: RunView) -> bool:
    """Whether every trial of a run was carried out."""
    return view.run.state is RunState.FINISHED


def known_targets(store: Store, suite: str | None) -> list[str]:
    """Ids of the targets that any stored run has, of one suite or of all."""
    heads = (one for view in store.scan(RunQuery(suite_id=suite)) for one in view.head.suites)
    return sorted({target.id for head in heads if suite in (None, head.id) for target in head.targets})


def find_run(store: Store, wanted: str) -> RunView | None:
    """The run that an id, the beginning of one, or `latest` means; `None` if the store has no runs at all.

    Raises:
        UsageError: no run has such an id, or several have.
    """
    if wanted == LATEST:
        return next(store.scan(RunQuery(limit=1)), None)
    known: list[str] = []
    found: list[RunView] = []
    for view in store.scan(RunQuery()):
        known.append(view.run.run_id)
        if view.run.run_id == wanted:
            return view
        if view.run.run_id.startswith(wanted):
            found.append(view)
    if not known:
        return None
    if len(found) == 1:
        return found[0]
    if found:
        listed = [f"{plain(view.run.run_id)} ({moment(view.run.started_at)})" for view in found[:_NAMED]]
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        message = f"{len(found)} runs begin with {plain(wanted)!r}: {', '.join(listed)}{more}"
        raise UsageError(Problem("history.ambiguous-run", message, hint="Give more of the id."))
    message = f"there is no run {plain(wanted)!r}{plain(did_you_mean(wanted, known))}"
    raise UsageError(Problem("history.no-such-run", message, hint="List the runs with: skillgauge history list"))
