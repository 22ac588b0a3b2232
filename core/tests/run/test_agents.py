"""Workspaces of agents: what is put into them, what is found out about them, and what they must not inherit."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.contract.engines import Emit, RunRequest
from skillgauge.contract.providers import Traits
from skillgauge.contract.sandboxes import Command, Finished, ModelRoute, Sandbox, SandboxSpec, Workspace
from skillgauge.run import agents
from skillgauge.run.agents import AgentSetup, AgentStages, files_of_skill
from skillgauge.run.arm_integrity import VERIFIED
from skillgauge.run.changes import LARGEST, MOST, ROOM, Content, changed_files, contents_of
from skillgauge.types.arms import Arm, ArmKind, SkillRef
from skillgauge.types.suite import Case, FileSpec, Limits
from skillgauge.types.trajectory import EventKind, Trajectory, TrajectoryEvent
from skillgauge.types.trial import Blame, Execution, Failure, FailureClass, Identity, Trial
from skillgauge.types.usage import Usage
from skillgauge_testkit import FakeEngine, FakeSandbox, FakeWorkspace, TemporarySandbox
from skillgauge_testkit.fakes import OK

PDF = SkillRef(name="pdf", root="/skills/pdf", digest="d1")
OTHER = SkillRef(name="other", root="/skills/other", digest="d2")
WITH = Arm(name="with_skill", kind=ArmKind.AGENT, skills=(PDF, OTHER))
WITHOUT = Arm(name="without_skill", kind=ArmKind.AGENT, skills=(OTHER,))
CANDIDATES = frozenset({"pdf"})
AGENT = Identity(name="agent")


def trial(arm: Arm = WITH, **case: Any) -> Trial:
    """A trial of an agent."""
    return Trial(
        trial_id="t",
        execution_id="x",
        ordinal=0,
        suite_id="s",
        case=Case.model_validate({"id": "c", "prompt": "p"} | case),
        case_index=0,
        arm=arm,
        runner=AGENT,
        model="m1",
        repeat=1,
        seed=7,
        limits=Limits(max_turns=3),
    )


def told(*offered: str) -> Trajectory:
    """What an engine tells that offered these skills."""
    return Trajectory(skills_offered=offered)


Play = Callable[[RunRequest, FakeWorkspace, Emit], Execution]


def done(_request: RunRequest, _workspace: FakeWorkspace, _emit: Emit) -> Execution:
    """An agent that does nothing."""
    return Execution(text="done", trajectory=told("other", "pdf"), duration_s=1.0)


def execute(
    one: Trial,
    play: Play = done,
    *,
    sandbox: Sandbox | None = None,
    setup: dict[str, Any] | None = None,
    **rules: Any,
) -> Execution:
    """Execute a trial on a stage of its own and prepare its grading."""

    async def run() -> Execution:
        engine = FakeEngine(play, name="agent")
        known = {"skill_folder": ".agents/skills"} | (setup or {})
        stages = AgentStages(
            {AGENT.digest: AgentSetup(engine, Traits(**known))},
            sandbox or FakeSandbox(),
            read_skill=lambda ref: (FileSpec(path="SKILL.md", text=ref.name), FileSpec(path="a/b.sh", text="x")),
            candidates={"s": CANDIDATES},
            **rules,
        )
        async with stages(one) as stage:
            execution = await stage.execute(one)
            if execution.failure is None:
                await stage.prepare_grading(one)
            return execution

    return asyncio.run(run())


def test_a_wrong_arm_makes_the_session_an_error() -> None:
    """Its answer is kept as a fact; a session that ran out of turns is looked at, too, because it would be a fail."""

    def unskilled(_request: RunRequest, _workspace: FakeWorkspace, _emit: Emit) -> Execution:
        return Execution(text="done", trajectory=told("other"))

    execution = execute(trial(), unskilled)
    assert execution.failure
    assert execution.failure.failure_class is FailureClass.ARM_INTEGRITY
    assert execution.text == "done"

    def exhausted(_request: RunRequest, _workspace: FakeWorkspace, _emit: Emit) -> Execution:
        return Execution(failure=Failure.of_agent(FailureClass.MAX_TURNS, "no more"), trajectory=told("other"))

    execution = execute(trial(), exhausted)
    assert execution.failure
    assert execution.failure.failure_class is FailureClass.ARM_INTEGRITY
    execution = execute(trial(WITHOUT), exhausted)
    assert execution.failure
    assert (execution.failure.failure_class, execution.arm_integrity) == (FailureClass.MAX_TURNS, VERIFIED)

    def broken(_request: RunRequest, _workspace: FakeWorkspace, _emit: Emit) -> Execution:
        return Execution(failure=Failure.of_agent(FailureClass.AUTH, "no key"), trajectory=told())

    execution = execute(trial(), broken)
    assert execution.failure
    assert (execution.failure.failure_class, execution.arm_integrity) == (FailureClass.AUTH, None)


def test_a_workspace_is_made_as_the_trial_says() -> None:
    """Files, then skills under their real names, then setup; the request says what the engine needs to know."""
    sandbox = FakeSandbox(_note)
    seen: list[RunRequest] = []

    def play(request: RunRequest, workspace: FakeWorkspace, _emit: Emit) -> Execution:
        seen.append(request)
        workspace.files["made"] = b"1"
        workspace.files.pop("old")
        workspace.files["changed"] = b"after"
        return Execution(trajectory=told("pdf", "other"))

    files = (FileSpec(path="old", text="x"), FileSpec(path="changed", text="before"))
    graders = (FileSpec(path="grader.py", text="secret"),)
    one = trial(files=files, setup=("touch ready",), grader_files=graders, env={"A": "1"})
    execution = execute(one, play, sandbox=sandbox)
    ((spec, workspace),) = sandbox.opened
    assert (spec.env, spec.network, spec.label) == ({"A": "1"}, False, "c")
    (request,) = seen
    assert (request.prompt, request.model, request.seed, request.limits.max_turns) == ("p", "m1", 7, 3)
    assert (request.cassette_key, request.recipe) == (one.cassette_key, one.recipe)
    assert [(skill.ref.name, skill.path) for skill in request.skills] == [
        ("pdf", ".agents/skills/pdf"),
        ("other", ".agents/skills/other"),
    ]
    assert workspace.files[".agents/skills/pdf/a/b.sh"] == b"x"
    assert workspace.files["seen by setup"] == b".agents/skills/other/SKILL.md .agents/skills/pdf/SKILL.md"
    changes = {change.path: change.change for change in execution.files}
    assert changes == {"made": "created", "old": "deleted", "changed": "modified"}
    assert workspace.files["grader.py"] == b"secret"


def _note(command: Command, workspace: FakeWorkspace) -> Finished:
    assert command.argv == ("sh", "-c", "touch ready")
    skills = sorted(path for path in workspace.files if path.endswith("SKILL.md"))
    workspace.files["seen by setup"] = " ".join(skills).encode()
    return OK


@pytest.mark.parametrize(("arm", "asked"), [(WITH, "p"), (WITHOUT, "the same without its name")])
def test_an_arm_may_be_asked_something_else(arm: Arm, asked: str) -> None:
    """What an agent is asked is the arm's prompt where the case has one for it."""
    prompts: list[str] = []

    def play(request: RunRequest, _workspace: FakeWorkspace, _emit: Emit) -> Execution:
        prompts.append(request.prompt)
        return Execution(text="done")

    execute(trial(arm, arm_prompts=(("without_skill", "the same without its name"),)), play)
    assert prompts == [asked]


