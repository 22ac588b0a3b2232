"""The output of a dry run: every arm with all that its sessions would have, and the keys that are needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Self
from urllib.parse import urlsplit

from skillgauge_documents.frozen import Frozen
from skillgauge_documents.phrases import counted, listed

from ..config.documents import located_all
from ..contract.providers import Traits
from ..contract.redirects import variable_of
from ..contract.sandboxes import ALLOWED_ENV
from ..decide.at_best import AtBest, at_best, at_best_text
from ..decide.foresight import Foreseen, foresee, told
from ..environment import files_at_home, host_environment, host_variable, secret
from ..errors import Problem
from ..plan.planning import cells_of
from ..plan.preparing import Prepared
from ..report.wording import span_text
from ..terminal.output import Output, problem_document
from ..types.arms import ArmKind, SkillRole
from ..types.inputs import FileSpec
from ..types.plan import Cell, SuitePlan, applies
from ..types.suite import Case
from ..types.trial import PlanHead, SuiteHead
from .remarks import said_if

_OWN = "SKILLGAUGE_"
_SHOWN = 8
"""Names of one kind that people are shown; the JSON document has all."""


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


class KeyNeed(Frozen):
    """An engine, judge or scorer that needs a key."""

    who: str
    variables: tuple[str, ...]
    """Any one of them will do."""
    present: tuple[str, ...]
    """Those that are set."""
    login_files: tuple[str, ...]
    """Files of an existing login, below the home folder, that do as well."""
    logins: tuple[str, ...] = ()
    """Those of these files that are there."""

    @classmethod
    def of(cls, who: str, traits: Traits) -> Self:
        """Return the keys that a plugin announces, and which of them are here; their values are not read."""
        return cls(
            who=who,
            variables=traits.secrets,
            present=tuple(filter(secret, traits.secrets)),
            login_files=traits.login_files,
            logins=files_at_home(traits.login_files),
        )

    @property
    def line(self) -> str:
        """For people."""
        logins = "".join(f" or a login in ~/{file}" for file in self.login_files)
        found = (f"login found: ~/{file}" for file in self.logins)
        here = filter(None, (said_if(self.present, f"set: {', '.join(self.present)}"), *found))
        keys = " or ".join(self.variables)
        return f"{self.who} needs a key: {keys}{logins} ({', '.join(here) or 'none is set'})"


class PlannedImage(Frozen):
    """An image that cases bring a Dockerfile for."""

    name: str
    file: str
    """The Dockerfile."""
    is_there: bool
    """Whether it has been built already; if not, a run builds it."""
    bases: tuple[str, ...]
    """Names of the images that it is built from."""
    fetched: tuple[str, ...]
    """Those of them that the build would fetch."""


class ProblemDocument(Frozen):
    """A problem that stopped nothing: a warning, or a file that a search passed over."""

    code: str
    severity: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    hint: str | None


def problem_documents(problems: Iterable[Problem]) -> tuple[ProblemDocument, ...]:
    """Return problems as they stand in a document, each with its place."""
    return tuple(ProblemDocument.model_validate(problem_document(problem)) for problem in located_all(problems))


class PlanDocument(Frozen):
    """The document of `eval --dry-run --json`."""

    schema_version: str = "1.4"
    dry_run: bool = True
    sandbox: str
    plan: PlanHead
    arms: tuple[PlannedArm, ...] = ()
    comparisons: tuple[Foreseen, ...] = ()
    """What each comparison of two arms can show at all."""
    at_best: tuple[AtBest, ...] = ()
    """What suites without a pass rate, as trigger sets are, can show if every session is right."""
    images: tuple[PlannedImage, ...] = ()
    """What a run builds, or has built, for cases that bring a Dockerfile."""
    keys: tuple[KeyNeed, ...] = ()
    services: tuple[AskedService, ...] = ()
    """What engines and judges would ask, and so where their keys go."""
    problems: tuple[ProblemDocument, ...] = ()


def plan_document(prepared: Prepared) -> dict[str, object]:
    """Return the plan as one JSON document."""
    document = PlanDocument(
        sandbox=prepared.sandbox,
        plan=prepared.plan.head,
        arms=planned_arms(prepared),
        comparisons=foresee(prepared),
        at_best=at_best(prepared),
        images=planned_images(prepared),
        keys=key_needs(prepared),
        services=asked_services(prepared),
        problems=problem_documents((*prepared.warnings, *prepared.suites.passed_over)),
    )
    return document.model_dump(mode="json")


def planned_arms(prepared: Prepared) -> tuple[PlannedArm, ...]:
    """Every cell of the plan, in its order."""
    plan = prepared.plan
    pairs = zip(plan.suites, plan.head.suites, strict=True)
    return tuple(_planned(suite, head, cell, prepared.sandbox) for suite, head in pairs for cell in suite.cells)


def planned_images(prepared: Prepared) -> tuple[PlannedImage, ...]:
    """Every image that cases of the plan bring."""
    plans = (image.plan for image in prepared.cast.images)
    return tuple(
        PlannedImage(name=plan.name, file=plan.file, is_there=plan.is_there, bases=plan.bases, fetched=plan.fetched)
        for plan in plans
    )


def key_needs(prepared: Prepared) -> tuple[KeyNeed, ...]:
    """Engines, judges and scorers of the run that need a key; the values are not looked at."""
    checks = (check for suite in prepared.plan.suites for _, case in suite.cases() for check in case.checks)
    scorers = sorted({check.scorer for check in checks})
    needing = dict(prepared.cast.spenders) | {
        f"scorer {name!r}": prepared.cast.scorers.resolve(name).provider.traits for name in scorers
    }
    return tuple(KeyNeed.of(who, traits) for who, traits in needing.items() if traits.secrets)


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


class AskedService(Frozen):
    """The service that an engine or a judge asks."""

    who: str
    host: str
    """With the port, if the address names one."""
    address: str
    """Base URL."""
    variable: str | None
    """The environment variable that says so; `None`: an option, or the vendor's own."""

    @classmethod
    def of(cls, who: str, address: str, traits: Traits) -> Self:
        """The service at an address, as somebody with these traits asks it."""
        host = urlsplit(address).netloc.rpartition("@")[2]
        return cls(
            who=who,
            host=host or address,
            address=address,
            variable=variable_of(traits.redirects, address, host_variable),
        )

    @property
    def phrase(self) -> str:
        """The host, for people."""
        return f"asks {self.host}{said_if(self.variable, f', from {self.variable}')}"


def asked_services(prepared: Prepared) -> tuple[AskedService, ...]:
    """The services that a run would ask: those of engines, then those of judges; each once."""
    cast = prepared.cast
    setups = cast.engines.setups
    runners = [cell.runner for cell in cells_of(prepared.plan.suites) if cell.arm.kind is ArmKind.AGENT]
    # A dry run may plan with an engine that could not be made.
    asking = [
        (f"engine {one.name!r}", one.service, setups[one.digest].traits) for one in runners if one.digest in setups
    ]
    asking += [(f"judge {one.identity.name!r}", one.identity.service, one.traits) for one in cast.judging.found]
    services = (AskedService.of(who, address, traits) for who, address, traits in asking if address)
    return tuple(dict.fromkeys(services))
