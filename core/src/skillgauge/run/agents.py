"""The place where agents run: a fresh workspace for every attempt, with the skills of its arm and no other."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence, Set
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath

from skillgauge_documents.frozen import EMPTY, JsonObject

from ..contract.engines import InstalledSkill, Recorder, RunRequest, SessionCache
from ..contract.sandboxes import Command, Finished, NoRoomError, Sandbox, SandboxSpec, SpoiledError, Workspace
from ..log import get_logger
from ..types.arms import SkillRef
from ..types.inputs import FileSpec
from ..types.score import Score, ScoreStatus
from ..types.suite import Case, TargetKind
from ..types.trajectory import EventKind, TrajectoryEvent
from ..types.trial import Blame, Execution, Failure, FailureClass, Trial
from ..types.usage import Usage
from .arm_integrity import arm_integrity
from .budget import Meter, current_meter
from .changes import LaunchState
from .conversation import ended, first_turn, further_turns, heard, joined, next_turn, noted
from .stage import AgentSetup, environment_of

log = get_logger(__name__)

OnStep = Callable[[Trial, TrajectoryEvent], None]
"""Told of what an agent does in a trial."""
Ask = Callable[[Trial, Execution, Workspace], Awaitable[Sequence[Score]]]
"""Scores checks of a session that goes on."""

SETUP_TIMEOUT_S = 60.0
ROOM_MB = 64
"""Free space without which a session is not started: agents' programs write tens of MiB before they do any work."""
PASSING_S = 5.0
"""How long something may lie above a workspace that goes away again."""
_LOOK_S = 0.1


