"""The questions of commands about the runs in a store."""

from __future__ import annotations

from skillgauge.api import RunQuery, Store
from skillgauge.api.report import RunState, RunView


def is_finished(view: RunView) -> bool:
    """Tell whether every trial of a run was carried out."""
    return view.run.state is RunState.FINISHED


def is_valid(view: RunView, target: str, suite: str | None) -> bool:
    """Tell whether a run proves anything of a target, on one suite or on any of those that it was evaluated on."""
    if view.head.is_chosen:
        return False
    invalid = {one.suite_id for one in view.summary.validity if not one.valid}
    of_target = {one.suite_id for one in view.summary.groups if one.target_id == target}
    suites_asked = of_target if suite is None else of_target & {suite}
    return not suites_asked or bool(suites_asked - invalid)


def known_targets(store: Store, suite: str | None) -> list[str]:
    """Ids of the targets that any stored run has, of one suite or of all."""
    heads = (one for view in store.scan(RunQuery(suite_id=suite)) for one in view.head.suites)
    return sorted({target.id for head in heads if suite in (None, head.id) for target in head.targets})