def test_files_for_the_set_up_are_gone_before_the_agent_starts() -> None:
    """A set-up command finds them; the agent does not, nor their folders, and what the case gives it stays."""
    seen: list[str] = []

    async def play(request: RunRequest, workspace: Workspace, _emit: Emit) -> Execution:
        seen.extend(sorted(path.relative_to(workspace.root).as_posix() for path in workspace.root.rglob("*")))
        return Execution(text="done")

    class Real(FakeEngine):
        """Looks into a real workspace."""

        async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
            return await play(request, workspace, emit)

    one = trial(
        Arm(name="a", kind=ArmKind.AGENT),
        setup_files=(
            FileSpec(path="tools/sub dir/make.sh", text="cat tools/key data.csv > made"),
            FileSpec(path="tools/key", text="k"),
            FileSpec(path="data.csv", text="of the skill"),
        ),
        files=(FileSpec(path="data.csv", text="of the case"),),
        setup=("sh 'tools/sub dir/make.sh'",),
    )

    async def go() -> Execution:
        setup = AgentSetup(Real(done, name="agent"), Traits())
        async with AgentStages({AGENT.digest: setup}, TemporarySandbox(), read_skill=lambda ref: ())(one) as stage:
            return await stage.execute(one)

    execution = asyncio.run(go())
    assert execution.failure is None
    assert seen == ["data.csv", "made"]


