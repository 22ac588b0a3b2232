"""Where trials run: the shared session of a target, and the workspace of its own that each agent trial has."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.contract.adapters import CallRequest, Session
from skillgauge.contract.engines import Emit, RunRequest
from skillgauge.contract.providers import Traits
from skillgauge.contract.sandboxes import Command, Finished, SandboxSpec, Workspace
from skillgauge.run.agents import SETUP_TIMEOUT_S, AgentSetup, AgentStages, OnStep
from skillgauge.run.changes import changed_files
from skillgauge.run.direct import DirectStages
from skillgauge.types.arms import DIRECT, Arm, ArmKind, SkillRef, SkillRole
from skillgauge.types.suite import Case, Check, FileSpec, Limits, Target
from skillgauge.types.trajectory import EventKind, TrajectoryEvent
from skillgauge.types.trial import Blame, Execution, FailureClass, FileChange, Identity, Trial
from skillgauge_testkit.fakes import OK, FakeAdapter, FakeEngine, FakeSandbox, FakeWorkspace

quick = settings(max_examples=40, deadline=None)

SKILL = SkillRef(name="pdf", root="/skills/pdf", digest="d")
OTHER = SkillRef(name="csv", root="/skills/csv", digest="d", role=SkillRole.DISTRACTOR)
WITH = Arm(name="with", kind=ArmKind.AGENT, skills=(SKILL, OTHER))
WITHOUT = Arm(name="without", kind=ArmKind.AGENT)
AGENT = Identity(name="fake-agent")


def trial(arm: Arm = DIRECT, **fields: Any) -> Trial:
    """A trial; fields of the case are given as `case`."""
    case = Case.model_validate({"id": "c", "checks": (Check(id="k", scorer="s"),)} | fields.pop("case", {}))
    return Trial.model_validate(
        {
            "trial_id": "t",
            "execution_id": "x",
            "ordinal": 0,
            "suite_id": "s",
            "case": case,
            "case_index": 0,
            "target": Target(id="skill", root="/skills/pdf"),
            "arm": arm,
            "runner": AGENT,
            "repeat": 1,
            "seed": 5,
            "limits": Limits(timeout_s=3),
        }
        | fields
    )


class WatchedSandbox(FakeSandbox):
    """A sandbox that knows which of its workspaces are still open."""

    def __init__(
        self, log: list[str] | None = None, run: Callable[[Command, FakeWorkspace], Finished] | None = None
    ) -> None:
        super().__init__(run)
        self.log = [] if log is None else log
        self.open_now: list[Workspace] = []

    @asynccontextmanager
    async def open(self, spec: SandboxSpec) -> AsyncIterator[Workspace]:
        """A workspace that is noted until it is closed."""
        async with super().open(spec) as workspace:
            self.open_now.append(workspace)
            self.log.append(f"open workspace of {spec.label}")
            try:
                yield workspace
            finally:
                self.open_now.remove(workspace)
                self.log.append(f"close workspace of {spec.label}")


class WatchedAdapter(FakeAdapter):
    """An adapter that takes its time to connect, may fail to, and whose sessions may fail to close."""

    def __init__(
        self, log: list[str] | None = None, *, failures: int = 0, close_error: Exception | None = None
    ) -> None:
        super().__init__()
        self.log = [] if log is None else log
        self.opened: list[str] = []
        self._failures = failures
        self._close_error = close_error

    async def open(self, target: Target, workspace: Workspace) -> Any:
        """Connect, or not."""
        self.opened.append(target.id)
        await asyncio.sleep(0)
        if self._failures:
            self._failures -= 1
            raise ConnectionError("not yet")
        self.log.append(f"open session of {target.id}")
        return _WatchedSession(await super().open(target, workspace), target.id, self.log, self._close_error)


class _WatchedSession:
    def __init__(self, session: Session, name: str, log: list[str], close_error: Exception | None) -> None:
        self._session = session
        self._name = name
        self._log = log
        self._close_error = close_error

    async def call(self, request: CallRequest) -> Execution:
        return await self._session.call(request)

    async def close(self) -> None:
        self._log.append(f"close session of {self._name}")
        await self._session.close()
        if self._close_error:
            raise self._close_error


# --- direct calls -----------------------------------------------------------------------------------------


def call(stages: DirectStages, *trials: Trial, at_once: bool = False, close: bool = True) -> list[Execution]:
    """Execute trials on their stages, then close."""

    async def one(a_trial: Trial) -> Execution:
        async with stages(a_trial) as stage:
            return await stage.execute(a_trial)

    async def go() -> list[Execution]:
        try:
            if at_once:
                return list(await asyncio.gather(*map(one, trials)))
            return [await one(a_trial) for a_trial in trials]
        finally:
            if close:
                await stages.close()

    return asyncio.run(go())


def test_a_direct_call_carries_what_the_target_needs() -> None:
    """Input, limits, repeat, seed and environment of the trial reach the adapter's session."""
    adapter = FakeAdapter()
    one = trial(case={"input": {"q": 1}, "env": {"A": "1"}}, repeat=2)
    (execution,) = call(DirectStages(lambda target: adapter, FakeSandbox()), one)
    assert adapter.requests == [
        CallRequest(
            trial_id="t",
            case_id="c",
            input={"q": 1},
            limits=Limits(timeout_s=3),
            repeat=2,
            seed=5,
            env={"A": "1"},
        )
    ]
    assert execution.output == {"q": 1}


