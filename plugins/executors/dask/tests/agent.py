"""A plugin file: an agent with a process of its own, whose service counts the sessions that came to their end.

The file `service` in the current folder holds the address of the service, which each worker may reach by another path.
"""

from __future__ import annotations

import os
import sys
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

_SESSION = """
import os, sys, urllib.request
ask = lambda path: urllib.request.urlopen(f"{sys.argv[1]}/{path}", timeout=600).read().decode()
ask(f"begin/{sys.argv[2]}/{sys.argv[3]}/{os.getpid()}")
print(ask(f"end/{sys.argv[2]}"))
"""


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
        argv = (sys.executable, "-c", _SESSION, Path("service").read_text(), case, worker)
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