def test_an_agent_that_cannot_use_skills_gets_none() -> None:
    """Nothing is installed for an engine without a folder for them."""
    sandbox = FakeSandbox()
    execute(trial(Arm(name="a", kind=ArmKind.AGENT)), sandbox=sandbox, setup={"skill_folder": None})
    ((_, workspace),) = sandbox.opened
    assert not workspace.files


@pytest.mark.parametrize(
    ("finished", "words"),
    [
        (Finished(3, None, b"", b"no such tool", 0.1), "setup command 'make': exit code 3: no such tool"),
        (Finished(0, None, b"", b"", 60.0, timed_out=True), "setup command 'make': timed out"),
        (Finished(None, 9, b"", b"", 0.1), "setup command 'make': signal 9"),
    ],
)
def test_a_setup_that_fails_is_nobodys_fail(finished: Finished, words: str) -> None:
    """The agent is not started; the trial is an error that names the command."""

    def never(_request: RunRequest, _workspace: FakeWorkspace, _emit: Emit) -> Execution:
        raise AssertionError("the agent ran")

    execution = execute(trial(setup=("make",)), never, sandbox=FakeSandbox(lambda _command, _workspace: finished))
    assert execution.failure
    assert (execution.failure.failure_class, execution.failure.blame) == (FailureClass.SETUP, Blame.INFRASTRUCTURE)
    assert execution.failure.message == words


def test_nothing_above_the_workspace_may_reach_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that the agent would read in both arms makes every session an error that says where it is."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(inner))

    class Real(FakeEngine):
        """Plays in a real workspace."""

        async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
            return Execution(text="ran")

    setup = AgentSetup(Real(done, name="agent"), Traits(inherited=("CLAUDE.md", ".claude/skills")))
    stages = AgentStages({AGENT.digest: setup}, TemporarySandbox(), read_skill=lambda ref: ())

    async def run() -> Execution:
        async with stages(trial()) as stage:
            return await stage.execute(trial())

    passing = tmp_path / "CLAUDE.md"

    async def run_beside() -> Execution:
        passing.touch()
        asyncio.get_running_loop().call_later(0.05, passing.unlink)
        return await run()

    assert asyncio.run(run()).text == "ran"
    assert asyncio.run(run_beside()).text == "ran", "it was there for a moment only, as another program may leave it"
    monkeypatch.setattr(agents, "PASSING_S", 0.2)
    (tmp_path / ".claude").mkdir()
    assert asyncio.run(run()).text == "ran"
    (tmp_path / "a" / ".claude" / "skills").mkdir(parents=True)
    execution = asyncio.run(run())
    assert execution.text is None
    assert execution.failure
    assert (execution.failure.failure_class, execution.failure.blame) == (FailureClass.SETUP, Blame.INFRASTRUCTURE)
    assert str(tmp_path / "a" / ".claude" / "skills") in execution.failure.message
    assert "TMPDIR" in execution.failure.message
    monkeypatch.setattr(agents, "PASSING_S", 86_400.0)
    assert asyncio.run(run()).failure == execution.failure, "what stays is not waited for again"
    shutil.rmtree(tmp_path / "a" / ".claude")
    assert asyncio.run(run()).text == "ran"


def test_hosts_and_routes_of_the_engine_reach_the_sandbox() -> None:
    """What must be reachable although there is no network; `keep` is passed on, too."""

    class Routed(FakeEngine):
        """Asks a model."""

        def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
            return (ModelRoute(name="api", base_url=f"https://{model}.test"),)

    sandbox = FakeSandbox()

    async def run() -> None:
        setup = AgentSetup(Routed(done, name="agent"), Traits(model_hosts=("login.test",)))
        stages = AgentStages({AGENT.digest: setup}, sandbox, read_skill=lambda ref: (), keep=True)
        async with stages(trial()):
            pass

    asyncio.run(run())
    ((spec, _),) = sandbox.opened
    assert [route.base_url for route in spec.routes] == ["https://m1.test"]
    assert (spec.hosts, spec.keep, spec.network) == (("login.test",), True, False)


class Recorder:
    """Remembers what it is given, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.recorded: list[Execution] = []

    async def record(self, trial: Trial, execution: Execution, workspace: Workspace) -> None:
        """Note it."""
        if self.error:
            raise self.error
        self.recorded.append(execution)


def test_a_session_is_recorded_with_its_integrity() -> None:
    """After everything is known of it, and before the graders' files come."""
    recorder = Recorder()
    execution = execute(trial(), recorder=recorder)
    assert recorder.recorded == [execution]
    assert execution.arm_integrity == VERIFIED


