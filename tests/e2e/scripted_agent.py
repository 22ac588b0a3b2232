"""A plugin file for tests: an agent whose sessions end as a file says.

`outcomes.json` in the current folder gives for each arm and case a letter a repeat, over and over: `p` answers rightly,
`f` wrongly, `e` breaks down. An arm followed by `@` and a model goes before the arm alone. The agent `firing` also
tells which skills fire: with `p` all of those that it has, else none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from skillgauge.api import (
    Emit,
    Engine,
    Execution,
    Fact,
    Failure,
    FailureClass,
    FiredSkill,
    Identity,
    ModelRoute,
    Problem,
    Provider,
    RunRequest,
    Traits,
    Trajectory,
    Usage,
    Workspace,
    hookimpl,
)


class Agent:
    """Ends every session as it is told."""

    async def check(self) -> tuple[Problem, ...]:
        """Nothing is wrong."""
        return ()

    def identity(self, model: str | None) -> Identity:
        """It is always the same."""
        return Identity(name="scripted", version="1", model=model)

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """It asks no model."""
        return ()

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """The letter of this repeat."""
        outcomes = json.loads(Path("outcomes.json").read_text())
        arm, repeat = str(request.recipe["arm"]), int(str(request.recipe["repeat"]))
        letters = outcomes.get(f"{arm}@{request.model}", outcomes[arm])[request.case_id]
        letter = letters[(repeat - 1) % len(letters)]
        with Path("sessions.txt").open("a") as file:
            file.write(f"{arm} {request.case_id} {repeat}\n")
        if letter == "e":
            return Execution(failure=Failure.of_agent(FailureClass.AUTH, "not logged in"))
        return Execution(text={"p": "GOOD", "f": "BAD"}[letter], usage=Usage(total_tokens=100, cost_usd=0.5))


class FiringAgent(Agent):
    """The same, and it tells which of its skills fire."""

    def identity(self, model: str | None) -> Identity:
        """It is always the same."""
        return Identity(name="firing", version="1", model=model)

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """The letter of this repeat, with the skills that fire."""
        execution = await super().run(request, workspace, emit)
        names = tuple(skill.ref.name for skill in request.skills)
        fired = tuple(FiredSkill(name=name, how="invoked") for name in names if execution.text == "GOOD")
        trajectory = Trajectory(skills_offered=names, skills_fired=fired)
        return execution.model_copy(update={"trajectory": trajectory})


@hookimpl
def skillgauge_engines() -> Iterator[Provider[Engine]]:
    """Announce the agents."""
    traits = Traits(skill_folder="skills", paid=True, tells=(Fact.USAGE, Fact.COST))
    yield Provider(name="scripted", factory=Agent, summary="Does as it is told.", traits=traits)
    traits = Traits(skill_folder="skills", paid=True, tells=(*traits.tells, Fact.OFFERED, Fact.FIRED))
    yield Provider(name="firing", factory=FiringAgent, summary="Tells which skills fire.", traits=traits)