def test_a_targets_session_is_shared_by_its_trials() -> None:
    """It is opened for the first trial, in one workspace, and closed once at the end."""
    adapter, sandbox = WatchedAdapter(), WatchedSandbox()
    call(DirectStages(lambda target: adapter, sandbox), trial(), trial(case={"id": "d"}), trial(repeat=2))
    assert adapter.opened == ["skill"]
    assert len(sandbox.opened) == 1
    assert (len(adapter.requests), adapter.closed, sandbox.open_now) == (3, 1, [])


def test_trials_that_come_while_a_session_is_being_opened_wait_for_it() -> None:
    """However many trials start at once, a target is opened once."""
    adapter = WatchedAdapter()
    trials = [trial(case={"id": f"c{number}"}) for number in range(8)]
    assert len(call(DirectStages(lambda target: adapter, FakeSandbox()), *trials, at_once=True)) == 8
    assert adapter.opened == ["skill"]


def test_every_target_of_every_suite_has_its_own_session() -> None:
    """Two suites may test a target of the same name; they do not share it."""
    adapter = WatchedAdapter()
    trials = [trial(suite_id=suite, target=Target(id=name)) for suite in ("s1", "s2") for name in ("a", "b")]
    call(DirectStages(lambda target: adapter, FakeSandbox()), *trials, *trials)
    assert sorted(adapter.opened) == ["a", "a", "b", "b"]


def test_ids_of_suite_and_target_do_not_run_together() -> None:
    """A trial never gets the session of another target, however odd the ids are."""
    adapter = WatchedAdapter()
    trials = [trial(suite_id="a|b", target=Target(id="c")), trial(suite_id="a", target=Target(id="b|c"))]
    call(DirectStages(lambda target: adapter, FakeSandbox()), *trials)
    assert adapter.opened == ["c", "b|c"]


def test_the_adapter_is_the_targets_own() -> None:
    """Which adapter calls a target is asked with the target itself."""
    adapters = {name: FakeAdapter(name=name) for name in ("http", "mcp")}
    trials = [trial(target=Target(id=name, adapter=name)) for name in adapters]
    call(DirectStages(lambda target: adapters[target.adapter or ""], FakeSandbox()), *trials)
    assert [len(adapter.requests) for adapter in adapters.values()] == [1, 1]


