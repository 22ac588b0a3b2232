"""The output of a dry run for people: every arm with all that its sessions would have, and the keys that are needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from skillgauge_documents.phrases import counted, listed

from ...decide.foresight import foresee, told
from ...plan.planning import cells_of
from ...plan.preparing import Prepared
from ...report.wording import span_text
from ...terminal.output import Output
from ...types.arms import ArmKind, SkillRole
from ..remarks import said_if
from .arms import PlannedArm, planned_arms
from .needs import asked_services, key_needs

_SHOWN = 8
"""Names of one kind that people are shown; the JSON document has all."""


def print_plan(prepared: Prepared, output: Output) -> None:
    """Print the plan for people."""
    head, arms = prepared.plan.head, planned_arms(prepared)
    runs = span_text(head.fewest_runs, head.runs)
    most = _most(prepared)
    trials = f"{most}{counted(head.trial_count, 'trial')}"
    output.line(f"{trials} in sandbox {prepared.sandbox}; runs: {most}{runs}, seed: {head.seed}")
    heads = ["Suite", "Target", "Arm", "Runs with", "Model", "Cases", "Runs", "Sessions"]
    rows = [
        (
            *(one.suite, one.target or "-", one.arm, one.runner, one.model or "-"),
            *(str(one.cases), span_text(one.fewest_runs, one.runs), str(one.sessions)),
        )
        for one in arms
    ]
    output.table(heads, rows)
    for line in _below_the_table(prepared, arms, most):
        output.line(line)
    output.line("Nothing was executed and nothing was created.")


def _below_the_table(prepared: Prepared, arms: Sequence[PlannedArm], most: str) -> Iterator[str]:
    if matrix := _matrix_of(arms, most):
        yield matrix
    yield from (image.line for image in prepared.cast.images)
    yield from dict.fromkeys(_details(prepared, arms))
    paid = sum(arm.sessions for arm in arms if arm.paid)
    if paid:
        yield f"{most}{counted(paid, 'session')} cost{'s' * (paid == 1)} money, plus the judge"
    yield from dict.fromkeys(map(told, foresee(prepared)))
    if any(map(prepared.suites.has_headline, prepared.plan.head.suites)):
        from ...decide.at_best import at_best, at_best_text  # noqa: PLC0415 - with all evidence, which few plans need

        yield from dict.fromkeys(map(at_best_text, at_best(prepared)))


def matrix_text(prepared: Prepared) -> str:
    """Count what a run of several engines or models amounts to; empty for any other run."""
    if len({(cell.runner.name, cell.model) for cell in cells_of(prepared.plan.suites)}) < 2:
        return ""  # as of most runs; for the counts, every case is looked at
    return _matrix_of(planned_arms(prepared), _most(prepared))


def _matrix_of(arms: Sequence[PlannedArm], most: str) -> str:
    of_agents = [arm for arm in arms if arm.kind is ArmKind.AGENT]
    combinations = {(arm.runner, arm.model) for arm in of_agents}
    if len(combinations) < 2:
        return ""
    sessions, paid = sum(arm.sessions for arm in of_agents), sum(arm.sessions for arm in of_agents if arm.paid)
    money = said_if(paid, f", of which {paid} cost money")
    return f"{len(combinations)} combinations of engine and model: {most}{counted(sessions, 'session')}{money}"


def _most(prepared: Prepared) -> str:
    """Return what stands before numbers of sessions that a run may stop short of."""
    return said_if(prepared.plan.head.until_decided, "at most ")


def _details(prepared: Prepared, arms: Iterable[PlannedArm]) -> Iterator[str]:
    """Yield lines about arms, keys and services; some are the same for several arms."""
    for arm in arms:
        yield from _arm_lines(arm)
    for need in key_needs(prepared):
        yield need.line
    for service in asked_services(prepared):
        yield f"{service.who} {service.phrase}"


def _arm_lines(arm: PlannedArm) -> Iterator[str]:
    """Describe an arm, one line for each sort of thing; arms that have the same get the same lines."""
    where = f"{arm.suite}, {arm.arm}"
    for skill in arm.skills:
        role = said_if(skill.role is not SkillRole.CANDIDATE, f" ({skill.role})")
        left_out = said_if(skill.leaves_out, f"; left out: {_few(skill.leaves_out)}")
        yield f"{where}: skill {skill.name}{role} is installed{left_out}"
    if arm.kind is ArmKind.AGENT and not arm.skills:
        yield f"{where}: no skill is installed"
    if arm.installs:
        yield f"{where}: installed beside skills: {_few(arm.installs)}"
    if arm.files:
        yield f"{arm.suite}, every arm: input files {_few(arm.files)}"
    if arm.grader_files:
        yield f"{arm.suite}, every arm: after the session, for checks, {_few(arm.grader_files)}"
    yield f"{arm.suite}, every arm: variables {_few(arm.environment) or 'none'}"


def _few(names: tuple[str, ...]) -> str:
    return listed(names, _SHOWN)
