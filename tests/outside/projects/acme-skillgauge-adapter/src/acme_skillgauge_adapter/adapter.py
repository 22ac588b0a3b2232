"""Calls a target by not calling anything."""

from __future__ import annotations

from skillgauge.api import CallRequest, Execution, Identity, Problem, Session, Target, Workspace


class EchoSession:
    """A connection to nothing."""

    async def call(self, request: CallRequest) -> Execution:
        """Answer with the input."""
        return Execution(output=request.input, duration_s=0.0)

    async def close(self) -> None:
        """Nothing is held."""


class Echo:
    """An adapter without any needs."""

    async def check(self) -> tuple[Problem, ...]:
        """It works everywhere."""
        return ()

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        """Refuse an entrypoint, because it would not be used."""
        if target.entrypoint is None:
            return ()
        return (Problem("acme-echo.entrypoint", f"target {target.id!r} needs no entrypoint", target.origin),)

    def identity(self, target: Target) -> Identity:
        """The same for every target."""
        return Identity(name="acme-echo", version="1.2.0")

    async def open(self, target: Target, workspace: Workspace) -> Session:
        """Connect to nothing."""
        return EchoSession()