@pytest.mark.parametrize("keep", [True, False])
def test_the_sandbox_is_told_what_the_target_may_see(keep: bool) -> None:
    """Its own folder is readable, the variables it names are passed on, and nothing else is asked for."""
    sandbox = FakeSandbox()
    target = Target(id="skill", root="/skills/pdf", pass_env=("TOKEN",))
    call(DirectStages(lambda _: FakeAdapter(), sandbox, keep=keep), trial(target=target))
    assert [spec for spec, _ in sandbox.opened] == [
        SandboxSpec(label="skill", readable=("/skills/pdf",), writable=("/skills/pdf",), pass_env=("TOKEN",), keep=keep)
    ]


def test_a_target_that_nobody_trusts_may_change_nothing() -> None:
    """Its folder is for reading, and it has no network."""
    sandbox = FakeSandbox()
    target = Target(id="skill", root="/skills/pdf")
    call(DirectStages(lambda _: FakeAdapter(), sandbox, trusted=False), trial(target=target))
    (spec,) = [spec for spec, _ in sandbox.opened]
    assert (spec.readable, spec.writable, spec.network) == (("/skills/pdf",), (), False)


def test_a_target_without_folder_needs_none() -> None:
    """A remote target has nothing on this machine that it must read."""
    sandbox = FakeSandbox()
    call(DirectStages(lambda _: FakeAdapter(), sandbox), trial(target=Target(id="remote")))
    assert sandbox.opened[0][0] == SandboxSpec(label="remote")


def test_a_direct_trial_needs_a_target() -> None:
    """A plan that calls nothing directly is wrong, and the message says which case."""
    with pytest.raises(ValueError, match="case 'c' is to be called directly but names no target"):
        call(DirectStages(lambda _: FakeAdapter(), FakeSandbox()), trial(target=None))


def test_sessions_are_closed_before_their_workspaces() -> None:
    """A process is asked to end while the place that it runs in still exists."""
    log: list[str] = []
    stages = DirectStages(lambda _: adapter, WatchedSandbox(log))
    adapter = WatchedAdapter(log)
    call(stages, trial(target=Target(id="a")), trial(target=Target(id="b")), at_once=True)
    for name in ("a", "b"):
        steps = [step.partition(" of ")[0] for step in log if step.endswith(f" of {name}")]
        assert steps == ["open workspace", "open session", "close session", "close workspace"]


def test_a_session_that_fails_to_close_leaves_nothing_behind() -> None:
    """The others are closed all the same, every workspace is removed, and the error is told."""
    sandbox = WatchedSandbox()
    adapters = {"a": WatchedAdapter(close_error=OSError("stuck")), "b": WatchedAdapter(), "c": WatchedAdapter()}
    stages = DirectStages(lambda target: adapters[target.id], sandbox)
    with pytest.raises(OSError, match="stuck"):
        call(stages, *(trial(target=Target(id=name)) for name in ("b", "a", "c")))
    assert [adapter.closed for adapter in adapters.values()] == [1, 1, 1]
    assert sandbox.open_now == []


def test_closing_without_any_session_does_nothing() -> None:
    """A run in which nothing was called has nothing to free."""
    assert call(DirectStages(lambda _: FakeAdapter(), FakeSandbox())) == []


def test_a_target_that_could_not_be_opened_is_tried_again() -> None:
    """A failed opening is the failure of the trials that needed it then, not of all later ones."""
    adapter = WatchedAdapter(failures=1)
    stages = DirectStages(lambda _: adapter, FakeSandbox())
    with pytest.raises(ConnectionError):
        call(stages, trial(), close=False)
    assert call(stages, trial()) == [Execution(output=None, duration_s=0.001)]
    assert adapter.opened == ["skill", "skill"]


def test_everybody_who_waits_for_a_session_learns_that_it_failed() -> None:
    """Trials that waited for the same opening fail with its exception instead of waiting for ever."""
    adapter = WatchedAdapter(failures=1)
    stages = DirectStages(lambda _: adapter, FakeSandbox())

    async def go() -> list[object]:
        async def one() -> Execution:
            async with stages(trial()) as stage:
                return await stage.execute(trial())

        return list(await asyncio.gather(one(), one(), one(), return_exceptions=True))

    assert [type(outcome) for outcome in asyncio.run(go())] == [ConnectionError] * 3
    assert adapter.opened == ["skill"]


