"""What a plugin's objects must do, one small protocol per kind.

Hooks (`skillgauge.hooks`) only announce providers; behaviour lives here. Methods that do I/O are async. A
method that is given bad options or finds its surroundings unfit says so in `check`, before anything runs; during
a trial it returns facts and never raises for a failed execution. Values are the frozen ones of
`skillgauge.types`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from .errors import Problem
from .types.frozen import EMPTY, Frozen, Json, JsonObject
from .types.result import Figure, GroupSummary, RunInfo, RunState, RunView, Score, Summary, TrialResult
from .types.suite import Arm, Case, Check, FileSpec, Limits, SkillRef, Suite, Target
from .types.trial import Execution, Identity, PlanHead, TrajectoryEvent, Trial, Usage

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
OptionsT = TypeVar("OptionsT", bound=BaseModel)


# --- announcing -------------------------------------------------------------------------------------------


class NoOptions(Frozen):
    """Options model of a plugin that has none."""


class Fact(StrEnum):
    """Things about an agent's session that an engine may or may not be able to tell."""

    OFFERED = "offered"
    FIRED = "fired"
    BLOCKS = "blocks"
    USAGE = "usage"


class Traits(Frozen):
    """What an engine or judge needs and can, known before it is made."""

    secrets: tuple[str, ...] = ()
    """Names of environment variables, any one of which authenticates it."""
    login_files: tuple[str, ...] = ()
    """Credential files of an existing login, relative to the user's home."""
    model_hosts: tuple[str, ...] = ()
    """Hosts that the model relay must let through."""
    skill_folder: str | None = None
    """Where the agent looks for skills, relative to its workspace."""
    model_patterns: tuple[str, ...] = ()
    """`fnmatch` patterns of the model ids it serves, so that a bare model id can pick it."""
    tells: frozenset[Fact] = frozenset()
    """Facts it reports; the others are unknown, never "no"."""
    paid: bool = False
    """Whether a call costs money."""


@dataclass(frozen=True)
class Provider(Generic[T]):
    """What a hook returns: a name, how to make the object, and what a user should know before that."""

    name: str
    """As the user types it; equal to the entry point's name, or to the one an alias stands for."""
    factory: Callable[[BaseModel], T]
    """Makes the object from validated options. Heavy imports belong inside it."""
    summary: str
    """One line for `plugins list`."""
    options: type[BaseModel] = NoOptions
    """Model of its options; unknown keys must be refused."""
    traits: Traits = field(default_factory=Traits)


# --- formats ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """A format recognises a path."""

    dialect: str = ""
    """Which of its dialects, for people."""
    reason: str = ""
    """What it saw, for the message that reports two claims."""


class LoadRequest(Frozen):
    """What to load and how."""

    paths: tuple[str, ...]
    """Absolute paths that this format claimed, in the user's order; one suite is made of them."""
    cwd: str
    """Folder that relative paths in options are relative to."""
    options: JsonObject = EMPTY
    """Values of the format's load options, by option name; unset ones are absent."""
    searched: tuple[str, ...] = ()
    """Further paths, found by searching a folder: a bad one among them is reported and passed over."""


@dataclass(frozen=True)
class Artifact:
    """A file to be written by the kernel."""

    chunks: Iterable[bytes]
    """Content, possibly made while it is written."""
    path: str = ""
    """Relative path inside the reporter's own folder; empty for the reporter's one report file."""


@dataclass(frozen=True)
class Dumped:
    """A suite in a format's own files."""

    artifacts: tuple[tuple[str, bytes], ...]
    """Relative path and content of each file."""
    losses: tuple[Problem, ...] = ()
    """What the format cannot express, as warnings."""


@dataclass(frozen=True)
class LoadOption:
    """Marks a field of a format's options model as an option of the commands that load suites.

    Use it as `Annotated[tuple[str, ...], LoadOption("--skills", paths=True)]`. The field's description is its help,
    its type decides how the words are read, and an unset option is absent from `LoadRequest.options`.
    """

    flag: str
    metavar: str = "TEXT"
    several_words: bool = False
    """Takes all words up to the next option."""
    paths: bool = False
    """Its words are paths to load with this format, in addition to the positional ones."""


@dataclass(frozen=True)
class Loaded:
    """Suites from one load request, and the bad files beside them that a search passed over."""

    suites: tuple[Suite, ...]
    problems: tuple[Problem, ...] = ()


class SuiteFormat(Protocol):
    """Read and write one kind of suite files."""

    def claim(self, path: Path) -> Claim | None:
        """Look inside a file or folder and say whether it is this format's. Never raises, never writes."""

    def load(self, request: LoadRequest) -> Loaded:
        """Read everything and check it.

        Raises:
            SuiteError: with every problem of every file.
        """

    def dump(self, suite: Suite) -> Dumped:
        """Write a suite in this format, saying what is lost."""

    def figures(self, group: GroupSummary, parameters: JsonObject) -> tuple[Figure, ...]:
        """The format's own numbers for a group of trials; `parameters` are those of its suite."""


