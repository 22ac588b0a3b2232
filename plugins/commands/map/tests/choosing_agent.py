"""A plugin file for tests: an agent that chooses the skill whose description has the most words of the prompt.

One session in ten takes any skill, and one in ten takes none, so that nothing is certain. A skill whose description
says "whatever the task" is loaded beside the chosen one.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random

from skillgauge.api import (
    Emit,
    Engine,
    Execution,
    Fact,
    FiredSkill,
    Frozen,
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

ALWAYS = "whatever the task"
PRICE = 0.01


class ChoosingOptions(Frozen):
    """Options of `choosing`."""

    noise: float = 0.1
    """Share of sessions that take any skill, and the share that take none."""
    waits_for: str = ""
    """Prompts with this text wait until a file `go-on` stands in this process's working folder."""
    fails: str = ""
    """Prompts with this text end in an error of the agent's program."""


@cache
def _description(file: str) -> str:
    return Path(file).read_text("utf-8").split("description: ", 1)[1].split("\n---", 1)[0]


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]{4,}", text.casefold()))


class Choosing:
    """The agent."""

    def __init__(self, options: ChoosingOptions) -> None:
        self._options = options

    async def check(self) -> tuple[Problem, ...]:
        """Fine."""
        return ()

    def identity(self, model: str | None) -> Identity:
        """By its options."""
        return Identity(name="choosing", version="1", settings={"noise": self._options.noise}, model=model)

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """None."""
        return ()

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """Choose skills, and read every description for it."""
        if self._options.fails and self._options.fails in request.prompt:
            raise RuntimeError("the agent's program crashed")
        while self._options.waits_for and self._options.waits_for in request.prompt and not Path("go-on").exists():
            await asyncio.sleep(0.05)
        names = tuple(sorted(skill.ref.name for skill in request.skills))
        descriptions = {one.ref.name: _description(f"{one.ref.root}/SKILL.md") for one in request.skills}
        fired = self._chosen(request, descriptions)
        tokens = 1000 + sum(len(text) // 4 for text in descriptions.values())
        return Execution(
            text="done",
            trajectory=Trajectory(
                skills_offered=names,
                skills_fired=tuple(FiredSkill(name=name, how="invoked") for name in fired),
                model_calls=2,
            ),
            usage=Usage(input_tokens=2 * tokens, output_tokens=10, cost_usd=PRICE, cost_basis="reported"),
            duration_s=0.01,
        )

    def _chosen(self, request: RunRequest, descriptions: dict[str, str]) -> list[str]:
        random = Random(request.trial_id)
        luck = random.random()
        always = [name for name, text in descriptions.items() if ALWAYS in text]
        if luck < self._options.noise:
            return always
        if luck < 2 * self._options.noise:
            return list(dict.fromkeys([random.choice(sorted(descriptions)), *always]))
        asked = _words(request.prompt)
        # Of equals it takes the one that promises more, as agents do with broad descriptions.
        best = max(descriptions, key=lambda name: (len(asked & _words(descriptions[name])), len(descriptions[name])))
        return list(dict.fromkeys([best, *always]))


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `choosing`, which tells which skills fire, and `silent`, which does not."""
    facts = frozenset({Fact.OFFERED, Fact.FIRED, Fact.USAGE, Fact.COST})
    for name, tells in (("choosing", facts), ("silent", frozenset[Fact]())):
        yield Provider(
            name=name,
            options=ChoosingOptions,
            factory=Choosing,
            summary="Chooses by words.",
            traits=Traits(only_by_name=True, skill_folder=".agents/skills", tells=tells, paid=True),
        )
