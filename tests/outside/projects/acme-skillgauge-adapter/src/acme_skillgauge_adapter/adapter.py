"""Calls a target by not calling anything."""

from __future__ import annotations

from collections.abc import Mapping

from skillgauge.api import CallRequest, Execution, Identity, Problem, Session, Target, Workspace


class EchoSession:
    """A connection to nothing."""

    async def call(self, request: CallRequest) -> Execution:
        """Answer with the input's `value`, or else with the input itself."""
        given = request.input
        answer = given["value"] if isinstance(given, Mapping) and "value" in given else given
        return Execution(output=answer, duration_s=0.0)

    async def close(self) -> None:
        """Nothing is held."""


class Echo:
    """An adapter without any needs."""

    async def check(self) -> tuple[Problem, ...]:
        """It works everywhere."""
        return ()

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        """Refuse an entrypoint that is no address of ACME's."""
        if target.entrypoint is None or target.entrypoint.startswith("acme:"):
            return ()
        return (Problem("acme-echo.entrypoint", f"{target.entrypoint!r} is no address of ACME's", target.origin),)

    def identity(self, target: Target) -> Identity:
        """The same for every target."""
        return Identity(name="acme-echo", version="1.2.0")

    async def open(self, target: Target, workspace: Workspace) -> Session:
        """Connect to nothing."""
        return EchoSession()
