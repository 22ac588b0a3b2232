"""Where trials run: one shared session per target under direct call, one fresh workspace per agent trial."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Self

from .protocols import (
    Adapter,
    CallRequest,
    Command,
    Emit,
    Engine,
    InstalledSkill,
    RunRequest,
    Sandbox,
    SandboxSpec,
    Session,
    Workspace,
)
from .types.suite import FileSpec, SkillRef, Target
from .types.trial import Blame, Execution, Failure, FailureClass, FileChange, Trial

SETUP_TIMEOUT_S = 60.0


@dataclass
class _Open:
    """A target's session and where it lives."""

    session: Session
    workspace: Workspace


class DirectStages:
    """Opens each target once, when its first trial needs it, and shares the session among its trials.

    Args:
        adapter_of: the adapter of a target.
        sandbox: where the targets' processes run.
    """

    def __init__(self, adapter_of: Callable[[Target], Adapter], sandbox: Sandbox, *, keep: bool = False) -> None:
        self._adapter_of = adapter_of
        self._sandbox = sandbox
        self._keep = keep
        self._stack = AsyncExitStack()
        self._open: dict[tuple[str, str], asyncio.Future[_Open]] = {}

    async def close(self) -> None:
        """End every session and remove its workspace."""
        await self._stack.aclose()

    def __call__(self, trial: Trial) -> DirectStage:
        """The stage of a trial; its target's session outlives it."""
        return DirectStage(lambda: self._session(trial))

    async def _session(self, trial: Trial) -> _Open:
        target = trial.target
        if target is None:
            raise ValueError(f"case {trial.case.id!r} is to be called directly but names no target")
        key = (trial.suite_id, target.id)
        future = self._open.get(key)
        if future is None:
            future = self._open[key] = asyncio.get_running_loop().create_future()
            try:
                future.set_result(await self._enter(target))
            except BaseException as error:
                del self._open[key]
                future.set_exception(error)
                future.exception()  # everyone who waits sees it; nobody waiting is no reason for a warning
                raise
        return future.result() if future.done() else await asyncio.shield(future)

    async def _enter(self, target: Target) -> _Open:
        spec = SandboxSpec(
            label=target.id,
            readable=(target.root,) if target.root else (),
            pass_env=target.pass_env,
            keep=self._keep,
        )
        async with AsyncExitStack() as stack:  # a workspace whose target cannot be opened goes at once
            workspace = await stack.enter_async_context(self._sandbox.open(spec))
            session = await self._adapter_of(target).open(target, workspace)
            stack.push_async_callback(session.close)
            self._stack.push_async_exit(stack.pop_all())
        return _Open(session, workspace)


class DirectStage:
    """One attempt on a target's shared session.

    Its own context manager, because one made from a generator costs more than a short trial.
    """

    workspace: Workspace
    """The target's workspace; set on entering."""

    def __init__(self, session: Callable[[], Awaitable[_Open]]) -> None:
        self._session = session

    async def __aenter__(self) -> Self:
        self._opened = await self._session()
        self.workspace = self._opened.workspace
        return self

    async def __aexit__(self, *_error: object) -> None:
        """The session stays open for the next trial."""

    async def execute(self, trial: Trial) -> Execution:
        """Call the target."""
        request = CallRequest(
            trial_id=trial.trial_id,
            case_id=trial.case.id,
            input=trial.case.input,
            limits=trial.limits,
            repeat=trial.repeat,
            seed=trial.seed,
            env=trial.case.env,
        )
        return await self._opened.session.call(request)

    async def prepare_grading(self, trial: Trial) -> None:
        """Put the graders' files beside what the target left."""
        if trial.case.grader_files:
            await self._opened.workspace.put(trial.case.grader_files)


@dataclass(frozen=True)
class AgentSetup:
    """An engine and where its agent looks for skills."""

    engine: Engine
    skill_folder: str | None = None
    """Relative to the workspace; `None` if the agent cannot use skills from files."""


