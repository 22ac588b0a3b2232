"""An execution is kept before it is graded, and graded later from what was kept."""

from __future__ import annotations

import asyncio
import io
import os
import tarfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from skillgauge.contract.sandboxes import Command, Finished, SandboxSpec, Workspace
from skillgauge.plugins.index import PluginIndex
from skillgauge.plugins.registry import Registry
from skillgauge.run.budget import Budget, BudgetLimits
from skillgauge.run.grading import Grading
from skillgauge.run.keeping import executions, workspaces
from skillgauge.run.keeping.memory import MemoryLog
from skillgauge.run.keeping.shelf import Shelf
from skillgauge.run.ledger import Ledger
from skillgauge.run.scorers import Scorers
from skillgauge.run.signed_store import sign
from skillgauge.run.stored_run import StoreKey
from skillgauge.run.trials import RetryPolicy, TrialRunner
from skillgauge.types.arms import Arm, ArmKind
from skillgauge.types.inputs import FileSpec
from skillgauge.types.kept import KeptExecution
from skillgauge.types.results.runs import RunInfo, RunState
from skillgauge.types.results.trials import GivenUp, TrialResult, Unfinished
from skillgauge.types.score import Score
from skillgauge.types.trial import Blame, Execution, Failure, FailureClass, Trial
from skillgauge.types.usage import Usage
from skillgauge_documents.redaction import Redactor
from skillgauge_processes import DirectoryWorkspace
from skillgauge_testkit.contract import samples
from skillgauge_testkit.fakes import FakeWorkspace

AGENT = Arm(name="with", kind=ArmKind.AGENT)
USAGE = Usage(total_tokens=100, cost_usd=1.0)