# --- workspaces and processes -----------------------------------------------------------------------------


class Command(Frozen):
    """A process to start in a workspace."""

    argv: tuple[str, ...]
    cwd: str | None = None
    """Absolute, or relative to the workspace root; default: the workspace root."""
    env: JsonObject = EMPTY
    """Added to the allow-listed environment, name to string."""
    stdin: bytes = b""
    """Written and then closed, unless the process is interactive."""
    interactive: bool = False
    """Keep stdin open for `write` and hand out stdout by `lines`."""
    timeout_s: float | None = None
    """Wall-clock seconds until the whole process group is killed."""
    output_bytes: int = 5 * 1024 * 1024
    """Bytes kept of each stream; the process may write more, which is dropped."""
    cpu_s: int | None = None
    file_bytes: int | None = None
    """Largest file it may write."""


@dataclass(frozen=True)
class Finished:
    """How a process ended."""

    exit_code: int | None
    """`None` if a signal ended it."""
    signal: int | None
    stdout: bytes
    stderr: bytes
    duration_s: float
    timed_out: bool = False
    stdout_dropped: int = 0
    """Bytes beyond the limit."""
    stderr_dropped: int = 0
    left_behind: bool = False
    """Whether processes of its group were still alive and had to be killed."""


class Running(Protocol):
    """A process that was started."""

    async def wait(self) -> Finished:
        """Wait for its end. Cancelling the caller kills the whole process group."""

    async def write(self, data: bytes) -> None:
        """Send bytes to an interactive process. Raises `BrokenPipeError` if it no longer reads."""

    def lines(self) -> AsyncIterator[bytes]:
        """Lines of an interactive process's stdout, without their ends, until it closes it."""

    async def stop(self) -> Finished:
        """Kill the whole process group and report."""


class Workspace(Protocol):
    """A place where one target or one trial runs. Every process starts here, so limits live here once."""

    @property
    def root(self) -> Path:
        """The folder that processes see as their own."""

    @property
    def tier(self) -> str:
        """Sandbox and tier, for example `local/none`."""

    async def start(self, command: Command) -> Running:
        """Start a process. Raises `LaunchError` if it cannot be started."""

    async def put(self, files: Sequence[FileSpec]) -> None:
        """Write files below the root. Raises `ValueError` for a path that leaves it."""

    async def snapshot(self) -> Mapping[str, str]:
        """Relative path to content digest of every file below the root."""

    async def collect(self, path: str, limit: int) -> bytes:
        """Read a file below the root, at most `limit` bytes, following no link out of it."""


class Tier(StrEnum):
    """How strongly a sandbox confines."""

    STRICT = "strict"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True)
class SandboxReport:
    """What a sandbox can do on this machine, found by trying."""

    tier: Tier
    problems: tuple[Problem, ...] = ()
    """Errors if it cannot be used at all."""


class SandboxSpec(Frozen):
    """What a workspace is for."""

    label: str
    """For names of temporary folders and messages."""
    readable: tuple[str, ...] = ()
    """Absolute paths outside that its processes must be able to read."""
    writable: tuple[str, ...] = ()
    pass_env: tuple[str, ...] = ()
    """Names of variables that its processes may see beyond the allow list."""
    env: JsonObject = EMPTY
    network: bool = True
    keep: bool = False
    """Leave the folders behind for inspection."""


class Sandbox(Protocol):
    """Make workspaces."""

    async def check(self) -> SandboxReport:
        """Try it once by running something."""

    def open(self, spec: SandboxSpec) -> AbstractAsyncContextManager[Workspace]:
        """A fresh workspace, removed at the end together with every process started in it."""


# --- executing --------------------------------------------------------------------------------------------


class CallRequest(Frozen):
    """One direct call of a target."""

    trial_id: str
    case_id: str
    input: Json
    limits: Limits
    repeat: int = 1
    seed: int = 0
    env: JsonObject = EMPTY


class Session(Protocol):
    """An open connection to a target; calls may overlap."""

    async def call(self, request: CallRequest) -> Execution:
        """Call the target once and report what happened, failures included. Stops when cancelled."""

    async def close(self) -> None:
        """Free what the session holds."""


class Adapter(Protocol):
    """Call a skill directly."""

    async def check(self) -> tuple[Problem, ...]:
        """What keeps it from working here, before any trial."""

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        """What is wrong with a target's entrypoint or config; no I/O beyond looking at local files."""

    def identity(self, target: Target) -> Identity:
        """What calls depend on beyond the target's own digest."""

    async def open(self, target: Target, workspace: Workspace) -> Session:
        """Connect. A target that cannot be reached is found out by `call`, not here."""


class InstalledSkill(Frozen):
    """A skill as it lies in an agent's workspace."""

    ref: SkillRef
    path: str
    """Relative to the workspace root."""


