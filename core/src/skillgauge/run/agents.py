"""Where agents run: a fresh workspace for every attempt, with the skills of its arm and no other."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath

from skillgauge_documents.frozen import EMPTY, JsonObject

from ..contract.engines import Engine, InstalledSkill, Recorder, RunRequest, SessionCache
from ..contract.providers import Traits
from ..contract.sandboxes import Command, NoRoomError, Sandbox, SandboxSpec, SpoiledError, Workspace
from ..log import get_logger
from ..types.inputs import FileSpec
from ..types.suite import Case, SkillRef, TargetKind
from ..types.trajectory import TrajectoryEvent
from ..types.trial import Blame, Execution, Failure, FailureClass, FileChange, Trial, Usage
from .arm_integrity import arm_integrity
from .contents import contents_of, with_contents
from .spending import Meter, current_meter
from .stage import environment_of

log = get_logger(__name__)

OnStep = Callable[[Trial, TrajectoryEvent], None]
"""Told of what an agent does in a trial."""

SETUP_TIMEOUT_S = 60.0
ROOM_MB = 64
"""Free space without which a session is not started: agents' programs write tens of MiB before they do any work."""


@dataclass(frozen=True)
class AgentSetup:
    """An engine with what it announces: where its agent looks for skills, and what else could tell it of them."""

    engine: Engine
    traits: Traits
    setting: str = ""
    """What tells it in results from the same engine set otherwise: `+fast`."""


@dataclass
class AgentStages:
    """Opens a fresh workspace for every attempt of an agent trial."""

    setups: Mapping[str, AgentSetup]
    """Engine by the digest of its identity."""
    sandbox: Sandbox
    """Where agents run."""
    read_skill: Callable[[SkillRef], Sequence[FileSpec]]
    """The files of a skill, with paths relative to its own folder."""
    candidates: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Skills under test, by suite: an arm without one of them must not be offered it."""
    recorder: Recorder | None = None
    cache: SessionCache | None = None
    cached: frozenset[tuple[str, str]] = frozenset()
    """Suite and arm of the sessions that the cache may answer."""
    untrusted: bool = False
    """Whether the suites are a stranger's."""
    keep: bool = False
    """Leave workspaces behind for inspection."""
    conceal: JsonObject = EMPTY
    """Secrets that must not be in them then."""
    on_step: OnStep | None = None
    """Told of each event of an agent as it happens; must not block."""
    _skills: dict[SkillRef, Sequence[FileSpec]] = field(default_factory=dict, init=False)

    @asynccontextmanager
    async def __call__(self, trial: Trial) -> AsyncIterator[AgentStage]:
        """A stage of its own for each attempt, removed afterwards."""
        setup = self.setups[trial.runner.digest]
        spec = SandboxSpec(
            label=trial.case.id,
            program_files=setup.traits.program_files,
            env=environment_of(trial.case),
            network=trial.case.network,
            routes=setup.engine.routes(trial.model),
            hosts=setup.traits.model_hosts,
            room_mb=ROOM_MB,
            image_files=trial.case.image_files,
            untrusted=self.untrusted,
            keep=self.keep,
            conceal=self.conceal,
        )
        async with self.sandbox.open(spec) as workspace:
            yield AgentStage(setup, workspace, self)

    async def files_of(self, ref: SkillRef) -> Sequence[FileSpec]:
        """The files of a skill, looked up once in a run: what its digest stands for is there from the start."""
        if ref not in self._skills:
            self._skills[ref] = await asyncio.to_thread(self.read_skill, ref)
        return self._skills[ref]


