"""Turning what happened into scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..errors import Problem
from ..types.frozen import Frozen
from ..types.result import Score
from ..types.suite import Arm, Case, Check, Target
from ..types.trial import Execution, FailureClass, Identity, Usage
from .workspaces import Workspace


class JudgeRequest(Frozen):
    """A question to a model that grades."""

    system: str
    user: str
    model: str | None = None
    temperature: float | None = None
    max_output_tokens: int = 1024


class JudgeReply(Frozen):
    """Its answer, or why there is none."""

    text: str | None
    model: str | None = None
    usage: Usage | None = None
    error: str | None = None
    failure_class: FailureClass | None = None
    """What kind of error it is, for the care that the service gets; `None` if the judge cannot tell."""
    retryable: bool = False
    retry_after_s: float | None = None
    cached: bool = False
    """Whether the same was asked before in this run, so that the answer used nothing now."""


class Judge(Protocol):
    """Model access for scorers."""

    async def check(self) -> tuple[Problem, ...]:
        """What keeps it from working here."""

    def identity(self, model: str | None) -> Identity:
        """What its answers depend on."""

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Ask once."""


@dataclass(frozen=True)
class ScoreContext:
    """All that a scorer may look at. New fields may be added; none will be taken away."""

    check: Check
    case: Case
    execution: Execution
    arm: Arm
    target: Target | None = None
    workspace: Workspace | None = None
    """Still open, with the graders' files in place; `None` when grading a stored execution again."""
    judge: Judge | None = None
    """Set if the run has one; of several the first."""
    panel: tuple[Judge, ...] = ()
    """Every judge of the run in the order in which they are named: none, one, or a larger odd number."""
    clean: Callable[[str], str] = str
    """Takes known secrets out of a text. What a judge is asked passes through it in any case; a scorer that cuts a text
    cleans it before, since half a secret is not found any more."""


class Scorer(Protocol):
    """Judge one check against one execution. Stateless; may run concurrently."""

    version: str
    """Bump it when the same input could score differently."""

    async def score(self, context: ScoreContext) -> Score:
        """The verdict on this check. An exception is recorded as ungraded, never as a failed check."""
