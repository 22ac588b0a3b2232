"""A plugin file for tests: a tiny format of suites for agents, a scorer that runs a command, and an engine that costs.

`{"skill": "skills/pdf", "cases": [{"id": "a", "prompt": "...", "shell": "test -f out.txt"}]}` in `NAME.agents.json`
is a suite with the arms `with_skill` and `without_skill`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Check,
    Claim,
    Command,
    Comparison,
    Dumped,
    Emit,
    Engine,
    Execution,
    Fact,
    FileSpec,
    Frozen,
    Identity,
    Limits,
    Loaded,
    LoadRequest,
    ModelRoute,
    Problem,
    Provider,
    RunRequest,
    Score,
    ScoreContext,
    Scorer,
    SkillRef,
    SkillRole,
    Suite,
    SuiteFormat,
    Target,
    Traits,
    Trajectory,
    Usage,
    Workspace,
    hookimpl,
)
from skillgauge.api.report import Figure, GroupKey, SuiteSummary


class AgentSuites:
    """Reads `*.agents.json`."""

    def claim(self, path: Path) -> Claim | None:
        """By the ending."""
        return Claim(reason="it ends with .agents.json") if path.name.endswith(".agents.json") else None

    def load(self, request: LoadRequest) -> Loaded:
        """Every file is a suite."""
        return Loaded(tuple(_suite(Path(path)) for path in (*request.paths, *request.searched)))

    def dump(self, suite: Suite) -> Dumped:
        """Not needed."""
        raise NotImplementedError

    def figures(self, summary: SuiteSummary) -> dict[GroupKey, tuple[Figure, ...]]:
        """None of its own."""
        return {}


def _skill(root: Path, role: SkillRole) -> SkillRef:
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    content = hashlib.sha256(b"".join(path.name.encode() + path.read_bytes() for path in files)).hexdigest()
    return SkillRef(name=root.name, root=str(root), digest=content, role=role, leaves_out=("evals",))


def _suite(path: Path) -> Suite:
    document = json.loads(path.read_text())
    skill = _skill(path.parent / document["skill"], SkillRole.CANDIDATE)
    others = tuple(_skill(path.parent / one, SkillRole.DISTRACTOR) for one in document.get("distractors", ()))
    return Suite(
        id=path.name.removesuffix(".agents.json"),
        format="agent-suites",
        root=str(path),
        cases=tuple(_case(one) for one in document["cases"]),
        targets=(Target(id=skill.name, digest=""),),
        arms=(
            Arm(name="with_skill", kind=ArmKind.AGENT, skills=(skill, *others)),
            Arm(name="without_skill", kind=ArmKind.AGENT, skills=others),
        ),
        comparisons=(Comparison(candidate="with_skill", baseline="without_skill"),),
    )


def _case(one: dict[str, Any]) -> Case:
    checks = [Check(id="shell", scorer="shell", options={"command": one["shell"]})] if "shell" in one else []
    checks += [Check(id="says", scorer="says", options={"text": one["says"]})] if "says" in one else []
    return Case(
        id=one["id"],
        prompt=one["prompt"],
        files=tuple(FileSpec(path=name, text=text) for name, text in one.get("files", {}).items()),
        setup=tuple(one.get("setup", ())),
        checks=tuple(checks),
        limits=Limits(timeout_s=one.get("timeout_s")),
    )


class ShellOptions(Frozen):
    """Options of `shell`."""

    command: str


class Shell:
    """A shell command in the workspace ends with 0."""

    version = "1"

    def __init__(self, options: ShellOptions) -> None:
        self._command = options.command

    async def score(self, context: ScoreContext) -> Score:
        """Run it."""
        if context.workspace is None:
            return Score.ungraded("there is no workspace")
        command = Command(argv=("sh", "-c", self._command), timeout_s=30)
        finished = await (await context.workspace.start(command)).wait()
        said = (finished.stdout + finished.stderr).decode("utf-8", "replace")
        return Score.passed(said) if finished.exit_code == 0 else Score.failed(said or f"exit {finished.exit_code}")


class SaysOptions(Frozen):
    """Options of `says`."""

    text: str
    """In which `{workspace}` stands for the folder of the session."""


class Says:
    """The final answer holds a text."""

    version = "1"

    def __init__(self, options: SaysOptions) -> None:
        self._text = options.text

    async def score(self, context: ScoreContext) -> Score:
        """Look for it."""
        answer = context.execution.text or ""
        root = str(context.workspace.root) if context.workspace else ""
        wanted = self._text.replace("{workspace}", root)
        return Score.passed() if wanted in answer else Score.failed(f"{answer!r} lacks {wanted!r}")


class PaidOptions(Frozen):
    """Options of `paid`."""

    cost_usd: float = 1.0
    tells: tuple[str, ...] = ("usage", "cost")


class Paid:
    """Answers `done` for a fixed price."""

    def __init__(self, options: PaidOptions) -> None:
        self._cost = options.cost_usd

    async def check(self) -> tuple[Problem, ...]:
        """Fine."""
        return ()

    def identity(self, model: str | None) -> Identity:
        """By its model."""
        return Identity(name="paid", version="1", settings={"model": model}, model=model)

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """None."""
        return ()

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """Cost something."""
        usage = Usage(input_tokens=90, output_tokens=10, cost_usd=self._cost, cost_basis="reported")
        return Execution(text="done", trajectory=Trajectory(), usage=usage, duration_s=0.01)


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `agent-suites`."""
    yield Provider(name="agent-suites", factory=AgentSuites, summary="Agent suites for tests.")


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `shell` and `says`."""
    yield Provider(name="shell", options=ShellOptions, factory=Shell, summary="A command ends with 0.")
    yield Provider(name="says", options=SaysOptions, factory=Says, summary="The answer holds a text.")


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `paid`."""
    yield Provider(
        name="paid",
        options=PaidOptions,
        factory=Paid,
        summary="An engine that costs.",
        traits=Traits(only_by_name=True, paid=True, skill_folder=".agents/skills"),
        traits_with=lambda options: Traits(
            only_by_name=True,
            paid=True,
            skill_folder=".agents/skills",
            tells=frozenset(Fact(one) for one in options.tells),
        ),
    )
