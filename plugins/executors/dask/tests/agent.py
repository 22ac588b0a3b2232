"""A plugin file: an agent with a process of its own, whose service counts the sessions that came to their end.

The variable `SERVICE`, or the file `service` in the current folder, holds HOST:PORT of the service, which each worker
may reach by another path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from skillgauge.api import (
    Command,
    Emit,
    Engine,
    EventKind,
    Execution,
    Fact,
    Identity,
    ModelRoute,
    Problem,
    Provider,
    RunRequest,
    Traits,
    TrajectoryEvent,
    Usage,
    Workspace,
    hookimpl,
)

_SESSION = r"""
ask() { exec 3<>"/dev/tcp/${1%:*}/${1#*:}"; printf 'GET /%s HTTP/1.0\r\n\r\n' "$2" >&3; sed '1,/^\r$/d' <&3; }
ask "$1" "begin/$2/$3/$$" > began
answer=$(ask "$1" "end/$2")
echo "$answer"
printf %s "$1" > where
"""
"""Starts faster than anything else that can ask a service, because tests run it thousands of times."""


class Agent:
    """Tells its service when it begins, and waits until that lets it end."""

    async def check(self) -> tuple[Problem, ...]:
        """Nothing is wrong."""
        return ()

    def identity(self, model: str | None) -> Identity:
        """It is always the same."""
        return Identity(name="counted", version="1", model=model)

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """Its service is no model's."""
        return ()

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """One session."""
        case = request.prompt.rpartition(" ")[2]
        emit(TrajectoryEvent(kind=EventKind.MESSAGE, text=f"I begin {case}"))
        worker = os.environ.get("WORKER", "none")
        service = os.environ.get("SERVICE") or Path("service").read_text()
        argv = ("bash", "-c", _SESSION, "session", service, case, worker)
        done = await (await workspace.start(Command(argv=argv))).wait()
        answer = done.stdout.decode()
        usage = Usage(total_tokens=100, cost_usd=0.5)
        emit(usage)
        return Execution(text=answer, usage=usage)


@hookimpl
def skillgauge_engines() -> Iterator[Provider[Engine]]:
    """Announce the agent."""
    traits = Traits(skill_folder="skills", paid=True, tells=(Fact.USAGE, Fact.COST))
    yield Provider(name="counted", factory=Agent, summary="Is counted by its service.", traits=traits)
