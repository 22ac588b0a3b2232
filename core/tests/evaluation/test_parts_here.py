"""A worker makes trials of the files that it has, wherever those of the first process lie."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

import pytest

from skillgauge.evaluation.elsewhere.parts_here import PartsHere
from skillgauge.plan.planning import Terms, make_plan
from skillgauge.plan.survey import survey
from skillgauge.types.arms import Arm, ArmKind, Install, SkillRef
from skillgauge.types.inputs import FileSpec
from skillgauge.types.plan import Cell, Plan, Selection, SuitePlan
from skillgauge.types.suite import Case, Suite, Target
from skillgauge.types.trial import Identity

FIRST, HERE = "/first/machine", "/another/place"


class OneByOne:
    """Cases that are made each time that somebody asks."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = tuple(cases)

    def __iter__(self) -> object:
        return iter(self._cases)


def plan_at(root: str, *, one_by_one: bool) -> Plan:
    """A plan of two targets and two arms; every part that can name a place names one below a root."""

    def file(name: str) -> FileSpec:
        return FileSpec(path=name, source=f"{root}/{name}", digest=name)

    fields = ("files", "setup_files", "image_files", "grader_files")
    cases = [Case(id=field, prompt="Go.", **{field: (file(field),)}) for field in fields]
    install = Install(kind="mcp_server", name="i", files=(file("install"),))
    cases += [Case(id="installs", prompt="Go.", installs=(install,)), Case(id="without files", prompt="Go.")]
    targets = [Target(id=name, root=f"{root}/{name}", digest=name) for name in ("one", "two")]
    arms = {
        target.id: [
            Arm(name="with", kind=ArmKind.AGENT, skills=(SkillRef(name="s", root=str(target.root), digest=target.id),)),
            Arm(name="without", kind=ArmKind.AGENT),
        ]
        for target in targets
    }
    suite = Suite(
        id="s",
        format="f",
        root=root,
        cases=OneByOne(cases) if one_by_one else tuple(cases),
        targets=tuple(targets),
        arms=tuple(arms["one"]),
    )
    cells = tuple(Cell(arm, Identity(name="e"), target) for target in targets for arm in arms[target.id])
    return make_plan([SuitePlan(suite, cells)], [survey(suite, Selection())], Terms(runs=2))


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_trial_of_another_place(one_by_one: bool) -> None:
    """It is the same trial, and no part of it lies at the first machine."""
    theirs = list(plan_at(FIRST, one_by_one=one_by_one).trials())
    ours = plan_at(HERE, one_by_one=one_by_one)
    parts = PartsHere(ours)
    moved = [parts.of(trial) for trial in theirs]
    assert moved == list(ours.trials())
    assert [one.trial_id for one in moved] == [one.trial_id for one in theirs]
    for trial in moved:
        assert FIRST not in trial.model_dump_json()
        assert trial.target is not None
        assert PurePosixPath(str(trial.target.root)).is_relative_to(HERE)
