"""A plugin file for tests: an agent whose service counts the sessions that it has answered to their end.

`service.txt` in the current folder has the address of the service; `changes.sh` is what the agent does.
"""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from skillgauge.api import (
    Command,
    Emit,
    Engine,
    Execution,
    Fact,
    Identity,
    ModelRoute,
    Problem,
    Provider,
    RunRequest,
    Traits,
    Usage,
    Workspace,
    hookimpl,
)


class Agent:
    """Works in its workspace, and is told by its service that it is done."""

    async def check(self) -> tuple[Problem, ...]:
        """Nothing is wrong."""
        return ()

    def identity(self, model: str | None) -> Identity:
        """It is always the same."""
        return Identity(name="counted", version="1", model=model)

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """Its service is asked outside of the workspace."""
        return ()

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """One session; the answer of the service is its end."""
        script = Path("changes.sh").read_text().replace("CASE", request.prompt.rpartition(" ")[2])
        await (await workspace.start(Command(argv=("sh", "-ec", script)))).wait()
        url = f"{Path('service.txt').read_text()}/{request.prompt.rpartition(' ')[2]}"
        answer = await asyncio.to_thread(lambda: urllib.request.urlopen(url, timeout=30).read().decode())
        emit(Usage(total_tokens=100, cost_usd=0.5))
        return Execution(text=answer, usage=Usage(total_tokens=100, cost_usd=0.5))


@hookimpl
def skillgauge_engines() -> Iterator[Provider[Engine]]:
    """Announce the agent."""
    traits = Traits(skill_folder="skills", paid=True, tells=(Fact.USAGE, Fact.COST))
    yield Provider(name="counted", factory=Agent, summary="Is counted by its service.", traits=traits)