def test_a_session_that_cannot_be_recorded_is_an_error_whose_cost_is_known() -> None:
    """Or a budget would not see what was spent."""

    def paid(_request: RunRequest, _workspace: FakeWorkspace, _emit: Emit) -> Execution:
        return Execution(text="done", trajectory=told("pdf", "other"), usage=Usage(cost_usd=2.5))

    execution = execute(trial(), paid, recorder=Recorder(ValueError("'big' is too large")))
    assert execution.failure
    assert execution.failure.blame is Blame.INFRASTRUCTURE
    assert execution.failure.message == "the session cannot be recorded: 'big' is too large"
    assert execution.usage == Usage(cost_usd=2.5)


def test_contents_of_changed_files_are_kept() -> None:
    """What was and what is, of texts that are small enough; why not, of all others; skills are not read before."""
    big, fits = b"x" * (LARGEST + 1), b"y" * LARGEST
    first = {"gone.txt": "old\n", "kept.txt": "same", "note.txt": "one\n", "turned.txt": "text"}

    def play(_request: RunRequest, workspace: FakeWorkspace, _emit: Emit) -> Execution:
        del workspace.files["gone.txt"]
        new = {"note.txt": b"two\n", "turned.txt": b"\xff", "nul.txt": b"a\0b", "big.txt": big, "fits.txt": fits}
        workspace.files |= new | {".agents/skills/pdf/SKILL.md": b"spoilt"}
        return Execution(text="done", trajectory=told("pdf", "other"))

    case = trial().case.model_copy(
        update={"files": tuple(FileSpec(path=path, text=text) for path, text in first.items())}
    )
    execution = execute(trial().model_copy(update={"case": case}), play)
    assert {one.path: (one.was, one.text, one.left_out) for one in execution.files} == {
        ".agents/skills/pdf/SKILL.md": (None, "spoilt", ""),
        "big.txt": (None, None, "too large"),
        "fits.txt": (None, fits.decode(), ""),
        "gone.txt": ("old\n", None, ""),
        "note.txt": ("one\n", "two\n", ""),
        "nul.txt": (None, None, "binary"),
        "turned.txt": ("text", None, "binary"),
    }


