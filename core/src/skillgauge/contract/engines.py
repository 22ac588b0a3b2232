"""The obligations of an engine, which drives an agent, and of a recorder of its sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from skillgauge_documents.frozen import EMPTY, Frozen, JsonObject

from ..errors import Problem
from ..types.arms import Install, SkillRef
from ..types.trajectory import TrajectoryEvent
from ..types.trial import Execution, Identity, Trial
from ..types.usage import Usage
from .requests import Request
from .sandboxes import ModelRoute, Workspace


class InstalledSkill(Frozen):
    """A skill as it lies in an agent's workspace."""

    ref: SkillRef
    path: str
    """Relative to the workspace root."""


class RunRequest(Request):
    """One agent session."""

    prompt: str
    model: str | None
    skills: tuple[InstalledSkill, ...] = ()
    installs: tuple[Install, ...] = ()
    """For the engine to place where its agent reads them, before the session begins."""
    agent: str | None = None
    """Name of the installed agent that leads the session; `None` leaves it to the engine's own."""
    cassette_key: str = ""
    """Under which the session may have been recorded; see `Trial.cassette_key`."""
    recipe: JsonObject = EMPTY
    """What that key is made of, part by part; see `Trial.recipe`."""
    continues: str | None = None
    """Id of the session in this workspace and home that goes on with this prompt; `None` begins one."""
    is_followed: bool = False
    """Whether a further turn of the same session comes after this one, so that it has to be kept."""


Emit = Callable[[TrajectoryEvent | Usage], None]
"""Called by an engine for each event as it happens, and with the usage of the whole session so far whenever more of it
is known; must not block. The usage counts if the session is cut off and `Engine.run` gives no `Execution`."""


class Engine(Protocol):
    """Drive an agent that may use the skills in its workspace."""

    async def check(self) -> tuple[Problem, ...]:
        """Report everything that keeps the engine from working here: program absent, key absent, version unknown."""

    def identity(self, model: str | None) -> Identity:
        """Return everything that sessions depend on."""

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """Model APIs that its sessions must reach; in `run`, `Workspace.routes` tells under which address."""

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """Run one session to its end, or a turn of one, and report facts; never judge them. Stops when cancelled.

        A turn is reported by itself: its events, its usage, its answer.
        """


class SessionCache(Protocol):
    """Answers sessions from earlier runs, as long as everything that entered them is the same."""

    async def find(self, trial: Trial, workspace: Workspace) -> Execution | None:
        """The session of an earlier run, its files laid into the workspace; `None`: there is none that is the same."""

    async def record(self, trial: Trial, execution: Execution, workspace: Workspace) -> None:
        """Keep a session for later runs, while its workspace is open; what cannot be kept is a miss later."""


class Recorder(Protocol):
    """Keeps what an agent did, to be played back."""

    async def find(self, trial: Trial, workspace: Workspace) -> Execution | None:
        """Return the recorded session of a trial, with its files laid into the workspace; `None` if none fits.

        Raises:
            OSError: its files cannot be laid out.
            ValueError: the recording is damaged.
        """

    async def record(self, trial: Trial, execution: Execution, workspace: Workspace) -> None:
        """Keep one session, while its workspace is open.

        Raises:
            OSError: it cannot be kept.
            ValueError: it holds what cannot be recorded.
        """


class FoundSession(Frozen):
    """A session that an agent's program wrote down by itself, whoever began it."""

    prompts: tuple[str, ...]
    """The words of its user, turn by turn; empty if the file does not tell them."""
    case_id: str | None = None
    """The case that it is a session of, if the file tells it."""
    engine: Identity
    """The program; settings that its file does not tell are unknown."""
    execution: Execution
    """Without files and exit code, which nobody kept. A session whose file ends before an answer has a failure."""
    started_at: float | None = None
    """Seconds since the epoch."""


class SessionReader(Protocol):
    """Reads sessions as an agent's program keeps them, one in each file; see `Provider.sessions`."""

    def claims(self, path: Path) -> bool:
        """Tell whether a file holds such a session, by its beginning; never whether it is whole.

        Raises:
            OSError: it cannot be read.
        """

    def read(self, path: Path) -> FoundSession:
        """Read a file that it claims, in memory that does not grow with what is not kept of a session.

        Raises:
            OSError: it cannot be read.
            ValueError: there is no session in it that could be told; the text says why.
        """
