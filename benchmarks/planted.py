"""A plugin file: suites whose true pass rates are known, and an agent that passes by them.

A `.planted` file names cells: how many suites, from which number on, of how many cases, run how often, and where their
pass rates come from.
What an agent draws depends on `PLANTED_DRAW`, too, so that the same suites can be evaluated again as if by chance.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Check,
    Claim,
    Comparison,
    Dumped,
    Emit,
    Engine,
    Execution,
    Identity,
    Loaded,
    LoadRequest,
    ModelRoute,
    Problem,
    Provider,
    RunRequest,
    Sandbox,
    SandboxReport,
    SandboxSpec,
    SkillRef,
    Suite,
    SuiteDefaults,
    SuiteFormat,
    Target,
    Tier,
    Traits,
    Workspace,
    hookimpl,
)
from skillgauge.api.report import Figure, GroupKey, SuiteSummary
from skillgauge_testkit import FakeWorkspace

GOOD, BAD = "GOOD", "BAD"
BASES = {
    "half": lambda draw: 0.5,
    "high": lambda draw: 0.8,
    "uniform": lambda draw: draw.random(),
    "extreme": lambda draw: draw.betavariate(0.8, 0.2),
}
"""How likely a case passes without the skill, drawn case by case."""


class Planted:
    """Suites by numbers."""

    def claim(self, path: Path) -> Claim | None:
        """By the suffix."""
        return Claim() if path.suffix == ".planted" else None

    def load(self, request: LoadRequest) -> Loaded:
        """As many suites as the cells of the file say."""
        file = Path(request.paths[0])
        cells = json.loads(file.read_text())
        return Loaded(tuple(suite for cell in cells for suite in _suites(cell, file)))

    def dump(self, suite: Suite) -> Dumped:
        """Nothing."""
        return Dumped(())

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """None."""
        return {}


def _suites(cell: Mapping[str, Any], file: Path) -> Iterator[Suite]:
    cases, runs, lift, base = (cell[name] for name in ("cases", "runs", "lift", "base"))
    skill = SkillRef(name="planted", root=str(file.parent / "planted"), digest="planted")
    first = cell.get("first", 0)
    for number in range(first, first + cell["suites"]):
        name = f"{cases}-{runs}-{lift}-{base}-{number}"
        draw = random.Random(name)
        yield Suite(
            id=name,
            format="planted",
            root=str(file),
            targets=(Target(id="planted"),),
            cases=tuple(_case(at, *_chances(BASES[base](draw), lift)) for at in range(cases)),
            arms=(Arm(name="with", kind=ArmKind.AGENT, skills=(skill,)), Arm(name="without", kind=ArmKind.AGENT)),
            comparisons=(Comparison(candidate="with", baseline="without"),),
            defaults=SuiteDefaults(runs=runs),
        )


def _chances(base: float, lift: float) -> tuple[float, float]:
    """Pass rates with and without the skill, whose mean difference over cases is the lift where there is room."""
    if lift == 0.0:
        return base, base
    without = base * (1.0 - lift)  # from 0 to 1 - lift, so that there is room
    return without + lift, without


def _case(at: int, with_skill: float, without: float) -> Case:
    checks = (Check(id="good", scorer="exact", options={"value": GOOD}),)
    return Case(id=f"{at}", prompt=f"{with_skill} {without}", checks=checks)


class Agent:
    """Passes as often as the prompt says, with the skill and without; every session draws for itself."""

    async def check(self) -> tuple[Problem, ...]:
        """Nothing is wrong."""
        return ()

    def identity(self, model: str | None) -> Identity:
        """It is always the same."""
        return Identity(name="planted", version="1", model=model)

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """It asks no model."""
        return ()

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """One draw."""
        with_skill, without = map(float, request.prompt.split())
        chance = with_skill if request.skills else without
        draw = random.Random(f"{request.trial_id}{os.environ.get('PLANTED_DRAW', '')}")
        return Execution(text=GOOD if draw.random() < chance else BAD)


class Nowhere:
    """Workspaces without files."""

    async def check(self) -> SandboxReport:
        """It confines nothing."""
        return SandboxReport(Tier.NONE)

    @asynccontextmanager
    async def open(self, spec: SandboxSpec) -> AsyncIterator[Workspace]:
        """A fake one."""
        yield FakeWorkspace(None)


@hookimpl
def skillgauge_formats() -> Iterator[Provider[SuiteFormat]]:
    """Announce the format."""
    yield Provider(name="planted", factory=Planted, summary="Known rates.")


@hookimpl
def skillgauge_engines() -> Iterator[Provider[Engine]]:
    """Announce the agent."""
    yield Provider(
        name="planted", factory=Agent, summary="Known rates.", traits=Traits(skill_folder="skills", paid=False)
    )


@hookimpl
def skillgauge_sandboxes() -> Iterator[Provider[Sandbox]]:
    """Announce the sandbox."""
    yield Provider(name="planted", factory=Nowhere, summary="No files.")