class AgentStages:
    """Opens a fresh workspace for every attempt of an agent trial.

    Args:
        setups: engine by name.
        sandbox: where agents run.
        read_skill: the files of a skill, with paths relative to its own folder.
        emit: told of each event of an agent as it happens.
    """

    def __init__(
        self,
        setups: Mapping[str, AgentSetup],
        sandbox: Sandbox,
        *,
        read_skill: Callable[[SkillRef], Sequence[FileSpec]],
        emit: Emit,
        keep: bool = False,
    ) -> None:
        self._setups = setups
        self._sandbox = sandbox
        self._read_skill = read_skill
        self._emit = emit
        self._keep = keep

    @asynccontextmanager
    async def __call__(self, trial: Trial) -> AsyncIterator[AgentStage]:
        """A stage of its own for each attempt, removed afterwards."""
        setup = self._setups[trial.runner.name]
        spec = SandboxSpec(label=trial.case.id, env=trial.case.env, keep=self._keep)
        async with self._sandbox.open(spec) as workspace:
            yield AgentStage(setup, workspace, self._read_skill, self._emit)


class AgentStage:
    """One attempt of an agent in its own workspace."""

    def __init__(
        self,
        setup: AgentSetup,
        workspace: Workspace,
        read_skill: Callable[[SkillRef], Sequence[FileSpec]],
        emit: Emit,
    ) -> None:
        self._setup = setup
        self.workspace = workspace
        self._read_skill = read_skill
        self._emit = emit

    async def execute(self, trial: Trial) -> Execution:
        """Set the workspace up, run the agent, and find out which files it changed."""
        await self.workspace.put(trial.case.files)
        skills = await self._install(trial)
        for command in trial.case.setup:
            failure = await self._set_up(command)
            if failure:
                return Execution(failure=failure)
        before = await self.workspace.snapshot()
        request = RunRequest(
            trial_id=trial.trial_id,
            case_id=trial.case.id,
            prompt=trial.case.prompt or "",
            model=trial.model,
            skills=skills,
            limits=trial.limits,
            env=trial.case.env,
            seed=trial.seed,
        )
        execution = await self._setup.engine.run(request, self.workspace, self._emit)
        changes = changed_files(before, await self.workspace.snapshot())
        return execution.model_copy(update={"files": changes})

    async def prepare_grading(self, trial: Trial) -> None:
        """Put the graders' files in place, now that the agent cannot read them any more."""
        await self.workspace.put(trial.case.grader_files)

    async def _install(self, trial: Trial) -> tuple[InstalledSkill, ...]:
        folder = self._setup.skill_folder
        if folder is None:
            return ()
        installed = []
        for ref in trial.arm.skills:
            home = f"{folder}/{ref.name}"
            files = await asyncio.to_thread(self._read_skill, ref)
            await self.workspace.put([file.model_copy(update={"path": f"{home}/{file.path}"}) for file in files])
            installed.append(InstalledSkill(ref=ref, path=home))
        return tuple(installed)

    async def _set_up(self, command: str) -> Failure | None:
        running = await self.workspace.start(Command(argv=("sh", "-c", command), timeout_s=SETUP_TIMEOUT_S))
        finished = await running.wait()
        if finished.exit_code == 0 and not finished.timed_out:
            return None
        said = finished.stderr[:400].decode("utf-8", "replace").strip()
        ended = "timed out" if finished.timed_out else f"exit code {finished.exit_code}"
        return Failure(
            failure_class=FailureClass.SETUP,
            blame=Blame.INFRASTRUCTURE,
            message=f"setup command {command!r}: {ended}{': ' + said if said else ''}",
        )


def changed_files(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FileChange, ...]:
    """What differs between two snapshots of a workspace, sorted by path."""
    changes = []
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            change = "created" if path not in before else "deleted" if path not in after else "modified"
            changes.append(FileChange(path=path, change=change, digest=after.get(path)))
    return tuple(changes)
