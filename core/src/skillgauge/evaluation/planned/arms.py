"""The arms of a plan, with all that their sessions would have."""

from __future__ import annotations

from collections.abc import Iterator

from skillgauge_documents.frozen import Frozen

from ...contract.sandboxes import ALLOWED_ENV
from ...environment import host_environment
from ...plan.preparing import Prepared
from ...types.arms import ArmKind, SkillRole
from ...types.inputs import FileSpec
from ...types.plan import Cell, SuitePlan, applies
from ...types.suite import Case
from ...types.trial import SuiteHead

_OWN = "SKILLGAUGE_"


class PlannedSkill(Frozen):
    """A skill that an arm installs."""

    name: str
    role: SkillRole
    root: str
    leaves_out: tuple[str, ...]
    """Paths below `root` that are not installed, because they would give answers away."""


class PlannedArm(Frozen):
    """The trials that would run of one suite, against one target, in one arm, with one engine or adapter and model."""

    suite: str
    target: str | None
    arm: str
    kind: ArmKind
    runner: str
    """The engine, or the adapter of a direct call."""
    model: str | None
    """`None`: the engine's own choice, or no model at all."""
    skills: tuple[PlannedSkill, ...]
    installs: tuple[str, ...]
    """What is installed beside skills: kind and name."""
    files: tuple[str, ...]
    """Put into the workspace before a session, the same in every arm: paths of all cases together."""
    grader_files: tuple[str, ...]
    """Put there after a session has ended, for the checks only."""
    environment: tuple[str, ...]
    """Names of the variables that processes see, beside HOME and TMPDIR of their own and keys that an engine needs."""
    sandbox: str
    """Name and tier."""
    cases: int
    runs: int
    """Repeats of each case; where they differ, the most."""
    fewest_runs: int
    sessions: int
    """Sessions of agents, or direct calls."""
    paid: bool
    """Whether they cost money, the judge aside."""


def planned_arms(prepared: Prepared) -> tuple[PlannedArm, ...]:
    """Every cell of the plan, in its order."""
    plan = prepared.plan
    pairs = zip(plan.suites, plan.head.suites, strict=True)
    return tuple(_planned(suite, head, cell, prepared.sandbox) for suite, head in pairs for cell in suite.cells)


def _planned(suite: SuitePlan, head: SuiteHead, cell: Cell, sandbox: str) -> PlannedArm:
    cases = [case for _, case in suite.cases() if applies(case, cell.target)]
    repeats = [suite.repeats(case, head) for case in cases]
    runs = repeats or [head.runs]
    return PlannedArm(
        suite=suite.suite.id,
        target=cell.target_id,
        arm=cell.arm.name,
        kind=cell.arm.kind,
        runner=cell.runner.name,
        model=cell.model,
        skills=tuple(
            PlannedSkill(name=skill.name, role=skill.role, root=skill.root, leaves_out=skill.leaves_out)
            for skill in cell.arm.skills
        ),
        installs=tuple(f"{install.kind} {install.name}" for install in cell.arm.installs),
        files=_paths(case.files for case in cases),
        grader_files=_paths(case.grader_files for case in cases),
        environment=_environment(cell, cases),
        sandbox=sandbox,
        cases=len(cases),
        runs=max(runs),
        fewest_runs=min(runs),
        sessions=sum(repeats),
        paid=cell.paid,
    )


def _paths(groups: Iterator[tuple[FileSpec, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(file.path for files in groups for file in files))


def _environment(cell: Cell, cases: list[Case]) -> tuple[str, ...]:
    """Return the names of the variables that sessions get: from every host, for the target, and for cases."""
    names = [name for name in ALLOWED_ENV if name in host_environment() and not name.startswith(_OWN)]
    if cell.target and cell.arm.kind is ArmKind.DIRECT:
        names += cell.target.pass_env
    names += sorted({name for case in cases for name in (*case.env, *(one.name for one in case.pass_env))})
    return tuple(dict.fromkeys(names))