def packing(command: Command, workspace: FakeWorkspace) -> Finished:
    """Do what `tar` does in a workspace, with files alone."""
    if "-cf" in command.argv[-1]:
        written = io.BytesIO()
        with tarfile.open(fileobj=written, mode="w") as tar:
            for path, content in workspace.files.items():
                member = tarfile.TarInfo(f"./{path}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        text, limit = written.getvalue(), command.output_bytes
        return Finished(0, None, text[:limit], b"", 0.1, stdout_dropped=max(0, len(text) - limit))
    if "find" in command.argv[-1]:
        workspace.files.clear()
    with tarfile.open(fileobj=io.BytesIO(command.stdin)) as tar:
        for member in tar:
            stream = tar.extractfile(member)
            assert stream
            workspace.files[member.name] = stream.read()
    return Finished(0, None, b"", b"", 0.1)


@dataclass
class Stage:
    """An agent that writes files and says something, and how often it was asked."""

    execution: Execution = field(default_factory=lambda: Execution(text="done", usage=USAGE))
    files: dict[str, bytes] = field(default_factory=lambda: {"out.txt": b"written", "bin": b"\xff\0"})
    executed: int = 0
    workspaces: list[FakeWorkspace] = field(default_factory=list)
    scores: tuple[Score, ...] = ()
    make: Callable[[], FakeWorkspace] = lambda: FakeWorkspace(packing)

    @asynccontextmanager
    async def open(self, _trial: Trial) -> AsyncIterator[Any]:
        """A fresh workspace."""
        self.workspaces.append(self.make())
        yield self

    @property
    def workspace(self) -> Workspace:
        """The last one."""
        return self.workspaces[-1]

    async def furnish(self, _trial: Trial) -> None:
        """A file of the case."""
        self.workspaces[-1].files["given.txt"] = b"given"

    async def execute(self, trial: Trial) -> Execution:
        """Work."""
        await self.furnish(trial)
        self.executed += 1
        self.workspaces[-1].files.update(self.files)
        return self.execution

    async def prepare_grading(self, _trial: Trial) -> tuple[str, ...]:
        """Nothing."""
        return ()


@dataclass
class Memory:
    """A keeper."""

    executions: dict[str, KeptExecution] = field(default_factory=dict)

    async def keep(self, kept: KeptExecution) -> None:
        """Remember."""
        self.executions[kept.trial_id] = kept

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """Recall."""
        return self.executions.get(trial.trial_id)


def run_once(stage: Stage, keeper: Memory, clean: Callable[[Any], Any] | None = None, **changes: Any) -> TrialResult:
    """One trial of an agent that is paid for."""
    trial = samples.trial(0, **({"arm": AGENT, "paid": True} | changes))
    stages = dict.fromkeys(ArmKind, stage.open)
    runner = TrialRunner(stages, Grading(Scorers(Registry(PluginIndex()))), RetryPolicy(0), clean=clean, keeper=keeper)
    return asyncio.run(runner(trial))


def test_an_execution_is_kept_with_its_files_and_graded_in_a_fresh_workspace() -> None:
    """The second attempt asks no engine, and has the files of the first and no other."""
    stage, keeper = Stage(), Memory()
    run_once(stage, keeper)
    (kept,) = keeper.executions.values()
    assert {file.path for file in kept.files} == {"out.txt", "bin", "given.txt"}
    result = run_once(stage, keeper)
    assert (stage.executed, result.execution.text, result.started_at) == (1, "done", kept.started_at)
    assert stage.workspaces[1].files == stage.workspaces[0].files


@pytest.mark.parametrize(
    ("changes", "execution", "is_kept"),
    [
        ({}, Execution(text="done"), True),
        ({}, Execution(failure=Failure.of_spoiling("spoilt")), True),
        ({}, Execution(failure=Failure.of_agent(FailureClass.MAX_TURNS, "too many")), True),
        ({}, Execution(failure=Failure.of_agent(FailureClass.NETWORK, "away")), False),
        ({}, Execution(text="done", replayed=True), False),
        ({"paid": False}, Execution(text="done"), False),
        ({"arm": Arm(name="direct", kind=ArmKind.DIRECT)}, Execution(text="done"), False),
    ],
)
def test_what_is_kept(changes: dict[str, Any], execution: Execution, is_kept: bool) -> None:
    """Only what was paid for and came to its end."""
    keeper = Memory()
    run_once(Stage(execution), keeper, **changes)
    assert bool(keeper.executions) is is_kept


def test_secrets_are_not_kept() -> None:
    """Neither in what the agent said nor in what it wrote; the result says that nothing was kept."""
    for stage in (Stage(Execution(text="it is hunter2")), Stage(files={"a": b"it is hunter2"})):
        keeper = Memory()

        def clean(value: Any) -> Any:
            if isinstance(value, tuple):
                hidden = any(b"hunter2" in one for one in value[2:])
                return () if hidden or "hunter2" in (value[0].text or "") else value
            return value

        result = run_once(stage, keeper, clean)
        assert not keeper.executions
        assert "it holds a secret" in result.execution.notes[-1]


def test_what_exceeds_the_bounds_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes and files are bounded; the trial is graded all the same."""
    monkeypatch.setattr(workspaces, "ROOM", 10)
    keeper = Memory()
    result = run_once(Stage(files={"big": b"x" * 11}), keeper)
    assert "its workspace holds more than" in result.execution.notes[-1]
    monkeypatch.setattr(workspaces, "MOST", 2)
    result = run_once(Stage(files={"a": b"", "b": b""}), keeper)
    assert "holds 3 files, more than 2" in result.execution.notes[-1]
    assert not keeper.executions


def test_a_workspace_that_became_another_one_is_not_graded() -> None:
    """It is executed again, in a workspace of its own."""
    stage, keeper = Stage(), Memory()
    run_once(stage, keeper)
    (kept,) = keeper.executions.values()
    for spoilt in (kept.model_copy(update={"workspace": "0"}), kept.model_copy(update={"contents": {"0": "eA=="}})):
        executed = stage.executed
        keeper.executions[kept.trial_id] = spoilt
        assert run_once(stage, keeper).execution.text == "done"
        assert stage.executed == executed + 1


def test_paths_of_the_workspace_become_those_of_the_new_one() -> None:
    """In texts of files and of the execution; what is no text stays as it is."""
    stage, keeper = Stage(Execution(text="/fake/out.txt"), {"a": b"/fake/a", "b": b"/fake\xff"}), Memory()
    run_once(stage, keeper)
    (kept,) = keeper.executions.values()
    keeper.executions[kept.trial_id] = kept.model_copy(update={"places": ("/fake", "/elsewhere")})

    class Moved(FakeWorkspace):
        root = FakeWorkspace.root / "moved"

    moved = Moved(packing)
    stage.make = lambda: moved
    result = run_once(stage, keeper)
    assert result.execution.text == "/fake/moved/out.txt"
    assert (moved.files["a"], moved.files["b"]) == (b"/fake/moved/a", b"/fake\xff")


async def kept_of(script: str, execution: Execution, look: Callable[[DirectoryWorkspace], Any]) -> tuple[Any, Any]:
    """Look at a workspace with a file after a script, if there is one, and at that in which it is graded."""
    keeper, trial, seen = Memory(), samples.trial(0, arm=AGENT, paid=True), list[Any]()
    for _ in range(2):
        async with DirectoryWorkspace(SandboxSpec(label="x"), dict(os.environ), tier="fake/none") as workspace:
            stage = Furnished(workspace)
            if seen:
                kept = await executions.laid_out(keeper.executions[trial.trial_id], stage, trial)
                assert kept
                execution = kept.execution
            else:
                await stage.furnish(trial)
                if script:
                    done = await (await workspace.start(Command(argv=("sh", "-c", script)))).wait()
                    execution = execution.model_copy(update={"text": done.stdout.decode()})
                await executions.keep(keeper, trial, execution, stage, 0.0, None)
            seen.append((look(workspace), execution.text))
    return seen[0], seen[1]


@dataclass
class Furnished:
    """A stage with one file."""

    workspace: DirectoryWorkspace
    scores: tuple[Score, ...] = ()

    async def furnish(self, _trial: Trial) -> None:
        """Put it."""
        await self.workspace.put([FileSpec(path="sub/run.sh", text="x", executable=True)])


def test_a_session_without_a_process_is_kept_without_folders() -> None:
    """No folder is made for the sake of a kill where no process and no reader needs one."""
    first, second = asyncio.run(kept_of("", Execution(text="said"), lambda workspace: workspace.has_folders))
    assert (first, second[1]) == ((False, "said"), "said")


def test_half_of_a_workspace_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal contents are kept once and count as often as they are there: what comes after the limit was not read."""

    async def noted() -> str:
        async with DirectoryWorkspace(SandboxSpec(label="x"), dict(os.environ), tier="fake/none") as workspace:
            await workspace.put([FileSpec(path=name, text="123456") for name in ("a", "b", "c")])
            assert workspace.root.exists()  # from then on they are on disk
            trial, keeper = samples.trial(0, arm=AGENT, paid=True), Memory()
            execution = await executions.keep(keeper, trial, Execution(), Furnished(workspace), 0.0, None)
            assert not keeper.executions
            return execution.notes[-1]

    monkeypatch.setattr(workspaces, "ROOM", 10)
    assert "its workspace holds more than" in asyncio.run(noted())


def test_what_a_process_left_is_graded_elsewhere_as_it_was() -> None:
    """Links, modes and empty folders, in a workspace with other paths, which what the agent said names then."""

    def look(workspace: DirectoryWorkspace) -> list[tuple[str, str, int]]:
        return [
            (
                str(path.relative_to(workspace.root)),
                str(path.readlink()) if path.is_symlink() else "",
                path.lstat().st_mode,
            )
            for path in sorted(workspace.root.rglob("*"))
        ]

    script = "mkdir -m 711 empty; ln -s sub link; chmod 640 sub/run.sh; pwd -P"
    first, second = asyncio.run(kept_of(script, Execution(), look))
    assert first[0] == second[0]
    assert {name for name, *_ in first[0]} == {"empty", "link", "sub", "sub/run.sh"}
    assert first[1] != second[1]
    assert second[1].endswith("/work\n")


def _unfinished(claim: int, *attempts: GivenUp) -> Unfinished:
    return Unfinished(trial_id=samples.trial(0).trial_id, ordinal=0, claim=claim, attempts=attempts)


def _cut_off(*judges: Usage | None) -> GivenUp:
    failure = Failure(failure_class=FailureClass.KILLED, blame=Blame.INFRASTRUCTURE, message="killed")
    return GivenUp(failure=failure, usage=USAGE, wait_s=0.0, judges=judges, is_cut_off=True)


def test_a_kept_execution_counts_once() -> None:
    """By its cut-off attempt until its result is there, then by the result; judges that were asked in vain stay."""

    async def resumed() -> tuple[TrialResult, list[Unfinished]]:
        log = MemoryLog(samples.head(), RunInfo(run_id="r", state=RunState.RUNNING, started_at=0.0))
        trial = samples.trial(0, arm=AGENT, paid=True)
        first = Ledger(log, concurrency=1)
        _ = [one async for one in first.pending([trial])]
        first.spent(trial, (_cut_off(Usage(total_tokens=1)),))
        await first.keep(samples.kept(0, "kept", execution=Execution(text="kept", usage=USAGE), judges=1))
        first.spent(trial, (_cut_off(Usage(total_tokens=1), Usage(total_tokens=2)),))
        await first.close()
        counted = list(log.unfinished())
        second = Ledger(log, concurrency=1)
        second._shelf = first._shelf  # a log of this process keeps none
        _ = [one async for one in second.pending([trial])]
        kept = await second.kept(trial)
        assert kept
        result = samples.result(0, execution=kept.execution, started_at=kept.started_at)
        return second.whole(result), counted

    result, counted = asyncio.run(resumed())
    assert [one.attempts[0].usage for one in counted] == [USAGE]
    assert [one.usages for one in result.given_up] == [(Usage(total_tokens=2),)]
    assert sum(usage.total_tokens or 0 for usage in result.usages if usage) == 102


def test_an_execution_that_outlived_its_process_counts_once() -> None:
    """What is known of the session in its claim is replaced by all that it used, until the result names it."""

    async def resumed(keeps: int) -> tuple[TrialResult, list[Unfinished]]:
        log = MemoryLog(samples.head(), RunInfo(run_id="r", state=RunState.RUNNING, started_at=0.0))
        trial = samples.trial(0, arm=AGENT, paid=True)
        first = Ledger(log, concurrency=1)
        _ = [one async for one in first.pending([trial])]
        partly = _cut_off().model_copy(update={"usage": Usage(total_tokens=1)})
        first.spent(trial, (_cut_off(), partly))
        await first.close()
        second = Ledger(log, concurrency=1)
        _ = [one async for one in second.pending([trial])]
        for _number in range(keeps):  # again, where a process dies before it has taken note
            await second.keep(samples.kept(0, "kept", execution=Execution(text="kept", usage=USAGE)))
        counted = list(log.unfinished())
        kept = await second.kept(trial)
        assert kept
        result = samples.result(0, execution=kept.execution, started_at=kept.started_at)
        return second.whole(result), counted

    for keeps in (1, 2):
        result, counted = asyncio.run(resumed(keeps))
        assert [[attempt.usage for attempt in one.attempts] for one in counted] == [[USAGE, USAGE]]
        assert [one.usages for one in result.given_up] == [(USAGE,), ()]


def test_no_secret_of_an_attempt_is_stored_with_what_is_kept() -> None:
    """What earlier attempts of the same claim have used is written with an execution that is kept, secrets left out."""

    async def kept() -> list[Unfinished]:
        log = MemoryLog(samples.head(), RunInfo(run_id="r", state=RunState.RUNNING, started_at=0.0))
        trial = samples.trial(0, arm=AGENT, paid=True)
        ledger = Ledger(log, concurrency=1, clean=redactor.redact)
        _ = [one async for one in ledger.pending([trial])]
        failed = GivenUp(failure=Failure.of_agent(FailureClass.OVERLOADED, "busy: sk-a-secret"), usage=USAGE, wait_s=0)
        ledger.spent(trial, (failed, _cut_off()))
        await ledger.keep(samples.kept(0, "kept", execution=Execution(text="kept", usage=USAGE)))
        stored = list(log.unfinished())
        await ledger.close()
        return stored

    redactor = Redactor()
    redactor.register("KEY", "sk-a-secret")
    (unfinished,) = asyncio.run(kept())
    assert unfinished.attempts[0].failure.message == "busy: [redacted:KEY]"


def test_budget_takes_back_what_the_result_names() -> None:
    """The usage of an earlier command is not counted again with the result of its trial."""

    async def spent() -> tuple[bool, bool]:
        limits = BudgetLimits(tokens=350)
        budget = Budget(limits, unfinished=[_unfinished(1, _cut_off())])
        trial = samples.trial(0, paid=True)
        assert await budget.admit(trial)
        budget.settle(samples.result(0, execution=Execution(usage=USAGE)))
        others = samples.trial(1, paid=True), samples.trial(2, paid=True), samples.trial(3, paid=True)
        admitted = [await budget.admit(others[0]), await budget.admit(others[1])]
        return all(admitted), await _admits(budget, others[2])

    async def _admits(budget: Budget, trial: Trial) -> bool:
        budget.settle(samples.result(1, execution=Execution(usage=USAGE)))
        budget.settle(samples.result(2, execution=Execution(usage=USAGE)))
        return await budget.admit(trial)

    assert asyncio.run(asyncio.wait_for(spent(), 10.0)) == (True, False)


class KeepingLog(MemoryLog):
    """A log that keeps."""

    def __init__(self) -> None:
        super().__init__(samples.head(), RunInfo(run_id="r", state=RunState.RUNNING, started_at=0.0))
        self.memory = Memory()
        self.keep, self.kept = self.memory.keep, self.memory.kept


class KeepingStore:
    """A store with one run."""

    durable = True

    def __init__(self) -> None:
        self.log = KeepingLog()

    async def begin(self, head: Any, *, fresh: bool) -> KeepingLog:
        """The run."""
        return self.log

    def scan(self, query: Any) -> Any:
        """Nothing."""
        return iter(())

    async def close(self) -> None:
        """Nothing."""


class Key:
    """One key."""

    def find(self) -> StoreKey:
        """It."""
        return StoreKey(b"k" * 32)

    make = find


def test_only_what_this_user_signed_counts() -> None:
    """A kept execution that was changed in the store is as if it was not there."""

    async def tried() -> tuple[KeptExecution | None, KeptExecution | None]:
        store = KeepingStore()
        log: Any = await sign(store, Key(), lambda _problem: None).begin(samples.head(), fresh=False)
        kept, trial = samples.kept(0, "mine"), samples.trial(0)
        await Shelf(log).keep(kept)
        mine = await log.kept(trial)
        stored = store.log.memory.executions[kept.trial_id]
        assert stored.signature
        changed = stored.execution.model_copy(update={"text": "another's"})
        store.log.memory.executions[kept.trial_id] = stored.model_copy(update={"execution": changed})
        return mine, await log.kept(trial)

    assert asyncio.run(tried()) == (samples.kept(0, "mine"), None)
