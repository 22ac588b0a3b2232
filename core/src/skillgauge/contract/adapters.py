"""The obligations of an adapter, which calls a target directly."""

from __future__ import annotations

from typing import Protocol

from skillgauge_documents.frozen import Json

from ..errors import Problem
from ..types.suite import Target
from ..types.trial import Execution, Identity
from .requests import Request
from .sandboxes import Workspace


class CallRequest(Request):
    """One direct call of a target."""

    input: Json
    repeat: int = 1


class Session(Protocol):
    """An open connection to a target; calls may overlap."""

    async def call(self, request: CallRequest) -> Execution:
        """Call the target once and report what happened, failures included. Stops when cancelled."""

    async def close(self) -> None:
        """Free what the session holds."""


class Adapter(Protocol):
    """Call a skill directly."""

    async def check(self) -> tuple[Problem, ...]:
        """Report everything that keeps the adapter from working here, before any trial."""

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        """Report the faults of a target's entrypoint or config; no I/O beyond looking at local files."""

    def identity(self, target: Target) -> Identity:
        """Return everything that calls depend on beyond the target's own digest."""

    async def open(self, target: Target, workspace: Workspace) -> Session:
        """Connect. A target that cannot be reached is found out by `call`, not here."""