def test_a_failed_opening_that_nobody_else_waits_for_is_no_noise() -> None:
    """The one trial that needed it has the exception; the event loop has nothing to complain about."""
    complaints: list[dict[str, Any]] = []
    stages = DirectStages(lambda _: WatchedAdapter(failures=1), FakeSandbox())

    async def go() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
        with pytest.raises(ConnectionError):
            async with stages(trial()):
                pass
        gc.collect()
        await asyncio.sleep(0)

    asyncio.run(go())
    gc.collect()
    assert complaints == []


def test_an_opening_that_failed_leaves_no_workspace_behind() -> None:
    """A target that cannot be opened, tried by thousands of trials, must not fill the disk with workspaces."""
    adapter, sandbox = WatchedAdapter(failures=3), WatchedSandbox()
    stages = DirectStages(lambda _: adapter, sandbox)

    async def go() -> int:
        for _ in range(3):
            with pytest.raises(ConnectionError):
                async with stages(trial()):
                    pass
        left = len(sandbox.open_now)
        await stages.close()
        return left

    assert asyncio.run(go()) == 0


def test_a_cancelled_trial_does_not_cancel_the_others_session() -> None:
    """One trial that is cut off while it waits for a session leaves the opening to those that still wait."""
    adapter = WatchedAdapter()
    stages = DirectStages(lambda _: adapter, FakeSandbox())

    async def one() -> Execution:
        async with stages(trial()) as stage:
            return await stage.execute(trial())

    async def go() -> Execution:
        first, second, third = (asyncio.ensure_future(one()) for _ in range(3))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        await first
        return await third

    assert asyncio.run(go()).failure is None
    assert adapter.opened == ["skill"]


def test_graders_files_lie_beside_what_the_target_left() -> None:
    """They are put into the target's workspace, where scorers look, and nothing is put there without any."""

    async def go() -> tuple[dict[str, bytes], bool]:
        sandbox = FakeSandbox()
        stages = DirectStages(lambda _: FakeAdapter(), sandbox)
        one = trial(case={"grader_files": (FileSpec(path="expected.txt", text="42"),)})
        async with stages(one) as stage:
            await stage.prepare_grading(trial())
            before = dict(sandbox.opened[0][1].files)
            await stage.prepare_grading(one)
            assert before == {}
            return sandbox.opened[0][1].files, stage.workspace is sandbox.opened[0][1]

    assert asyncio.run(go()) == ({"expected.txt": b"42"}, True)


# --- agents -----------------------------------------------------------------------------------------------


def read_skill(ref: SkillRef) -> Sequence[FileSpec]:
    """Two files, one of them executable."""
    return (FileSpec(path="SKILL.md", text=f"# {ref.name}"), FileSpec(path="bin/run", text="run", executable=True))


def say(text: str) -> Callable[[RunRequest, FakeWorkspace, Emit], Execution]:
    """An agent that answers and does nothing."""
    return lambda request, workspace, emit: Execution(text=text)


def run_agent(
    engine: FakeEngine,
    one: Trial,
    *,
    sandbox: FakeSandbox | None = None,
    skill_folder: str | None = ".agents/skills",
    on_step: OnStep | None = None,
    keep: bool = False,
) -> tuple[Execution, FakeWorkspace, SandboxSpec]:
    """Execute one agent trial and prepare its grading."""
    sandbox = sandbox or FakeSandbox()
    stages = AgentStages(
        {AGENT.digest: AgentSetup(engine, Traits(skill_folder=skill_folder))},
        sandbox,
        read_skill=read_skill,
        keep=keep,
    )
    if on_step:
        stages.on_step = on_step

    async def go() -> Execution:
        async with stages(one) as stage:
            execution = await stage.execute(one)
            await stage.prepare_grading(one)
            return execution

    execution = asyncio.run(go())
    spec, workspace = sandbox.opened[0]
    return execution, workspace, spec