@dataclass(frozen=True)
class AgentStage:
    """One attempt of an agent in its own workspace."""

    setup: AgentSetup
    workspace: Workspace
    stages: AgentStages

    async def execute(self, trial: Trial) -> Execution:
        """Set the workspace up, run the agent, and find out which files it changed."""
        failure = self._inherits()
        if failure:
            return Execution(failure=failure)
        await self.workspace.put((*trial.case.setup_files, *trial.case.files))
        skills = await self._install(trial)
        if failure := await set_up(self.workspace, trial.case):
            return Execution(failure=failure)
        before = await self.workspace.snapshot()
        installed = tuple(f"{skill.path}/" for skill in skills)
        held = await contents_of(self.workspace, (path for path in sorted(before) if not path.startswith(installed)))
        request = RunRequest.of(
            trial,
            environment_of(trial.case),
            prompt=dict(trial.case.arm_prompts).get(trial.arm.name, trial.case.prompt) or "",
            model=trial.model,
            skills=skills,
            installs=trial.arm.installs,
            agent=trial.target.name if trial.target and trial.target.kind is TargetKind.AGENT else None,
            cassette_key=trial.cassette_key,
            recipe=trial.recipe,
        )
        may_cache = (trial.suite_id, trial.arm.name) in self.stages.cached and trial.runner.complete
        cache = self.stages.cache if may_cache else None
        known = await cache.find(trial, self.workspace) if cache else None
        execution = known or await self._session(trial, request)
        execution = await with_changes(execution, before, self.workspace)
        holds = await contents_of(self.workspace, (one.path for one in execution.files if one.change != "deleted"))
        files = tuple(with_contents(one, held, holds) for one in execution.files)
        execution = execution.model_copy(update={"files": files})
        failure = execution.failure
        if failure is None or failure.blame is not Blame.INFRASTRUCTURE:
            candidates = self.stages.candidates.get(trial.suite_id, frozenset())
            integrity, broken = arm_integrity(trial.arm, candidates, execution.trajectory)
            execution = execution.model_copy(update={"arm_integrity": integrity, "failure": broken or failure})
        if cache:
            with suppress(SpoiledError, NoRoomError):  # nothing is answered from a session that cannot be kept
                await cache.record(trial, execution, self.workspace)
        if self.stages.recorder is not None:
            try:
                await self.stages.recorder.record(trial, execution, self.workspace)
            except (SpoiledError, NoRoomError) as error:
                return execution.model_copy(update={"notes": (*execution.notes, f"not recorded: {error}")})
            except (OSError, ValueError) as error:
                message = f"the session cannot be recorded: {error}"  # what it has cost stays known
                failure = Failure.of_agent(FailureClass.INTERNAL, message)
                return execution.model_copy(update={"failure": failure})
        return execution

    async def _session(self, trial: Trial, request: RunRequest) -> Execution:
        """Run the agent; the meter of the trial holds what it has used, from its start on."""
        meter = current_meter()
        if meter and trial.paid:
            meter.begin_session()
        execution = await self.setup.engine.run(request, self.workspace, partial(self._emit, trial, meter))
        if meter and execution.usage and not execution.replayed:
            meter.session_used(execution.usage)
        return execution

    async def prepare_grading(self, trial: Trial) -> Sequence[str]:
        """Put the graders' files in place, now that the agent cannot read them any more."""
        return await self.workspace.put(trial.case.grader_files, anew=True)

    def _emit(self, trial: Trial, meter: Meter | None, event: TrajectoryEvent | Usage) -> None:
        if isinstance(event, Usage):
            if meter:
                meter.session_used(event)
            return
        log.debug("agent.event", trial_id=trial.trial_id, kind=event.kind, name=event.name, text=event.text)
        if self.stages.on_step:
            self.stages.on_step(trial, event)

    def _inherits(self) -> Failure | None:
        """Whatever lies above the workspace and would reach the agent in every arm."""
        paths = (folder / name for folder in self.workspace.root.parents for name in self.setup.traits.inherited)
        found = next((str(path) for path in paths if path.exists()), None)
        message = f"the agent would read {found!r}; set TMPDIR to a folder that has nothing like it above"
        return Failure.of_agent(FailureClass.SETUP, message) if found else None

    async def _install(self, trial: Trial) -> tuple[InstalledSkill, ...]:
        folder = self.setup.traits.skill_folder
        if folder is None:
            return ()
        installed = []
        for ref in trial.arm.skills:
            home = f"{folder}/{ref.name}"
            files = await self.stages.files_of(ref)
            await self.workspace.put([file.model_copy(update={"path": f"{home}/{file.path}"}) for file in files])
            installed.append(InstalledSkill(ref=ref, path=home))
        return tuple(installed)


async def set_up(workspace: Workspace, case: Case) -> Failure | None:
    """Run the set-up commands of a case, up to the first that fails, and remove what only they were to find."""
    for command in (*case.setup, *_removal(case)):
        running = await workspace.start(Command(argv=("sh", "-c", command), timeout_s=SETUP_TIMEOUT_S))
        finished = await running.wait()
        if finished.exit_code != 0 or finished.timed_out:
            said = finished.stderr[:400].decode("utf-8", "replace").strip()
            code = f"signal {finished.signal}" if finished.exit_code is None else f"exit code {finished.exit_code}"
            ended = "timed out" if finished.timed_out else code
            message = f"setup command {command!r}: {ended}{': ' + said if said else ''}"
            return Failure.of_agent(FailureClass.SETUP, message)
    return None


def _removal(case: Case) -> tuple[str, ...]:
    """Removes what only the set-up commands were to find, with the folders that are empty then."""
    gone = sorted({file.path for file in case.setup_files} - {file.path for file in case.files})
    folders = sorted({str(one) for path in gone for one in PurePosixPath(path).parents[:-1]}, key=len, reverse=True)
    rest = f"; rmdir -- {shlex.join(folders)} 2>/dev/null || :" if folders else ""
    return (f"rm -f -- {shlex.join(gone)}{rest}",) if gone else ()


async def with_changes(execution: Execution, before: Mapping[str, str], workspace: Workspace) -> Execution:
    """The execution with the files that it made, changed or removed; files without end are its own failure.

    A disk that was full is nobody's failure: neither the files nor the verdict would say anything about the skill.
    """
    try:
        files = changed_files(before, await workspace.snapshot())
    except SpoiledError as error:
        return execution.model_copy(update={"failure": Failure.of_spoiling(str(error))})
    except NoRoomError as error:
        return execution.model_copy(update={"failure": Failure.of_agent(FailureClass.SETUP, str(error))})
    return execution.model_copy(update={"files": files})


def changed_files(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FileChange, ...]:
    """What differs between two snapshots of a workspace, sorted by path."""
    changes = []
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            change = "created" if path not in before else "deleted" if path not in after else "modified"
            changes.append(FileChange(path=path, change=change, digest=after.get(path)))
    return tuple(changes)


def files_of_skill(ref: SkillRef) -> tuple[FileSpec, ...]:
    """The files of a skill as they are installed: its whole folder without what would give answers away.

    Links are not installed: one that leads out of the folder would carry something else into the workspace.
    """
    root = Path(ref.root)
    left_out = [root / path for path in ref.leaves_out]
    return tuple(
        FileSpec(path=path.relative_to(root).as_posix(), source=str(path), executable=bool(path.stat().st_mode & 0o100))
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and not any(part.is_symlink() for part in (path, *path.parents) if part != root and root in part.parents)
        and not any(path == gone or gone in path.parents for gone in left_out)
    )
