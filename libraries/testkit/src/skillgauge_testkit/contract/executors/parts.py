"""A plugin: a suite, what it is about, and whatever else a run needs, for the contract of executors.

A worker process of an executor has it as soon as this kit is installed where it runs (`bundle`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from skillgauge.api import (
    DIRECT,
    Adapter,
    Arm,
    ArmKind,
    CallRequest,
    Case,
    Check,
    Claim,
    Dumped,
    Emit,
    Engine,
    Execution,
    Frozen,
    Identity,
    Loaded,
    LoadRequest,
    ModelRoute,
    Problem,
    Provider,
    RunRequest,
    Sandbox,
    Score,
    ScoreContext,
    Scorer,
    Suite,
    SuiteFormat,
    Target,
    Traits,
    Workspace,
    hookimpl,
)
from skillgauge.api.report import Figure, GroupKey, SuiteSummary
from skillgauge_testkit.contract.executors.marks import wait_at
from skillgauge_testkit.fakes import FakeSandbox

NAME = "contract"
SUFFIX = ".contract-suite"
NO_LOGIN = "contract.no-login"
"""What the adapter says where it has no login."""
CHECKS = (Check(id="done", scorer=NAME),)
SESSIONS = "sessions"
"""Begins the name of a suite whose trials are paid sessions of an agent."""
AGENT = Arm(name="agent", kind=ArmKind.AGENT)


class _Format:
    def claim(self, path: Path) -> Claim | None:
        return Claim() if path.suffix == SUFFIX else None

    def load(self, request: LoadRequest) -> Loaded:
        target = Target(id="skill", adapter=NAME)
        cases = (Case(id="case", checks=CHECKS),)
        suites = [
            Suite(id=Path(path).name, format=NAME, root=path, cases=cases, targets=(target,)) for path in request.paths
        ]
        return Loaded(tuple(one.model_copy(update={"arms": (_arm(one.id),)}) for one in suites))

    def dump(self, suite: Suite) -> Dumped:
        return Dumped(())

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        return {}


def _arm(suite: str) -> Arm:
    return AGENT if suite.startswith(SESSIONS) else DIRECT


class AdapterOptions(Frozen):
    """Options of the adapter."""

    login: bool = True
    """False: its check says that there is no login."""


class _Session:
    async def call(self, request: CallRequest) -> Execution:
        """Answer with the id of the case; first wait, if it has an address of marks to wait at."""
        if request.input is not None:
            address, _, ordinal = str(request.input).partition(" ")
            await wait_at(address, int(ordinal))
        return Execution(output=request.case_id)

    async def close(self) -> None:
        """Nothing is held."""


class _Adapter:
    def __init__(self, options: AdapterOptions) -> None:
        self._options = options

    async def check(self) -> tuple[Problem, ...]:
        return () if self._options.login else (Problem(NO_LOGIN, "there is no login here", hint="Log in."),)

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        return ()

    def identity(self, target: Target) -> Identity:
        return Identity(name=NAME)

    async def open(self, target: Target, workspace: Workspace) -> _Session:
        return _Session()


class _Engine:
    async def check(self) -> tuple[Problem, ...]:
        return ()

    def identity(self, model: str | None) -> Identity:
        return Identity(name=NAME)

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        return ()

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """Answer with the id of the case, having told the first address of its prompt."""
        session, _, ordinal = request.prompt.split()
        await wait_at(session, int(ordinal))
        return Execution(output=request.case_id)


class _Scorer:
    version = "1"

    async def score(self, context: ScoreContext) -> Score:
        """Pass whatever there is; of a session, wait at the second address of its prompt first."""
        if context.case.prompt:
            _, grading, ordinal = context.case.prompt.split()
            await wait_at(grading, int(ordinal))
        return Score.passed("it answered with the id of its case") if context.execution.output else Score.ungraded("")


@hookimpl
def skillgauge_formats() -> Iterator[Provider[SuiteFormat]]:
    """Announce the format."""
    yield Provider(name=NAME, factory=_Format, summary="One case.")


@hookimpl
def skillgauge_adapters() -> Iterator[Provider[Adapter]]:
    """Announce the adapter."""
    yield Provider(name=NAME, factory=_Adapter, options=AdapterOptions, summary="Answer, or wait.")


@hookimpl
def skillgauge_engines() -> Iterator[Provider[Engine]]:
    """Announce the engine."""
    yield Provider(name=NAME, factory=_Engine, traits=Traits(paid=True), summary="Answer, and count.")


@hookimpl
def skillgauge_scorers() -> Iterator[Provider[Scorer]]:
    """Announce the scorer."""
    yield Provider(name=NAME, factory=_Scorer, summary="There is an answer.")


@hookimpl
def skillgauge_sandboxes() -> Iterator[Provider[Sandbox]]:
    """Announce the sandbox."""
    yield Provider(name=NAME, factory=FakeSandbox, summary="No processes.")