def test_an_agent_is_asked_with_everything_it_needs() -> None:
    """Prompt, model, limits, seed, environment and where its skills lie are in the request."""
    engine = FakeEngine(say("done"))
    one = trial(WITH, model="m", case={"prompt": "Do it.", "env": {"A": "1"}})
    execution, _, spec = run_agent(engine, one, keep=True)
    (request,) = engine.requests
    assert (request.trial_id, request.case_id, request.prompt, request.model) == ("t", "c", "Do it.", "m")
    assert (request.limits, request.seed, request.env) == (Limits(timeout_s=3), 5, {"A": "1"})
    assert [(skill.ref, skill.path) for skill in request.skills] == [
        (SKILL, ".agents/skills/pdf"),
        (OTHER, ".agents/skills/csv"),
    ]
    assert execution.text == "done"
    assert spec == SandboxSpec(label="c", env={"A": "1"}, network=False, room_mb=64, keep=True)


def test_a_case_without_prompt_asks_nothing() -> None:
    """An agent gets an empty prompt, never the word None."""
    engine = FakeEngine(say("done"))
    run_agent(engine, trial(WITHOUT))
    assert (engine.requests[0].prompt, engine.requests[0].model) == ("", None)


def test_skills_are_installed_with_all_their_files() -> None:
    """Each lies under its own name in the folder where the agent looks for skills."""
    _, workspace, _ = run_agent(FakeEngine(say("done")), trial(WITH))
    assert workspace.files == {
        ".agents/skills/pdf/SKILL.md": b"# pdf",
        ".agents/skills/pdf/bin/run": b"run",
        ".agents/skills/csv/SKILL.md": b"# csv",
        ".agents/skills/csv/bin/run": b"run",
    }


def test_an_installed_file_keeps_its_mode() -> None:
    """A script of a skill can still be run where it was installed."""
    modes: dict[str, bool] = {}

    class Workplace(FakeWorkspace):
        async def put(self, files: Sequence[FileSpec], *, anew: bool = False) -> Sequence[str]:
            modes.update((file.path, file.executable) for file in files)
            return ()

    class Shop(FakeSandbox):
        @asynccontextmanager
        async def open(self, spec: SandboxSpec) -> AsyncIterator[Workspace]:
            workspace = Workplace()
            self.opened.append((spec, workspace))
            yield workspace

    run_agent(FakeEngine(say("done")), trial(WITH), sandbox=Shop())
    assert modes[".agents/skills/pdf/bin/run"] is True
    assert modes[".agents/skills/pdf/SKILL.md"] is False


def test_without_skills_nothing_is_installed() -> None:
    """The other arm differs by the absence of the skills and nothing else."""
    engine = FakeEngine(say("done"))
    _, workspace, _ = run_agent(engine, trial(WITHOUT))
    assert workspace.files == {}
    assert engine.requests[0].skills == ()


def test_an_agent_that_reads_no_skill_files_gets_none() -> None:
    """Without a folder there is nowhere to install a skill, and the request does not claim otherwise."""
    engine = FakeEngine(say("done"))
    _, workspace, _ = run_agent(engine, trial(WITH), skill_folder=None)
    assert workspace.files == {}
    assert engine.requests[0].skills == ()


def test_the_workspace_is_set_up_in_order() -> None:
    """Files first, then skills, then the setup commands, each in a shell, and only then the agent."""
    steps: list[object] = []

    def shell(command: Command, workspace: FakeWorkspace) -> Finished:
        steps.append((command.argv, sorted(workspace.files)))
        workspace.files[f"made-{len(steps)}"] = b""
        return OK

    def play(request: RunRequest, workspace: FakeWorkspace, emit: Emit) -> Execution:
        steps.append("agent")
        return Execution(text="done")

    one = trial(WITH, case={"files": (FileSpec(path="a", text="x"),), "setup": ("first", "second")})
    execution, workspace, _ = run_agent(FakeEngine(play), one, sandbox=FakeSandbox(shell))
    files = sorted(
        ["a", *(f".agents/skills/{name}/{file}" for name in ("pdf", "csv") for file in ("SKILL.md", "bin/run"))]
    )
    assert steps == [
        (("sh", "-c", "first"), files),
        (("sh", "-c", "second"), sorted([*files, "made-1"])),
        "agent",
    ]
    assert {command.timeout_s for command in workspace.commands} == {SETUP_TIMEOUT_S}
    assert execution.files == ()


