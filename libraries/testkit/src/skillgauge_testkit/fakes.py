"""Stand-ins that do no I/O: what they are told to answer, they answer; what they were asked, they remember."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, Generic, TypeVar

from skillgauge.api import (
    CallRequest,
    Check,
    Command,
    Emit,
    Execution,
    FileSpec,
    Finished,
    Identity,
    ModelRoute,
    Problem,
    Running,
    RunRequest,
    SandboxReport,
    SandboxSpec,
    Score,
    ScoreContext,
    Target,
    Tier,
    TrajectoryEvent,
    Workspace,
    digest,
)

OK = Finished(exit_code=0, signal=None, stdout=b"", stderr=b"", duration_s=0.0)


class FakeRunning:
    """A process that has already ended."""

    def __init__(self, finished: Finished) -> None:
        self._finished = finished

    async def wait(self) -> Finished:
        """Return the end of the process."""
        return self._finished

    async def write(self, data: bytes) -> None:
        """Always refuses: nothing reads any more."""
        raise BrokenPipeError(f"{len(data)} bytes for a process that ended")

    async def lines(self) -> AsyncIterator[bytes]:
        """Lines of its output."""
        for line in self._finished.stdout.splitlines():
            yield line

    async def stop(self) -> Finished:
        """Return the end of the process."""
        return self._finished


class FakeWorkspace:
    """Files in a dict, processes as a function of their command."""

    root = Path("/fake")
    home = Path("/fake-home")
    tier = "fake/none"
    routes: Mapping[str, str] = {}

    def __init__(self, run: Callable[[Command, FakeWorkspace], Finished] | None = None) -> None:
        self.files: dict[str, bytes] = {}
        self.commands: list[Command] = []
        self._run = run or (lambda _command, _workspace: OK)

    async def start(self, command: Command) -> Running:
        """Remember the command and answer with what the function says."""
        self.commands.append(command)
        return FakeRunning(self._run(command, self))

    async def put(self, files: Sequence[FileSpec], *, anew: bool = False) -> Sequence[str]:
        """Keep the text of each file. Nothing is ever in the way of one."""
        for file in files:
            self.files[file.path] = (file.text or "").encode()
        return ()

    async def snapshot(self) -> Mapping[str, str]:
        """Digest of each file."""
        return {path: digest(content.decode("latin-1")) for path, content in self.files.items()}

    async def collect(self, path: str, limit: int) -> bytes:
        """Content of a file."""
        return self.files[path][:limit]


class FakeSandbox:
    """Hands out fake workspaces and keeps them for inspection."""

    def __init__(self, run: Callable[[Command, FakeWorkspace], Finished] | None = None) -> None:
        self._run = run
        self.opened: list[tuple[SandboxSpec, FakeWorkspace]] = []

    async def check(self) -> SandboxReport:
        """It confines nothing and says so."""
        return SandboxReport(Tier.NONE)

    @asynccontextmanager
    async def open(self, spec: SandboxSpec) -> AsyncIterator[Workspace]:
        """A new fake workspace."""
        workspace = FakeWorkspace(self._run)
        self.opened.append((spec, workspace))
        yield workspace


class FakeAdapter:
    """Answers calls with a function of the request and the workspace, or with queued executions."""

    def __init__(
        self,
        answer: Callable[[CallRequest, Target], Execution] | None = None,
        *,
        queue: Sequence[Execution] = (),
        name: str = "fake",
        remember: bool = True,
    ) -> None:
        self._answer = answer
        self._queue = list(queue)
        self._name = name
        self._remember = remember
        self.requests: list[CallRequest] = []
        self.closed = 0

    async def check(self) -> tuple[Problem, ...]:
        """Nothing is wrong."""
        return ()

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        """Nothing is wrong."""
        return ()

    def identity(self, target: Target) -> Identity:
        """Complete, because nothing else decides."""
        return Identity(name=self._name, version="1")

    async def open(self, target: Target, workspace: Workspace) -> FakeSession:
        """A session that shares this adapter's queue."""
        return FakeSession(self, target, workspace)

    def next_execution(self, request: CallRequest, target: Target) -> Execution:
        """Return the answer to the next request."""
        if self._remember:
            self.requests.append(request)
        if self._queue:
            return self._queue.pop(0)
        return self._answer(request, target) if self._answer else Execution(output=request.input, duration_s=0.001)


class FakeSession:
    """The session of a fake adapter."""

    def __init__(self, adapter: FakeAdapter, target: Target, workspace: Workspace) -> None:
        self._adapter = adapter
        self._target = target
        self.workspace = workspace

    async def call(self, request: CallRequest) -> Execution:
        """Answer as the adapter was told."""
        return self._adapter.next_execution(request, self._target)

    async def close(self) -> None:
        """Count the closing."""
        self._adapter.closed += 1


class FakeEngine:
    """Plays a script instead of an agent."""

    def __init__(
        self,
        play: Callable[[RunRequest, FakeWorkspace, Emit], Execution],
        *,
        name: str = "fake-agent",
    ) -> None:
        self._play = play
        self._name = name
        self.requests: list[RunRequest] = []

    async def check(self) -> tuple[Problem, ...]:
        """Nothing is wrong."""
        return ()

    def identity(self, model: str | None) -> Identity:
        """Complete, because nothing else decides."""
        return Identity(name=self._name, version="1", settings={"model": model})

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """It asks no model."""
        return ()

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """Play the script."""
        if not isinstance(workspace, FakeWorkspace):
            raise TypeError("a fake engine needs a fake workspace")
        self.requests.append(request)
        return self._play(request, workspace, emit)


class FakeScorer:
    """Scores with a function of the context, which may be a coroutine function."""

    version = "1"

    def __init__(self, decide: Callable[[ScoreContext], Score | Awaitable[Score]]) -> None:
        self._decide = decide

    async def score(self, context: ScoreContext) -> Score:
        """Decide."""
        score = self._decide(context)
        return score if isinstance(score, Score) else await score


B = TypeVar("B")


class FakeScorers(Generic[B]):
    """The scorers of a run: what a function has for each check. Remembers whether they were opened and closed."""

    def __init__(self, bind: Callable[[Check], B]) -> None:
        self._bind = bind
        self.opened = self.closed = 0

    async def open(self) -> None:
        """Count."""
        self.opened += 1

    async def close(self) -> None:
        """Count."""
        self.closed += 1

    def of(self, check: Check) -> AbstractAsyncContextManager[B]:
        """Return the scorers that the function makes."""
        return nullcontext(self._bind(check))

    def label_of(self, check: Check) -> str:
        """Name and version."""
        bound: Any = self._bind(check)
        return f"{bound.name} {bound.scorer.version}"


def ignore(event: TrajectoryEvent) -> None:
    """An `Emit` that drops every event."""
