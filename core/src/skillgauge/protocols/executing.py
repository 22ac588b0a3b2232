"""Making things happen: direct calls of a target, and sessions of an agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..errors import Problem
from ..types.frozen import EMPTY, Frozen, Json, JsonObject
from ..types.suite import Limits, SkillRef, Target
from ..types.trial import Execution, Identity, TrajectoryEvent, Trial
from .workspaces import ModelRoute, Workspace


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
    cassette_key: str = ""
    """Under which the session may have been recorded; see `Trial.cassette_key`."""
    recipe: JsonObject = EMPTY
    """What that key is made of, part by part; see `Trial.recipe`."""


Emit = Callable[[TrajectoryEvent], None]
"""Called by an engine for each event as it happens; must not block."""


class Engine(Protocol):
    """Drive an agent that may use the skills in its workspace."""

    async def check(self) -> tuple[Problem, ...]:
        """What keeps it from working here: program absent, key absent, version unknown."""

    def identity(self, model: str | None) -> Identity:
        """What sessions depend on."""

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """Model APIs that its sessions must reach; in `run`, `Workspace.routes` tells under which address."""

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """Run one session to its end and report facts; never judge them. Stops when cancelled."""


class Recorder(Protocol):
    """Keeps what an agent did, to be played back."""

    async def record(self, trial: Trial, execution: Execution, workspace: Workspace) -> None:
        """Keep one session, while its workspace is open.

        Raises:
            OSError: it cannot be kept.
            ValueError: it holds what cannot be recorded.
        """