FAILED_SETUPS = {
    "exit code": (
        Finished(exit_code=3, signal=None, stdout=b"", stderr=b" no such file \n", duration_s=0.1),
        "setup command 'make': exit code 3: no such file",
    ),
    "silent": (
        Finished(exit_code=1, signal=None, stdout=b"x", stderr=b"", duration_s=0.1),
        "setup command 'make': exit code 1",
    ),
    "time": (
        Finished(exit_code=None, signal=9, stdout=b"", stderr=b"", duration_s=60, timed_out=True),
        "setup command 'make': timed out",
    ),
    "time in spite of success": (
        Finished(exit_code=0, signal=None, stdout=b"", stderr=b"", duration_s=60, timed_out=True),
        "setup command 'make': timed out",
    ),
    "not text": (
        Finished(exit_code=1, signal=None, stdout=b"", stderr=b"\xff" + b"a" * 1000, duration_s=0.1),
        "setup command 'make': exit code 1: \ufffd" + "a" * 399,
    ),
}


@pytest.mark.parametrize(("finished", "message"), FAILED_SETUPS.values(), ids=FAILED_SETUPS)
def test_a_setup_that_fails_is_infrastructures_failure(finished: Finished, message: str) -> None:
    """The agent is not started, nor are further commands; the failure says which command and what it said."""
    engine = FakeEngine(say("never"))
    one = trial(WITHOUT, case={"setup": ("true", "make", "never")})
    sandbox = FakeSandbox(lambda command, _: finished if command.argv[2] == "make" else OK)
    execution, workspace, _ = run_agent(engine, one, sandbox=sandbox)
    failure = execution.failure
    assert failure is not None
    assert (failure.failure_class, failure.blame) == (FailureClass.SETUP, Blame.INFRASTRUCTURE)
    assert failure.message == message
    assert not failure.retryable
    assert engine.requests == []
    assert [command.argv[2] for command in workspace.commands] == ["true", "make"]


def test_only_what_the_agent_changed_is_a_change() -> None:
    """Files, skills and what the setup made are not the agent's; what it made, altered and deleted is."""

    def shell(command: Command, workspace: FakeWorkspace) -> Finished:
        workspace.files["set-up"] = b"1"
        return OK

    def play(request: RunRequest, workspace: FakeWorkspace, emit: Emit) -> Execution:
        workspace.files["new"] = b"1"
        workspace.files["altered"] = b"2"
        del workspace.files["deleted"]
        return Execution(text="done", duration_s=1)

    files = tuple(FileSpec(path=name, text="1") for name in ("kept", "altered", "deleted"))
    one = trial(WITH, case={"files": files, "setup": ("make",), "grader_files": (FileSpec(path="late", text=""),)})
    execution, workspace, _ = run_agent(FakeEngine(play), one, sandbox=FakeSandbox(shell))
    assert [(change.path, change.change) for change in execution.files] == [
        ("altered", "modified"),
        ("deleted", "deleted"),
        ("new", "created"),
    ]
    assert (execution.text, execution.duration_s) == ("done", 1)
    assert "late" in workspace.files


def test_graders_files_arrive_after_the_agent() -> None:
    """While the agent works, what it is graded with is not there."""
    seen: list[list[str]] = []

    def play(request: RunRequest, workspace: FakeWorkspace, emit: Emit) -> Execution:
        seen.append(sorted(workspace.files))
        return Execution()

    _, workspace, _ = run_agent(
        FakeEngine(play), trial(WITHOUT, case={"grader_files": (FileSpec(path="expected", text="42"),)})
    )
    assert seen == [[]]
    assert workspace.files == {"expected": b"42"}