async def _no_scores(_trial: Trial, _execution: Execution, _workspace: Workspace) -> Sequence[Score]:
    return ()


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
    only_missing: bool = False
    """Whether the recorder plays the sessions that it has, so that only the others are run."""
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
    ask_required: Ask = _no_scores
    """Scores the required checks of the turn that a conversation has come to."""
    ask_user: Ask = _no_scores
    """Asks the user of a case what comes next."""
    _skills: dict[SkillRef, Sequence[FileSpec]] = field(default_factory=dict, init=False)
    _staying: set[Path] = field(default_factory=set, init=False)
    """What was waited for in vain."""

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

    async def stays(self, path: Path) -> bool:
        """Tell whether something that is there is there for good.

        The sandbox of an agent's program may put a folder into /tmp for as long as a command of its session runs, and
        a session beside that one, which may be the user's own, waits for the end of it.
        """
        until = time.monotonic() + PASSING_S
        while path not in self._staying and path.exists():
            if time.monotonic() >= until:
                self._staying.add(path)
            await asyncio.sleep(_LOOK_S)
        return path.exists()

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
    scores: list[Score] = field(default_factory=list)
    """Of required checks that were asked for between turns."""
    moments: list[tuple[TrajectoryEvent, float]] = field(default_factory=list)
    """The events that the engine reported, and when, by the monotonic clock."""

    async def furnish(self, trial: Trial) -> tuple[InstalledSkill, ...]:
        """Put the files of the case and the skills of the arm in place."""
        await self.workspace.put((*trial.case.setup_files, *trial.case.files))
        return await self._install(trial)

    async def execute(self, trial: Trial) -> Execution:
        """Set the workspace up, run the agent, and find out which files it changed."""
        if failure := await self._inherits():
            return Execution(failure=failure)
        skills = await self.furnish(trial)
        if failure := await set_up(self.workspace, trial.case):
            return Execution(failure=failure)
        at_launch = await LaunchState.of(self.workspace, tuple(f"{skill.path}/" for skill in skills))
        cache = self._cache_for(trial)
        execution = await self._kept(trial, cache)
        if execution is None:
            began = time.monotonic()
            execution = await self._session(trial, _request(trial, skills))
            execution = timed(execution, self.moments, began)
        execution = await at_launch.with_changes(execution, self.workspace)
        execution = self._with_integrity(trial, execution)
        if cache:
            with suppress(SpoiledError, NoRoomError):  # nothing is answered from a session that cannot be kept
                await cache.record(trial, execution, self.workspace)
        return await self._recorded(trial, execution)

    async def _kept(self, trial: Trial, cache: SessionCache | None) -> Execution | None:
        """Return the session of an earlier run that stands for this one, if any does."""
        if cache:
            return await cache.find(trial, self.workspace)
        if not self.stages.only_missing or self.stages.recorder is None:
            return None
        try:
            return await self.stages.recorder.find(trial, self.workspace)
        except (OSError, ValueError) as error:
            message = f"a recorded session cannot be played: {error}"
            return Execution(failure=Failure.of_agent(FailureClass.SETUP, message), replayed=True)

    def _cache_for(self, trial: Trial) -> SessionCache | None:
        """Return the cache, if it may answer a trial."""
        is_cached = (trial.suite_id, trial.arm.name) in self.stages.cached
        return self.stages.cache if is_cached and trial.runner.complete else None

    def _with_integrity(self, trial: Trial, execution: Execution) -> Execution:
        """Return the execution with the proof that it stands for its arm, or the failure that there is none."""
        failure = execution.failure
        if failure is not None and failure.blame is Blame.INFRASTRUCTURE:
            return execution
        candidates = self.stages.candidates.get(trial.suite_id, frozenset())
        integrity, broken = arm_integrity(trial.arm, candidates, execution.trajectory)
        return execution.model_copy(update={"arm_integrity": integrity, "failure": broken or failure})

    async def _recorded(self, trial: Trial, execution: Execution) -> Execution:
        """Record the session, if it is to be; return the execution, with what kept it from being recorded."""
        if self.stages.recorder is None:
            return execution
        try:
            await self.stages.recorder.record(trial, execution, self.workspace)
        except (SpoiledError, NoRoomError) as error:
            return execution.model_copy(update={"notes": (*execution.notes, f"not recorded: {error}")})
        except (OSError, ValueError) as error:
            message = f"the session cannot be recorded: {error}"  # what it has cost stays known
            return execution.model_copy(update={"failure": Failure.of_agent(FailureClass.INTERNAL, message)})
        return execution

    async def _session(self, trial: Trial, request: RunRequest) -> Execution:
        """Run the agent; the meter of the trial holds what it has used, from its start on."""
        meter = current_meter()
        if meter and trial.paid:
            meter.begin_session()
        execution = await self._turn(trial, first_turn(request, further_turns(trial.case)), meter, None)
        if execution.answers:  # a recording has all turns of its session
            return execution
        return await self._conversation(trial, request, execution, meter)

    async def _conversation(
        self, trial: Trial, request: RunRequest, execution: Execution, meter: Meter | None
    ) -> Execution:
        """Go on with a session for as long as the user has something to say."""
        case, most = trial.case, further_turns(trial.case)
        for number in range(most):
            if execution.failure is not None:
                return execution
            scripted = len(case.turns) - number
            if not await self._goes_on(trial, execution):
                return ended(execution, scripted)
            if scripted > 0:
                text = case.turns[number]
            else:
                execution, text = heard(execution, await self._user(trial, execution), -scripted)
                if not text:
                    return execution
            self._emit(trial, meter, None, TrajectoryEvent(kind=EventKind.USER, text=text))
            further = next_turn(request, execution, text, most - number - 1)
            execution = joined(execution, text, await self._turn(trial, further, meter, execution.usage))
        if case.user is None:
            return execution
        return noted(execution, f"the user was simulated, for {case.user.turns} turns at most")

    async def _user(self, trial: Trial, execution: Execution) -> Score:
        scores = await self.stages.ask_user(trial, execution, self.workspace)
        return next(iter(scores), Score.passed("nobody answers"))

    async def _goes_on(self, trial: Trial, execution: Execution) -> bool:
        """Tell whether the required checks of the last turn hold."""
        scores = await self.stages.ask_required(trial, execution, self.workspace)
        self.scores.extend(scores)
        return all(score.status is ScoreStatus.PASSED for score in scores)

    async def _turn(self, trial: Trial, request: RunRequest, meter: Meter | None, before: Usage | None) -> Execution:
        """Run a turn of the session, after those that used `before`."""
        execution = await self.setup.engine.run(request, self.workspace, partial(self._emit, trial, meter, before))
        if meter and execution.usage and not execution.replayed:
            meter.session_used(_used(before, execution.usage))
        return execution

    async def prepare_grading(self, trial: Trial) -> Sequence[str]:
        """Put the graders' files in place, now that the agent cannot read them any more."""
        return await self.workspace.put(trial.case.grader_files, anew=True)

    def _emit(self, trial: Trial, meter: Meter | None, before: Usage | None, event: TrajectoryEvent | Usage) -> None:
        if isinstance(event, Usage):
            if meter:
                meter.session_used(_used(before, event))
            return
        self.moments.append((event, time.monotonic()))
        log.debug("agent.event", trial_id=trial.trial_id, kind=event.kind, name=event.name, text=event.text)
        if self.stages.on_step:
            self.stages.on_step(trial, event)

    async def _inherits(self) -> Failure | None:
        """Return a failure if something lies above the workspace that would reach the agent in every arm."""
        names = self.setup.traits.inherited
        for folder in self.workspace.root.parents if names else ():  # to ask for its root has a workspace make one
            for path in (folder / name for name in names):
                if path.exists() and await self.stages.stays(path):
                    hint = "set TMPDIR to a folder that has nothing like it above"
                    return Failure.of_agent(FailureClass.SETUP, f"the agent would read {str(path)!r}; {hint}")
        return None

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