class RunRequest(Frozen):
    """One agent session."""

    trial_id: str
    case_id: str
    prompt: str
    model: str | None
    skills: tuple[InstalledSkill, ...] = ()
    limits: Limits
    env: JsonObject = EMPTY
    network: bool = False
    """Whether tools of the agent may use the network."""
    seed: int = 0


Emit = Callable[[TrajectoryEvent], None]
"""Called by an engine for each event as it happens; must not block."""


class Engine(Protocol):
    """Drive an agent that may use the skills in its workspace."""

    async def check(self) -> tuple[Problem, ...]:
        """What keeps it from working here: program absent, key absent, version unknown."""

    def identity(self, model: str | None) -> Identity:
        """What sessions depend on."""

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """Run one session to its end and report facts; never judge them. Stops when cancelled."""


# --- grading ----------------------------------------------------------------------------------------------


class JudgeRequest(Frozen):
    """A question to a model that grades."""

    system: str
    user: str
    model: str | None = None
    temperature: float | None = None
    max_output_tokens: int = 1024


class JudgeReply(Frozen):
    """Its answer, or why there is none."""

    text: str | None
    model: str | None = None
    usage: Usage | None = None
    error: str | None = None
    retryable: bool = False
    retry_after_s: float | None = None


class Judge(Protocol):
    """Model access for scorers."""

    async def check(self) -> tuple[Problem, ...]:
        """What keeps it from working here."""

    def identity(self, model: str | None) -> Identity:
        """What its answers depend on."""

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Ask once."""


@dataclass(frozen=True)
class ScoreContext:
    """All that a scorer may look at. New fields may be added; none will be taken away."""

    check: Check
    case: Case
    execution: Execution
    arm: Arm
    target: Target | None = None
    workspace: Workspace | None = None
    """Still open, with the graders' files in place; `None` when grading a stored execution again."""
    judge: Judge | None = None
    """Set if the run has one."""


class Scorer(Protocol):
    """Judge one check against one execution. Stateless; may run concurrently."""

    version: str
    """Bump it when the same input could score differently."""

    async def score(self, context: ScoreContext) -> Score:
        """The verdict on this check. An exception is recorded as ungraded, never as a failed check."""


# --- keeping and telling ----------------------------------------------------------------------------------


class ResultOrder(StrEnum):
    """Order in which stored results are read."""

    PLAN = "plan"
    CASE = "case"
    """By suite, target, arm, runner, model, then case, then repeat: one case's repeats lie together."""


@dataclass(frozen=True)
class Claimed:
    """Answer to a claim."""

    done: frozenset[str]
    """Trial ids that already have a committed result in this run."""
    attempts: Mapping[str, int]
    """For the other ids: how often each has now been claimed, this time included."""


class RunLog(Protocol):
    """The ledger of one run."""

    @property
    def info(self) -> RunInfo:
        """Run id, start, and whether this run resumes an unfinished one."""

    async def claim(self, trials: Sequence[Trial]) -> Claimed:
        """Record that these trials are about to start."""

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        """Keep results; they survive the death of the process when this returns. `paid`: power loss too.

        A result that was committed before is replaced, so that a caller who was cancelled may commit again.
        """

    def results(self, order: ResultOrder) -> Iterator[TrialResult]:
        """Committed results of this run. Blocks; call it from a worker thread."""

    async def finish(self, state: RunState, summary: Summary | None) -> RunInfo:
        """End the run. A run that is not `finished` can be resumed."""


class RunQuery(Frozen):
    """Which stored runs to read; empty fields match all."""

    run_ids: tuple[str, ...] = ()
    suite_id: str | None = None
    target_id: str | None = None
    limit: int | None = None
    """Newest first."""


class Store(Protocol):
    """Keep runs."""

    @property
    def durable(self) -> bool:
        """False if nothing outlives this process, so that nothing can be resumed."""

    async def begin(self, head: PlanHead, *, fresh: bool) -> RunLog:
        """Start a run, or resume the newest unfinished run of the same plan that nobody owns.

        Raises:
            StoreError: the store cannot be opened or belongs to another program.
        """

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        """Stored runs, newest first. Blocks; call it from a worker thread."""

    async def close(self) -> None:
        """Flush and close."""


class Reporter(Protocol):
    """Turn a run into files, and such files back into a run where that is possible."""

    suffix: str
    """Ending of its file, `json` or `record.json`."""

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The report's files. Pure; the kernel writes them, one after another."""

    def read(self, path: Path) -> RunView | None:
        """Read a document that this reporter wrote; `None` if it is not one.

        Raises:
            SuiteError: it is one, but damaged.
        """


RunTrial = Callable[[Trial], Awaitable[TrialResult]]


class Executor(Protocol):
    """Decide where trials run. The kernel brings the one for this process."""

    def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> AsyncIterator[TrialResult]:
        """Run every trial once and yield results as they come. Cancelling stops all of them."""