def test_events_of_the_agent_are_passed_on() -> None:
    """Whoever watches a run sees each event as it happens, and of which trial it is."""
    event = TrajectoryEvent(kind=EventKind.MESSAGE, text="hello")
    seen: list[tuple[str, TrajectoryEvent]] = []

    def play(request: RunRequest, workspace: FakeWorkspace, emit: Emit) -> Execution:
        emit(event)
        return Execution()

    one = trial(WITHOUT)
    run_agent(FakeEngine(play), one, on_step=lambda watched, event: seen.append((watched.trial_id, event)))
    assert seen == [(one.trial_id, event)]


def test_every_attempt_has_a_workspace_of_its_own() -> None:
    """It is made for the attempt and removed after it, also when the agent breaks."""
    sandbox = WatchedSandbox()
    open_during: list[int] = []

    def play(request: RunRequest, workspace: FakeWorkspace, emit: Emit) -> Execution:
        open_during.append(len(sandbox.open_now))
        if len(open_during) == 2:
            raise RuntimeError("broken")
        return Execution()

    stages = AgentStages({AGENT.digest: AgentSetup(FakeEngine(play), Traits())}, sandbox, read_skill=read_skill)

    async def attempt() -> None:
        async with stages(trial(WITHOUT)) as stage:
            assert stage.workspace is sandbox.open_now[0]
            await stage.execute(trial(WITHOUT))

    asyncio.run(attempt())
    with pytest.raises(RuntimeError):
        asyncio.run(attempt())
    assert open_during == [1, 1]
    assert [spec for spec, _ in sandbox.opened] == [SandboxSpec(label="c", network=False, room_mb=64)] * 2
    assert sandbox.open_now == []


def test_the_engine_is_the_trials_own() -> None:
    """A matrix of engines runs each trial with the one it names."""
    engines = {name: FakeEngine(say(name), name=name) for name in ("one", "two")}
    stages = AgentStages(
        {Identity(name=name).digest: AgentSetup(engine, Traits()) for name, engine in engines.items()},
        FakeSandbox(),
        read_skill=read_skill,
    )

    async def go(name: str) -> str | None:
        one = trial(WITHOUT, runner=Identity(name=name))
        async with stages(one) as stage:
            return (await stage.execute(one)).text

    assert [asyncio.run(go(name)) for name in engines] == ["one", "two"]


# --- what changed -----------------------------------------------------------------------------------------

snapshots = st.dictionaries(st.sampled_from(["a", "a/b", "b", "c", "é"]), st.sampled_from(["1", "2"]))


@quick
@given(snapshots, snapshots)
def test_changes_lead_from_one_snapshot_to_the_other(before: dict[str, str], after: dict[str, str]) -> None:
    """Applied to the first snapshot they give the second; nothing is listed twice or without need; sorted by path."""
    changes = changed_files(before, after)
    rebuilt = dict(before)
    for change in changes:
        assert (change.change == "created") is (change.path not in before)
        assert (change.change == "deleted") is (change.path not in after)
        assert before.get(change.path) != change.digest
        if change.digest is None:
            del rebuilt[change.path]
        else:
            rebuilt[change.path] = change.digest
    assert rebuilt == after
    assert [change.path for change in changes] == sorted({change.path for change in changes})


def test_a_change_says_what_the_file_is_now() -> None:
    """A deleted file has no digest any more."""
    assert changed_files({"a": "1", "b": "1", "c": "1"}, {"a": "2", "c": "1", "d": "1"}) == (
        FileChange(path="a", change="modified", digest="2"),
        FileChange(path="b", change="deleted"),
        FileChange(path="d", change="created", digest="1"),
    )


def test_the_image_of_a_case_reaches_the_sandbox() -> None:
    """Files of an image are the sandbox's business: they are in its specification and not in the workspace."""
    files = (FileSpec(path="Dockerfile", text="FROM scratch\n"),)
    one = trial(WITHOUT)
    one = one.model_copy(update={"case": one.case.model_copy(update={"image_files": files})})
    _, workspace, spec = run_agent(FakeEngine(lambda *_: Execution()), one)
    assert spec.image_files == files
    assert "Dockerfile" not in workspace.files