def timed(execution: Execution, moments: Sequence[tuple[TrajectoryEvent, float]], began: float) -> Execution:
    """Return the execution with the moment of each of its events that the engine reported while it ran.

    A recording keeps its own; an event that is made up after the end has none.
    """
    trajectory = execution.trajectory
    if trajectory is None or execution.replayed:
        return execution
    by_event = {id(event): moment - began for event, moment in moments}
    events = tuple(
        event.model_copy(update={"at_s": by_event[id(event)]}) if id(event) in by_event else event
        for event in trajectory.events
    )
    return execution.model_copy(update={"trajectory": trajectory.model_copy(update={"events": events})})


def _used(before: Usage | None, usage: Usage) -> Usage:
    """Return the usage of a session with the turn that is under way."""
    return usage if before is None else Usage.total((before, usage)) or usage


def _request(trial: Trial, skills: tuple[InstalledSkill, ...]) -> RunRequest:
    target = trial.target
    agent = target.name if target and target.kind is TargetKind.AGENT else None
    return RunRequest.of(
        trial,
        environment_of(trial.case),
        prompt=dict(trial.case.arm_prompts).get(trial.arm.name, trial.case.prompt) or "",
        model=trial.model,
        skills=skills,
        installs=trial.installs,
        agent=agent,
        cassette_key=trial.cassette_key,
        recipe=trial.recipe,
    )


async def set_up(workspace: Workspace, case: Case) -> Failure | None:
    """Run the set-up commands of a case, up to the first that fails, and remove what only they were to find."""
    for command in (*case.setup, *_removal(case)):
        running = await workspace.start(Command(argv=("sh", "-c", command), timeout_s=SETUP_TIMEOUT_S))
        finished = await running.wait()
        if finished.exit_code != 0 or finished.timed_out:
            parts = [f"setup command {command!r}", _ending(finished)]
            if output := finished.stderr[:400].decode("utf-8", "replace").strip():
                parts.append(output)
            return Failure.of_agent(FailureClass.SETUP, ": ".join(parts))
    return None


def _ending(finished: Finished) -> str:
    if finished.timed_out:
        return "timed out"
    return f"signal {finished.signal}" if finished.exit_code is None else f"exit code {finished.exit_code}"


def _removal(case: Case) -> list[str]:
    """Return the command that removes what only set-up commands were to find, and the folders that are empty then."""
    gone = sorted({file.path for file in case.setup_files} - {file.path for file in case.files})
    if not gone:
        return []
    command = f"rm -f -- {shlex.join(gone)}"
    folders = {str(folder) for path in gone for folder in PurePosixPath(path).parents[:-1]}
    if folders:
        command += f"; rmdir -- {shlex.join(sorted(folders, key=len, reverse=True))} 2>/dev/null || :"
    return [command]


def files_of_skill(ref: SkillRef) -> tuple[FileSpec, ...]:
    """Return the files of a skill as they are installed: its whole folder without what would give answers away.

    Links are not installed: one that leads out of the folder would carry something else into the workspace.
    """
    root = Path(ref.root)
    left_out = {root / path for path in ref.leaves_out}
    return tuple(
        FileSpec(path=path.relative_to(root).as_posix(), source=str(path), executable=bool(path.stat().st_mode & 0o100))
        for path in sorted(root.rglob("*"))
        if path.is_file() and _is_installed(path, root, left_out)
    )


def _is_installed(path: Path, root: Path, left_out: Set[Path]) -> bool:
    """Tell whether neither a file nor a folder between it and the root is a link or left out."""
    parts = [part for part in (path, *path.parents) if root in part.parents]
    return not any(part in left_out or part.is_symlink() for part in parts)