def test_contents_are_kept_up_to_a_size_together(tmp_path: Path) -> None:
    """A result must not grow with what an agent writes; what cannot be read is said to be so."""
    workspace = FakeWorkspace()
    workspace.files = {f"{number:02}": b"x" * LARGEST for number in range(ROOM // LARGEST + 2)}
    found = asyncio.run(contents_of(workspace, sorted(workspace.files)))
    assert sum(len(text or "") for text, _ in found.values()) == ROOM
    assert [why for _, why in found.values()][-2:] == ["too large", "too large"]

    async def linked() -> dict[str, Content]:
        async with TemporarySandbox().open(SandboxSpec(label="x")) as real:
            (tmp_path / "secret").write_text("mine")
            (real.root / "link").symlink_to(tmp_path / "secret")
            return await contents_of(real, ["link", "absent"])

    assert asyncio.run(linked()) == {"link": (None, "unreadable"), "absent": (None, "unreadable")}


def test_of_many_files_only_some_are_read() -> None:
    """A folder of packages costs no more than 2,000 small files; the rest is listed, with a note of their number."""

    def play(_request: RunRequest, workspace: FakeWorkspace, _emit: Emit) -> Execution:
        workspace.files |= {f"{number:05}": b"x" for number in range(MOST + 500)}
        return Execution(text="done", trajectory=told("pdf", "other"))

    execution = execute(trial(), play)
    assert len(execution.files) == MOST + 500
    assert [(one.text, one.left_out) for one in execution.files[MOST - 1 : MOST + 1]] == [("x", ""), (None, "too many")]
    assert execution.notes == ("of 2,500 new and changed files the contents of 500 were not read",)


names = st.text("abc/", min_size=1, max_size=3)
snapshots = st.dictionaries(names, st.sampled_from("123"))


@given(snapshots, snapshots)
def test_every_change_is_found(before: dict[str, str], after: dict[str, str]) -> None:
    """Applied to what was before, the changes give what is after."""
    again = dict(before)
    for change in changed_files(before, after):
        assert again.get(change.path) != change.digest
        if change.change == "deleted":
            again.pop(change.path)
        else:
            assert (change.path in again) is (change.change == "modified")
            again[change.path] = change.digest or ""
    assert again == after


def test_a_skill_is_installed_whole_but_for_what_gives_answers_away(tmp_path: Path) -> None:
    """Its folders and modes are kept; a file or folder of the leak list is not there, nor is anything below it."""
    root = tmp_path / "pdf"
    for path in ("SKILL.md", "scripts/go.sh", "evals/evals.json", "evals/deep/er.txt", "tests/a", "expected.txt"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)
    (root / "evals-not").write_text("kept: only the beginning is alike")
    (root / "scripts" / "go.sh").chmod(0o755)
    ref = SkillRef(name="pdf", root=str(root), digest="d", leaves_out=("evals", "tests", "expected.txt", "gone"))
    files = files_of_skill(ref)
    assert {file.path: file.executable for file in files} == {
        "SKILL.md": False,
        "evals-not": False,
        "scripts/go.sh": True,
    }
    assert all(Path(file.source or "").read_text() for file in files)


def test_links_of_a_skill_are_not_installed(tmp_path: Path) -> None:
    """Neither to files nor to folders, outside or inside: they would carry something else into the workspace."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("mine")
    root = tmp_path / "pdf"
    (root / "real").mkdir(parents=True)
    (root / "SKILL.md").write_text("x")
    (root / "real" / "file").write_text("x")
    (root / "link-out").symlink_to(tmp_path / "secret" / "key")
    (root / "folder-out").symlink_to(tmp_path / "secret")
    (root / "link-in").symlink_to(root / "SKILL.md")
    (root / "folder-in").symlink_to(root / "real")
    (root / "dangling").symlink_to(root / "gone")
    files = files_of_skill(SkillRef(name="pdf", root=str(root), digest="d"))
    assert [file.path for file in files] == ["SKILL.md", "real/file"]


def test_a_skill_may_lie_behind_a_link(tmp_path: Path) -> None:
    """The user named it; only what is inside is looked at."""
    root = tmp_path / "pdf"
    root.mkdir()
    (root / "SKILL.md").write_text("x")
    (tmp_path / "alias").symlink_to(root)
    files = files_of_skill(SkillRef(name="pdf", root=str(tmp_path / "alias"), digest="d"))
    assert [file.path for file in files] == ["SKILL.md"]


def test_a_session_of_no_known_engine_is_a_fault_of_the_program() -> None:
    """Stages are opened for engines of the plan only."""

    async def run() -> None:
        stages = AgentStages({}, FakeSandbox(), read_skill=lambda ref: ())
        with pytest.raises(KeyError):
            async with stages(trial()):
                pass

    asyncio.run(run())


def test_a_sandbox_spec_has_no_network_by_itself() -> None:
    """What an agent's workspace differs in from that of a skill under direct call."""
    sandbox = FakeSandbox()
    execute(trial(), sandbox=sandbox)
    ((spec, _),) = sandbox.opened
    assert spec.model_dump(exclude_defaults=True, exclude={"label"}) == {"network": False, "room_mb": 64}
    assert SandboxSpec(label="x").network


def test_events_keep_the_moment_at_which_they_were_reported() -> None:
    """The engine's own events carry seconds of the session; one that it made up afterwards has none."""
    live = [TrajectoryEvent(kind=EventKind.TOOL_CALL), TrajectoryEvent(kind=EventKind.MESSAGE, text="done")]
    later = TrajectoryEvent(kind=EventKind.NOTICE)

    def play(_request: RunRequest, _workspace: FakeWorkspace, emit: Emit) -> Execution:
        for event in live:
            emit(event)
        return Execution(trajectory=Trajectory(events=(*live, later), skills_offered=("other", "pdf")))

    execution = execute(trial(), play)
    assert execution.trajectory is not None
    first, second, third = (event.at_s for event in execution.trajectory.events)
    assert first is not None
    assert second is not None
    assert 0 <= first <= second
    assert third is None


def test_a_recording_keeps_its_own_moments() -> None:
    """What is played back says when it happened, not when it was played."""
    event = TrajectoryEvent(kind=EventKind.MESSAGE, text="done", at_s=7.5)

    def play(_request: RunRequest, _workspace: FakeWorkspace, emit: Emit) -> Execution:
        emit(event)
        return Execution(trajectory=Trajectory(events=(event,), skills_offered=("other", "pdf")), replayed=True)

    execution = execute(trial(), play)
    assert execution.trajectory is not None
    assert execution.trajectory.events == (event,)