class Keeper(FakeAdapter):
    """An adapter whose calls write a file and tell what they found."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str]] = []

    async def open(self, target: Target, workspace: Workspace) -> Session:
        """A session that looks around, and leaves something behind."""
        keeper = self

        class Looking:
            async def call(self, request: CallRequest) -> Execution:
                keeper.found.append(dict(await workspace.snapshot()))
                await workspace.put([FileSpec(path=f"made-{request.case_id}.txt", text="made")])
                return Execution(output="seen")

            async def close(self) -> None:
                keeper.found.append({"closed": str(workspace.root)})

        return Looking()


def test_a_case_with_files_has_a_workspace_of_its_own() -> None:
    """What a case brings is there, what it leaves is told and gone, and no other case sees any of it."""

    async def scenario() -> None:
        adapter, sandbox = Keeper(), WatchedSandbox()
        stages = DirectStages(lambda _: adapter, sandbox)
        brings = {"files": (FileSpec(path="in.txt", text="a"),), "setup": ("true",)}
        for case in ({"id": "one", **brings}, {"id": "two", **brings}):
            run = trial(case=case)
            async with stages(run) as stage:
                execution = await stage.execute(run)
            assert [(one.path, one.change) for one in execution.files] == [(f"made-{case['id']}.txt", "created")]
            assert not sandbox.open_now
        assert [set(found) for found in adapter.found] == [{"in.txt"}, {"closed"}] * 2
        async with stages(trial(case={"id": "plain"})) as stage:
            await stage.execute(trial(case={"id": "plain"}))
        assert adapter.found[-1] == {}  # the shared one
        await stages.close()

    asyncio.run(scenario())


def test_a_direct_case_with_an_image_runs_in_it() -> None:
    """In a workspace of its own; the shared one of its target has the sandbox's own image (D-12)."""

    async def scenario() -> None:
        specs: list[SandboxSpec] = []

        class Noting(FakeSandbox):
            def open(self, spec: SandboxSpec) -> AbstractAsyncContextManager[Workspace]:
                specs.append(spec)
                return super().open(spec)

        image = (FileSpec(path="Dockerfile", text="FROM scratch"),)
        stages = DirectStages(lambda _: FakeAdapter(), Noting())
        for case in ({"id": "one", "image_files": image}, {"id": "two"}):
            run = trial(case=case)
            async with stages(run) as stage:
                await stage.execute(run)
        assert [spec.image_files for spec in specs] == [image, ()]
        await stages.close()

    asyncio.run(scenario())


def test_graders_files_of_a_direct_case_are_nobody_elses() -> None:
    """The answers of one case are not in the workspace that the target of the next one sees."""

    async def scenario() -> None:
        adapter = Keeper()
        stages = DirectStages(lambda _: adapter, FakeSandbox())
        first = trial(case={"id": "one", "grader_files": (FileSpec(path="answer.txt", text="42"),)})
        async with stages(first) as stage:
            await stage.execute(first)
            await stage.prepare_grading(first)
            assert stage.workspace is not None
            assert "answer.txt" in await stage.workspace.snapshot()
        async with stages(trial(case={"id": "two"})) as stage:
            await stage.execute(trial(case={"id": "two"}))
        assert all("answer.txt" not in found for found in adapter.found)
        await stages.close()

    asyncio.run(scenario())


def test_a_direct_case_that_cannot_be_set_up_is_no_failure_of_the_target() -> None:
    """The target is not called then."""

    async def scenario() -> None:
        adapter = Keeper()
        sandbox = FakeSandbox(lambda *_: Finished(exit_code=1, signal=None, stdout=b"", stderr=b"no", duration_s=0))
        run = trial(case={"setup": ("false",)})
        async with DirectStages(lambda _: adapter, sandbox)(run) as stage:
            execution = await stage.execute(run)
        assert execution.failure is not None
        assert (execution.failure.failure_class, execution.failure.blame) == (FailureClass.SETUP, Blame.INFRASTRUCTURE)
        assert [*adapter.found[0]] == ["closed"]

    asyncio.run(scenario())
