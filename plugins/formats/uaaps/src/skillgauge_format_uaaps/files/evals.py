"""The keys of the files of evals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from .parts import CaseName, OpenPart, Part, SafePath, Text

TARGET = r"^(skill|hook|agent):\S.*$"


class SandboxConfig(Part):
    """The permissions of an agent."""

    network: bool = False
    """Whether what it runs may use the network."""
    writable_paths: tuple[SafePath, ...] | None = None
    """Folders that it may write; absent: everywhere in its workspace."""


class EvalConfig(Part):
    """`evals/eval-config.json`."""

    version: Literal[1]
    engine: Annotated[str, Field(min_length=1, examples=["claude-code", "codex"])]
    timeout: Annotated[float, Field(gt=0)] = 120
    """Seconds of one case."""
    judge: Text | None = None
    """Model that judges; absent: that of the engine."""
    sandbox: SandboxConfig = SandboxConfig()
    env: Mapping[str, str] = Field(default_factory=dict)


class EvalInput(Part):
    """The input of an agent."""

    prompt: Text
    files: tuple[SafePath, ...] = ()
    workspace_files: tuple[SafePath, ...] = ()


class EvalExpected(Part):
    """The expectations that need no judge."""

    contains: tuple[Text, ...] = ()
    not_contains: tuple[Text, ...] = ()
    files_created: tuple[SafePath, ...] = ()
    agent_blocked: bool | None = None


class EvalJudge(Part):
    """The claims that a judge decides."""

    criteria: Text


class EvalCase(OpenPart):
    """`evals/cases/*.yaml`."""

    name: CaseName
    description: str | None = None
    target: Annotated[str, Field(pattern=TARGET)] | None = None
    input: EvalInput
    expected: EvalExpected = EvalExpected()
    judge: EvalJudge
